package accounting

import (
	"math"

	"scrim/accounting/internal/codec"
)

// take takes a record apart as readRecord does, but keeps only what opening wants of it.
func (p *part) take(id uint64, payload []byte) error {
	d := codec.NewDecoder(payload)
	h := readHead(d)
	if err := p.sums.enter(h.day); err != nil {
		return err
	}
	p.index.made(uint32(id), h.at, h.day)
	var err error
	switch h.kind {
	case chargeRecord:
		p.charge(d, uint32(id))
	case replayRecord:
		err = p.replay(d, id)
	case outcomeRecord:
		err = p.outcomes(d, id)
	default:
		return p.other(payload, uint32(id))
	}
	if err == nil && (d.Bad || d.Left()) {
		err = errRecord
	}
	return err
}

func (p *part) charge(d *codec.Decoder, id uint32) {
	who := p.name(d.Bytes())
	p.index.entry(chargeRecord, who, id)
	p.index.charge(id)
	d.Bytes() // the statement
	p.index.digest(d.Bytes(), id)
	d.Bytes() // the mechanisms
	roles := p.sums.rolesOf(d)
	charges := d.Uvarint()
	p.index.lines(int(min(charges, math.MaxInt32)), id)
	for n := charges; n > 0 && !d.Bad; n-- {
		account, entity, table := p.name(d.Bytes()), d.Bool(), d.Bytes()
		p.index.tag(asAccount, account, id)
		if len(table) > 0 {
			p.index.tag(asTable, p.name(table), id)
		}
		p.sums.pay(p.sums.payer(account, entity, who, roles), d)
		for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
			d.Bytes() // the scope
			d.Take(leftSize)
		}
	}
}

// leftSize is the length of an encoded Left after its scope.
const leftSize = 8 + 8

func (p *part) replay(d *codec.Decoder, id uint64) error {
	p.index.entry(replayRecord, p.name(d.Bytes()), uint32(id))
	d.Bytes() // the statement
	p.index.digest(d.Bytes(), uint32(id))
	of := record{kind: replayRecord, charge: d.Uint64()}
	tables := d.Uvarint()
	p.index.lines(int(min(tables, math.MaxInt32)), uint32(id))
	for n := tables; n > 0 && !d.Bad; n-- {
		p.index.tag(asAccount, p.name(d.Bytes()), uint32(id))
	}
	return of.follows(id)
}

func (p *part) outcomes(d *codec.Decoder, id uint64) error {
	d.Bytes() // nobody's name
	for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
		o := readOutcome(d)
		if err := o.follows(id); err != nil {
			return err
		}
		p.index.finish(o)
	}
	return nil
}

// other takes a note or a change of a budget, which are few.
func (p *part) other(payload []byte, id uint32) error {
	r, err := decodeRecord(payload)
	if err != nil {
		return err
	}
	p.index.entry(r.kind, p.name([]byte(r.principal)), id)
	if r.kind != noteRecord {
		p.index.tag(asAccount, p.name([]byte(r.budget.Account)), id)
		p.sums.change(r)
	}
	return nil
}
