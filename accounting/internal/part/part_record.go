package part

import (
	"math"

	"scrim/accounting/internal/codec"
	"scrim/accounting/internal/index"
	"scrim/accounting/record"
)

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
