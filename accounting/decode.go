package accounting

import (
	"errors"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/internal/codec"
	"scrim/accounting/privacy"
)

// errRecord says that a payload is none.
var errRecord = errors.New("record does not decode")

// decodeRecord is encode's inverse. It refuses what encode cannot have written.
func decodeRecord(b []byte) (*record, error) {
	d, r := codec.NewDecoder(b), &record{}
	readRecord(d, r)
	if d.Bad || d.Left() || r.day < 0 {
		return nil, errRecord
	}
	return r, nil
}

func readRecord(d *codec.Decoder, r *record) {
	h := readHead(d)
	*r = record{kind: h.kind, at: time.Unix(0, h.at).UTC(), day: h.day, principal: d.Text()}
	switch r.kind {
	case chargeRecord:
		r.statement = d.Text()
		readDigest(d, r)
		r.mechanisms, r.roles = d.Text(), d.Texts()
		for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
			r.charges = append(r.charges, readBooked(d))
		}
	case replayRecord:
		r.statement = d.Text()
		readDigest(d, r)
		r.charge, r.tables = d.Uint64(), d.Texts()
	case outcomeRecord:
		for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
			r.outcomes = append(r.outcomes, readOutcome(d))
		}
	case noteRecord:
		r.noteKind, r.text = d.Text(), d.Text()
	case setBudgetRecord, removeBudgetRecord, resetBudgetRecord:
		readBudget(d, r)
	default:
		d.Bad = true
	}
}

// recordHead is what every payload begins with.
type recordHead struct {
	kind recordKind
	at   int64 // in nanoseconds
	day  budget.Date
}

func readHead(d *codec.Decoder) recordHead {
	return recordHead{recordKind(d.Byte()), int64(d.Uint64()), budget.Date(d.Uint32())}
}

func readOutcome(d *codec.Decoder) outcomeOf { return outcomeOf{d.Uint64(), Outcome(d.Byte())} }

func readBudget(d *codec.Decoder, r *record) {
	b := &r.budget
	*b = budget.Budget{Account: d.Text(), Entity: d.Bool(), Principal: d.Text(), Reason: d.Text(), SetBy: r.principal, SetAt: r.at}
	if r.kind == setBudgetRecord {
		b.Epsilon, b.Rho, b.Delta, b.Window = privacy.Epsilon(d.Float()), privacy.Rho(d.Uint64()), privacy.Delta(d.Float()), budget.Window(d.Text())
		if d.Left() { // a budget that was made before orders were chosen has none
			b.Order = d.Float()
			d.Bad = d.Bad || !b.HasOrder()
		}
		d.Bad = d.Bad || b.Check() != nil
	}
}

func readBooked(d *codec.Decoder) booked {
	c := booked{account: d.Text(), entity: d.Bool(), table: d.Text(), loss: privacy.ReadTally(d), events: privacy.ReadEvents(d)}
	for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
		c.left = append(c.left, Left{d.Text(), privacy.Epsilon(d.Float()), privacy.Rho(d.Uint64())})
	}
	return c
}

func readDigest(d *codec.Decoder, r *record) {
	b := d.Bytes()
	r.digest, r.print = string(b), fingerprint(b)
}
