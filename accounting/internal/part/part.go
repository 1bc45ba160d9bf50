package part

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/budget"
	"scrim/accounting/internal/chain"
	"scrim/accounting/internal/index"
	"scrim/accounting/internal/state"
)

// Part is a stretch of the records, read and verified by itself: what its charges add up to, its
// changes of budgets, and its index. A ledger has millions of records, so a part never makes a
// record of what it reads often, and keeps each name once.
type Part struct {
	First, Last uint64 // the records; the first part begins with 1
	Final       bool   // no record may follow
	// the hash before the first record, where it is known to be true; nil: it is not
	Start  *chain.Sum
	Before *chain.Sum // the hash that the first record was verified with; nil: start
	Hash   chain.Sum  // of the last record
	Err    error

	At    uint64 // the record to read next
	chain *chain.Chainer

	names map[string]*party
	sums  sums
	Index index.Part
}

// party is a name, and who of this name pays, or is paid for.
type party struct {
	index.Name
	// on a table's account and on an entity of that name, by principal and list of roles
	payers [2]map[uint64]*payer
}

// party returns the party of a name, which is made once in a part.
func (p *Part) party(text []byte) *party {
	n := p.names[string(text)]
	if n == nil {
		n = &party{Name: index.NewName(string(text), uint32(len(p.names)))}
		p.names[string(text)] = n
	}
	return n
}

// New returns the part with those records. today is the day on which the ledger says that it
// ends.
func New(first, last uint64, today budget.Date, s *index.Scratch) *Part {
	return &Part{
		First: first, Last: last, At: first, names: map[string]*party{},
		sums: newSums(today), Index: index.NewPart(index.ColumnsBegin(first), s),
	}
}

// Read reads the part and verifies the hash of every record.
func (p *Part) Read(tx *bolt.Tx, k chain.Key, stop *atomic.Bool) error {
	if err := p.Begin(tx, k); err != nil {
		return err
	}
	if err := p.Some(tx, p.Last, stop); err != nil || stop.Load() {
		return err
	}
	p.End()
	return nil
}

// Begin finds the hash that the first record follows.
func (p *Part) Begin(tx *bolt.Tx, k chain.Key) error {
	p.chain = chain.New(k)
	if p.Start != nil {
		p.Hash = *p.Start
		return nil
	}
	return p.follow(tx.Bucket(chain.Records))
}

// Some reads on, up to record to. It ends early when stop is set.
func (p *Part) Some(tx *bolt.Tx, to uint64, stop *atomic.Bool) error {
	defer p.sums.forgetEvent() // its bytes are the transaction's
	c := tx.Bucket(chain.Records).Cursor()
	key, value := c.Seek(chain.RecordKey(p.At))
	for ; p.At <= to; p.At++ {
		id := p.At
		if len(key) != 8 || binary.BigEndian.Uint64(key) != id {
			return fmt.Errorf("record %d is missing", id)
		}
		payload, err := p.verify(p.chain, id, value)
		if err == nil {
			err = p.Take(id, payload)
		}
		if err != nil {
			return fmt.Errorf("record %d: %w", id, err)
		}
		if id%1024 == 0 && stop.Load() {
			return nil
		}
		key, value = c.Next()
	}
	if p.Final && p.At > p.Last && key != nil {
		return fmt.Errorf("the records go on after number %d, which is not where the head says", p.Last)
	}
	return nil
}

// End adds up what was read.
func (p *Part) End() {
	p.sums.fold()
	p.Index.Sort()
}

// follow takes the hash of the record before the part as it is stored; join compares it with the
// one that was verified.
func (p *Part) follow(records *bolt.Bucket) error {
	v := records.Get(chain.RecordKey(p.First - 1))
	if len(v) < len(p.Hash) {
		return fmt.Errorf("record %d is missing", p.First-1)
	}
	p.Hash = chain.Sum(v[:len(p.Hash)])
	before := p.Hash
	p.Before = &before
	return nil
}

// verify checks a stored record's hash and returns its payload.
func (p *Part) verify(c *chain.Chainer, id uint64, v []byte) ([]byte, error) {
	if len(v) < len(chain.Sum{}) {
		return nil, errors.New("cut short")
	}
	h, payload := chain.Sum(v[:len(chain.Sum{})]), v[len(chain.Sum{}):]
	if c.Next(&p.Hash, id, payload) != h {
		return nil, errors.New("its hash does not match")
	}
	p.Hash = h
	return payload, nil
}

// Join books the part, in the place of apply of each of its records.
func (p *Part) Join(s *state.State) error {
	if err := p.sums.join(s); err != nil {
		return err
	}
	s.LastID = p.Last
	return nil
}
