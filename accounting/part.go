package accounting

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/budget"
)

// part is a stretch of the records, read and verified by itself: what its charges add up to, its
// changes of budgets, and its index. A ledger has millions of records, so a part never makes a
// record of what it reads often, and keeps each name once.
type part struct {
	first, last uint64 // the records; the first part begins with 1
	final       bool   // no record may follow
	start       *sum   // the hash before the first record, where it is known to be true; nil: it is not
	before      *sum   // the hash that the first record was verified with; nil: start
	hash        sum    // of the last record
	err         error

	at    uint64 // the record to read next
	chain *chainer

	names map[string]*name
	sums  sums
	index partIndex
}

// name is a name that records of a part have: of a principal, an account, a table, or several of
// these.
type name struct {
	text   string
	number uint32               // among the part's names
	sets   [nameRoles]uint32    // by role; 0: none yet
	payers [2]map[uint64]*payer // on a table's account and on an entity of that name, by principal and list of roles
}

// name returns the name, which is made once in a part.
func (p *part) name(text []byte) *name {
	n := p.names[string(text)]
	if n == nil {
		n = &name{text: string(text), number: uint32(len(p.names))}
		p.names[n.text] = n
	}
	return n
}

// newPart returns the part with those records. today is the day on which the ledger says that it
// ends.
func newPart(first, last uint64, today budget.Date, s *scratch) *part {
	return &part{
		first: first, last: last, at: first, names: map[string]*name{},
		sums: newSums(today), index: newPartIndex(columnsBegin(first), s),
	}
}

// read reads the part and verifies the hash of every record.
func (p *part) read(tx *bolt.Tx, k key, stop *atomic.Bool) error {
	if err := p.begin(tx, k); err != nil {
		return err
	}
	if err := p.some(tx, p.last, stop); err != nil || stop.Load() {
		return err
	}
	p.end()
	return nil
}

// begin finds the hash that the first record follows.
func (p *part) begin(tx *bolt.Tx, k key) error {
	p.chain = newChainer(k)
	if p.start != nil {
		p.hash = *p.start
		return nil
	}
	return p.follow(tx.Bucket(recordsBucket))
}

// some reads on, up to record to. It ends early when stop is set.
func (p *part) some(tx *bolt.Tx, to uint64, stop *atomic.Bool) error {
	defer p.sums.forgetEvent() // its bytes are the transaction's
	c := tx.Bucket(recordsBucket).Cursor()
	key, value := c.Seek(recordKey(p.at))
	for ; p.at <= to; p.at++ {
		id := p.at
		if len(key) != 8 || binary.BigEndian.Uint64(key) != id {
			return fmt.Errorf("record %d is missing", id)
		}
		payload, err := p.verify(p.chain, id, value)
		if err == nil {
			err = p.take(id, payload)
		}
		if err != nil {
			return fmt.Errorf("record %d: %w", id, err)
		}
		if id%1024 == 0 && stop.Load() {
			return nil
		}
		key, value = c.Next()
	}
	if p.final && p.at > p.last && key != nil {
		return fmt.Errorf("the records go on after number %d, which is not where the head says", p.last)
	}
	return nil
}

// end adds up what was read.
func (p *part) end() {
	p.sums.fold()
	p.index.sort()
}

// follow takes the hash of the record before the part as it is stored; join compares it with the
// one that was verified.
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

// verify checks a stored record's hash and returns its payload.
func (p *part) verify(chain *chainer, id uint64, v []byte) ([]byte, error) {
	if len(v) < len(sum{}) {
		return nil, errors.New("cut short")
	}
	h, payload := sum(v[:len(sum{})]), v[len(sum{}):]
	if chain.next(&p.hash, id, payload) != h {
		return nil, errors.New("its hash does not match")
	}
	p.hash = h
	return payload, nil
}

// join books the part, in the place of apply of each of its records.
func (p *part) join(s *state) error {
	if err := p.sums.join(s); err != nil {
		return err
	}
	s.lastID = p.last
	return nil
}

// recordKey is a record's key in the file.
func recordKey(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }
