package accounting

import (
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// errRecord says that a payload is none.
var errRecord = errors.New("record does not decode")

// decodeRecord is encode's inverse. It refuses what encode cannot have written.
func decodeRecord(b []byte) (*record, error) {
	r := &record{}
	if err := (&decoder{}).record(b, r); err != nil {
		return nil, err
	}
	return r, nil
}

// record takes the payload b apart into r, whose slices it uses again.
func (d *decoder) record(b []byte, r *record) error {
	d.b, d.bad = b, false
	*r = record{
		kind: recordKind(d.byte()), at: time.Unix(0, int64(d.uint64())).UTC(), day: day(d.uint32()), principal: d.name(),
		charges: r.charges[:0], tables: r.tables[:0], outcomes: r.outcomes[:0],
	}
	switch r.kind {
	case chargeRecord:
		r.statement = d.text()
		d.digest(r)
		r.mechanisms = d.text()
		d.rolesOf(r)
		for n := d.uvarint(); n > 0 && !d.bad; n-- {
			d.booked(r.another())
		}
	case replayRecord:
		r.statement = d.text()
		d.digest(r)
		r.charge, r.tables = d.uint64(), d.appendNames(r.tables)
	case outcomeRecord:
		for n := d.uvarint(); n > 0 && !d.bad; n-- {
			r.outcomes = append(r.outcomes, outcomeOf{d.uint64(), Outcome(d.byte())})
		}
	case noteRecord:
		r.noteKind, r.text = d.text(), d.text()
	case setBudgetRecord, removeBudgetRecord, resetBudgetRecord:
		d.budget(r)
	default:
		d.bad = true
	}
	if d.bad || len(d.b) != 0 || r.day < 0 {
		return errRecord
	}
	return nil
}

func (d *decoder) budget(r *record) {
	b := &r.budget
	*b = Budget{Account: d.name(), Entity: d.bool(), Principal: d.name(), Reason: d.string(), SetBy: r.principal, SetAt: r.at}
	if r.kind == setBudgetRecord {
		b.Epsilon, b.Rho, b.Delta, b.Window = Epsilon(d.float()), Rho(d.uint64()), Delta(d.float()), Window(d.string())
		d.bad = d.bad || b.Check() != nil
	}
}

// another adds a charge to r, in memory that was used before where there is some.
func (r *record) another() *booked {
	n := len(r.charges)
	if n == cap(r.charges) {
		r.charges = append(r.charges, booked{})
	}
	r.charges = r.charges[:n+1]
	c := &r.charges[n]
	c.events, c.left = c.events[:0], c.left[:0]
	return c
}

func (d *decoder) booked(c *booked) {
	c.account, c.entity, c.table = d.name(), d.bool(), d.name()
	c.loss = d.tally()
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		c.events = append(c.events, d.event())
	}
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		l := Left{d.text(), Epsilon(d.float()), Rho(d.uint64())}
		if !d.brief {
			c.left = append(c.left, l)
		}
	}
}

// decoder takes values off the front of b. After the first that is not there, bad is set and all
// further values are zero.
type decoder struct {
	b   []byte
	bad bool

	// For opening, which reads millions of records:
	brief bool // leaves out what only a reader of the record wants
	// With brief: the names and lists of roles met so far, so that each is made once. The key of a list is its encoding.
	known map[string]string
	roles map[string]*roleList
}

func (d *decoder) take(n uint64) []byte {
	if d.bad || n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return nil
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) byte() byte {
	if v := d.take(1); v != nil {
		return v[0]
	}
	return 0
}

func (d *decoder) bool() bool {
	v := d.byte()
	d.bad = d.bad || v > 1
	return v == 1
}

func (d *decoder) uint32() uint32 {
	if v := d.take(4); v != nil {
		return binary.BigEndian.Uint32(v)
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if v := d.take(8); v != nil {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

func (d *decoder) float() float64 { return math.Float64frombits(d.uint64()) }

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if d.bad || n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) string() string { return string(d.take(d.uvarint())) }

// text is a string for readers alone.
func (d *decoder) text() string {
	b := d.take(d.uvarint())
	if d.brief {
		return ""
	}
	return string(b)
}

// name is a string that many records have.
func (d *decoder) name() string {
	b := d.take(d.uvarint())
	if !d.brief {
		return string(b)
	}
	s, ok := d.known[string(b)]
	if !ok {
		s = string(b)
		d.known[s] = s
	}
	return s
}

// appendNames appends a list of names.
func (d *decoder) appendNames(list []string) []string {
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		list = append(list, d.name())
	}
	return list
}

// rolesOf takes the roles of a charge. A list that was met before is not made again.
func (d *decoder) rolesOf(r *record) {
	start := d.b
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		d.take(d.uvarint())
	}
	encoded := start[:len(start)-len(d.b)]
	list := d.roles[string(encoded)]
	if list == nil {
		again := decoder{b: encoded, bad: d.bad}
		list = &roleList{string(encoded), again.strings()}
		if d.brief && !d.bad {
			d.roles[list.key] = list
		}
	}
	r.rolesKey, r.roles = list.key, list.names
}

// roleList is a list of roles and its encoding.
type roleList struct {
	key   string
	names []string
}

func (d *decoder) strings() []string { return d.appendNames(nil) }

// digest is a text of which the fingerprint is always wanted.
func (d *decoder) digest(r *record) {
	b := d.take(d.uvarint())
	r.print = fingerprint(b)
	if !d.brief {
		r.digest = string(b)
	}
}

func (d *decoder) tally() tally {
	t := tally{
		rho:   Rho(d.uint64()),
		pure:  Pure(d.uint64()),
		event: slack{d.uint64(), d.uint64()},
		tv:    slack{d.uint64(), d.uint64()},
	}
	d.bad = d.bad || t.pure > 0 && (t.event != slack{} || t.tv != slack{})
	return t
}
