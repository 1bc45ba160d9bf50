package accounting

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"
)

// part is a stretch of the records, read and verified by itself: its sums by day and holder, its changes of budgets between them, and
// its index.
type part struct {
	first, last uint64 // the records; the first part begins with 1
	final       bool   // no record may follow
	before      *sum   // the hash that the first record was verified with; nil: the first of all
	hash        sum    // of the last record
	steps       []step
	index       *index
	err         error

	decode decoder
	curves map[Event]*Curve

	lastEvent Event // whose curve is lastCurve
	lastCurve *Curve
}

// step is the sums of a stretch of one day, and then a change of a budget, or none.
type step struct {
	day    day
	paid   map[payer]*amount
	spent  map[holder]*amount // made of paid when the part is read
	change *record
}

// payer is who pays on an account, with the roles that it counts for, as a key of decoder.roles.
type payer struct {
	account          string
	entity           bool
	principal, roles string
}

// read reads the part and verifies the hash of every record.
func (p *part) read(tx *bolt.Tx, k key, stop *atomic.Bool) error {
	p.index, p.curves = newIndex(uint32(p.first)), map[Event]*Curve{}
	p.decode = decoder{brief: true, known: map[string]string{}, roles: map[string]*roleList{}}
	records := tx.Bucket(recordsBucket)
	chain, c := newChainer(k), records.Cursor()
	if p.first > 0 {
		if err := p.follow(records); err != nil {
			return err
		}
	} else {
		p.hash, p.first = chain.genesis(string(tx.Bucket(metaBucket).Get(directoryKey))), 1
	}
	r := &record{}
	key, value := c.First()
	if p.first > 1 {
		key, value = c.Seek(recordKey(p.first))
	}
	for id := p.first; id <= p.last; id++ {
		if len(key) != 8 || binary.BigEndian.Uint64(key) != id {
			return fmt.Errorf("record %d is missing", id)
		}
		if err := p.open(chain, r, id, value); err != nil {
			return err
		}
		if err := p.take(r, id); err != nil {
			return fmt.Errorf("record %d: %w", id, err)
		}
		if id%1024 == 0 && stop.Load() {
			return nil
		}
		key, value = c.Next()
	}
	if p.final && key != nil {
		return fmt.Errorf("the records go on after number %d, which is not where the head says", p.last)
	}
	p.fold()
	return nil
}

// follow takes the hash of the record before the part as it is stored; join compares it with the one that was verified.
func (p *part) follow(records *bolt.Bucket) error {
	v := records.Get(recordKey(p.first - 1))
	if len(v) < len(p.hash) {
		return fmt.Errorf("record %d is missing", p.first-1)
	}
	p.hash = sum(v[:len(p.hash)])
	before := p.hash
	p.before = &before
	return nil
}

// open checks a stored record's hash and takes it apart.
func (p *part) open(chain *chainer, r *record, id uint64, v []byte) error {
	if len(v) < len(sum{}) {
		return fmt.Errorf("record %d is cut short", id)
	}
	h, payload := sum(v[:len(sum{})]), v[len(sum{}):]
	if chain.next(&p.hash, id, payload) != h {
		return fmt.Errorf("record %d does not match its hash", id)
	}
	p.hash = h
	if err := p.decode.record(payload, r); err != nil {
		return fmt.Errorf("record %d: %w", id, err)
	}
	return nil
}

// take adds a record to the part's sums and index.
func (p *part) take(r *record, id uint64) error {
	if err := r.follows(id); err != nil {
		return err
	}
	s, err := p.step(r.day)
	if err != nil {
		return err
	}
	switch r.kind {
	case chargeRecord:
		for i := range r.charges {
			c := &r.charges[i]
			by := payer{c.account, c.entity, r.principal, r.rolesKey}
			sum := s.paid[by]
			if sum == nil {
				sum = &amount{}
				s.paid[by] = sum
			}
			sum.plus(&amount{c.loss, *p.curve(c.events)})
		}
	case setBudgetRecord, removeBudgetRecord, resetBudgetRecord:
		change := *r
		change.roles, change.charges, change.tables, change.outcomes = nil, nil, nil, nil
		s.change = &change
	}
	p.index.add(r)
	return nil
}

// step returns the step that a record of a day belongs to.
func (p *part) step(d day) (*step, error) {
	if n := len(p.steps); n > 0 {
		s := &p.steps[n-1]
		if s.day > d {
			return nil, errDayBack
		}
		if s.day == d && s.change == nil {
			return s, nil
		}
	}
	p.steps = append(p.steps, step{day: d, paid: map[payer]*amount{}})
	return &p.steps[len(p.steps)-1], nil
}

// maxCurves bounds the curves that a part remembers.
const maxCurves = 1 << 12

// curve is CurveOf, which is slow, for events of which many are alike.
func (p *part) curve(events []Event) *Curve {
	if len(events) == 1 {
		return p.one(&events[0])
	}
	var sum Curve
	for i := range events {
		sum = sum.Add(*p.one(&events[i]))
	}
	return &sum
}

func (p *part) one(e *Event) *Curve {
	if *e == p.lastEvent {
		return p.lastCurve
	}
	c := p.curves[*e]
	if c == nil {
		v := e.Curve()
		c = &v
		if len(p.curves) < maxCurves {
			p.curves[*e] = c
		}
	}
	p.lastEvent, p.lastCurve = *e, c
	return c
}

// fold adds up the sums of each step by holder.
func (p *part) fold() {
	for i := range p.steps {
		s := &p.steps[i]
		s.spent = make(map[holder]*amount, 2*len(s.paid))
		for by, a := range s.paid {
			s.add(holder{by.account, by.entity, All}, a)
			s.add(holder{by.account, by.entity, by.principal}, a)
			for _, role := range p.decode.roles[by.roles].names {
				s.add(holder{by.account, by.entity, role}, a)
			}
		}
		s.paid = nil
	}
}

func (s *step) add(h holder, a *amount) {
	if sum := s.spent[h]; sum != nil {
		sum.plus(a)
		return
	}
	sum := *a
	s.spent[h] = &sum
}

// join books the part.
func (p *part) join(s *state) error {
	for i := range p.steps {
		step := &p.steps[i]
		if err := s.advance(step.day); err != nil {
			return err
		}
		for h, a := range step.spent {
			s.spend(h, a)
		}
		if step.change != nil {
			s.change(step.change)
		}
	}
	s.lastID = p.last
	return nil
}

// recordKey is a record's key in the file.
func recordKey(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }
