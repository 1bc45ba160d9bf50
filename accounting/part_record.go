package accounting

import "math"

// take takes a record apart as decoder.record does, but keeps only what opening wants of it.
func (p *part) take(id uint64, payload []byte) error {
	d := decoder{b: payload}
	h := d.head()
	if err := p.sums.enter(h.day); err != nil {
		return err
	}
	p.index.made(uint32(id), h.at, h.day)
	var err error
	switch h.kind {
	case chargeRecord:
		p.charge(&d, uint32(id))
	case replayRecord:
		err = p.replay(&d, id)
	case outcomeRecord:
		err = p.outcomes(&d, id)
	default:
		return p.other(payload, uint32(id))
	}
	if err == nil && (d.bad || d.left()) {
		err = errRecord
	}
	return err
}

func (p *part) charge(d *decoder, id uint32) {
	who := p.name(d.bytes())
	p.index.entry(chargeRecord, who, id)
	p.index.charge(id)
	d.bytes() // the statement
	p.index.digest(d.bytes(), id)
	d.bytes() // the mechanisms
	roles := p.sums.rolesOf(d)
	charges := d.uvarint()
	p.index.lines(int(min(charges, math.MaxInt32)), id)
	for n := charges; n > 0 && !d.bad; n-- {
		account, entity, table := p.name(d.bytes()), d.bool(), d.bytes()
		p.index.tag(asAccount, account, id)
		if len(table) > 0 {
			p.index.tag(asTable, p.name(table), id)
		}
		p.sums.pay(p.sums.payer(account, entity, who, roles), d)
		for n := d.uvarint(); n > 0 && !d.bad; n-- {
			d.bytes() // the scope
			d.take(leftSize)
		}
	}
}

// leftSize is the length of an encoded Left after its scope.
const leftSize = 8 + 8

func (p *part) replay(d *decoder, id uint64) error {
	p.index.entry(replayRecord, p.name(d.bytes()), uint32(id))
	d.bytes() // the statement
	p.index.digest(d.bytes(), uint32(id))
	of := record{kind: replayRecord, charge: d.uint64()}
	tables := d.uvarint()
	p.index.lines(int(min(tables, math.MaxInt32)), uint32(id))
	for n := tables; n > 0 && !d.bad; n-- {
		p.index.tag(asAccount, p.name(d.bytes()), uint32(id))
	}
	return of.follows(id)
}

func (p *part) outcomes(d *decoder, id uint64) error {
	d.bytes() // nobody's name
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		o := d.outcome()
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
