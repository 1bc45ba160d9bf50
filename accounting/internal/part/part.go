// Package part reads and verifies a stretch of the records by itself: what its charges add up to,
// its changes of budgets, and its index. Parts are read side by side and joined in their order.
package part

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/budget"
	"scrim/accounting/internal/chain"
	"scrim/accounting/internal/codec"
	"scrim/accounting/internal/index"
	"scrim/accounting/internal/state"
	"scrim/accounting/record"
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

// Take takes a record apart as readRecord does, but keeps only what opening wants of it.
func (p *Part) Take(id uint64, payload []byte) error {
	d := codec.NewDecoder(payload)
	h := record.ReadHead(d)
	if err := p.sums.enter(h.Day); err != nil {
		return err
	}
	p.Index.Made(uint32(id), h.At, h.Day)
	var err error
	switch h.Kind {
	case record.Charge:
		p.charge(d, uint32(id))
	case record.Replay:
		err = p.replay(d, id)
	case record.Outcomes:
		err = p.outcomes(d, id)
	case record.Remark:
		err = p.remark(d, id)
	default:
		return p.other(payload, uint32(id))
	}
	if err == nil && (d.Bad || d.Left()) {
		err = record.ErrRecord
	}
	return err
}

func (p *Part) charge(d *codec.Decoder, id uint32) {
	who := p.party(d.Bytes())
	p.Index.Entry(record.Charge, &who.Name, id)
	p.Index.Charge(id)
	d.Bytes() // the statement
	p.Index.Digest(d.Bytes(), id)
	d.Bytes() // the mechanisms
	roles := p.sums.rolesOf(d)
	charges := d.Uvarint()
	p.Index.Lines(int(min(charges, math.MaxInt32)), id)
	for n := charges; n > 0 && !d.Bad; n-- {
		account := p.party(d.Bytes())
		entity, on, since := record.ReadKind(d)
		table := d.Bytes()
		p.Index.Tag(index.AsAccount, &account.Name, id)
		if len(table) > 0 {
			p.Index.Tag(index.AsTable, &p.party(table).Name, id)
		}
		p.sums.pay(p.sums.payer(account, entity, who, roles), on, since, d)
		for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
			d.Bytes() // the scope
			d.Take(leftSize)
		}
	}
}

// leftSize is the length of an encoded Left after its scope.
const leftSize = 8 + 8

func (p *Part) replay(d *codec.Decoder, id uint64) error {
	p.Index.Entry(record.Replay, &p.party(d.Bytes()).Name, uint32(id))
	d.Bytes() // the statement
	p.Index.Digest(d.Bytes(), uint32(id))
	of := record.Record{Kind: record.Replay, Charge: d.Uint64()}
	tables := d.Uvarint()
	p.Index.Lines(int(min(tables, math.MaxInt32)), uint32(id))
	for n := tables; n > 0 && !d.Bad; n-- {
		p.Index.Tag(index.AsAccount, &p.party(d.Bytes()).Name, uint32(id))
	}
	return of.Follows(id)
}

func (p *Part) outcomes(d *codec.Decoder, id uint64) error {
	d.Bytes() // nobody's name
	for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
		o := record.ReadOutcome(d)
		if err := o.Follows(id); err != nil {
			return err
		}
		p.Index.Finish(o)
	}
	return nil
}

func (p *Part) remark(d *codec.Decoder, id uint64) error {
	d.Bytes() // nobody's name
	of := record.Record{Kind: record.Remark, Charge: d.Uint64()}
	d.Bytes() // the text
	p.Index.Digest([]byte(record.RemarkDigest(of.Charge)), uint32(id))
	return of.Follows(id)
}

// other takes a note or a change of a budget, which are few.
func (p *Part) other(payload []byte, id uint32) error {
	r, err := record.Decode(payload)
	if err != nil {
		return err
	}
	p.Index.Entry(r.Kind, &p.party([]byte(r.Principal)).Name, id)
	if r.Kind != record.Note {
		p.Index.Tag(index.AsAccount, &p.party([]byte(r.Budget.Account)).Name, id)
		p.sums.change(r)
	}
	return nil
}
