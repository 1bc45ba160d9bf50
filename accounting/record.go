package accounting

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// recordKind says what a record is about. The numbers are part of the file format.
type recordKind byte

const (
	chargeRecord       recordKind = 1
	outcomeRecord      recordKind = 2
	noteRecord         recordKind = 3
	setBudgetRecord    recordKind = 4
	removeBudgetRecord recordKind = 5
	resetBudgetRecord  recordKind = 6
	replayRecord       recordKind = 7
)

// record is one entry of the ledger's chain. Every change of budgets and spending is one; the rest of
// the file can be derived from them.
type record struct {
	kind      recordKind
	at        time.Time
	day       day
	principal string // who pays, who asked, or who set the budget

	statement, digest string // charges and replays
	mechanisms        string // charges
	roles             []string
	charges           []booked

	charge  uint64 // outcomes and replays: the charge's record; 0 for a replay whose charge is not known
	outcome Outcome

	tables []string // replays

	noteKind, text string // notes

	budget Budget // budgets; a removal and a reset name account, entity, principal and reason only
}

// booked is one charge as recorded: the loss in exact form, and what it left.
type booked struct {
	account string
	entity  bool
	table   string
	loss    tally
	events  []Event
	left    []Left // of each budget that the charge was tested against
}

// sum is a SHA-256 value.
type sum = [sha256.Size]byte

// chain returns the hash of a record: over the hash before it, its number and its payload.
func chain(previous sum, id uint64, payload []byte) sum {
	h := sha256.New()
	h.Write(previous[:])
	h.Write(binary.BigEndian.AppendUint64(nil, id))
	h.Write(payload)
	return sum(h.Sum(nil))
}

// encode returns the payload of a record; see the package documentation for the layout.
func (r *record) encode() []byte {
	b := []byte{byte(r.kind)}
	b = binary.BigEndian.AppendUint64(b, uint64(r.at.UnixNano()))
	b = binary.BigEndian.AppendUint32(b, uint32(r.day))
	b = appendString(b, r.principal)
	switch r.kind {
	case chargeRecord:
		b = appendString(appendString(appendString(b, r.statement), r.digest), r.mechanisms)
		b = appendStrings(b, r.roles)
		b = binary.AppendUvarint(b, uint64(len(r.charges)))
		for i := range r.charges {
			b = r.charges[i].append(b)
		}
	case replayRecord:
		b = appendString(appendString(b, r.statement), r.digest)
		b = binary.BigEndian.AppendUint64(b, r.charge)
		b = appendStrings(b, r.tables)
	case outcomeRecord:
		b = binary.BigEndian.AppendUint64(b, r.charge)
		b = append(b, byte(r.outcome))
	case noteRecord:
		b = appendString(appendString(b, r.noteKind), r.text)
	case setBudgetRecord, removeBudgetRecord, resetBudgetRecord:
		b = appendBool(appendString(b, r.budget.Account), r.budget.Entity)
		b = appendString(appendString(b, r.budget.Principal), r.budget.Reason)
		if r.kind == setBudgetRecord {
			b = appendFloat(b, float64(r.budget.Epsilon))
			b = binary.BigEndian.AppendUint64(b, uint64(r.budget.Rho))
			b = appendFloat(b, float64(r.budget.Delta))
			b = appendString(b, string(r.budget.Window))
		}
	}
	return b
}

func (c *booked) append(b []byte) []byte {
	b = appendBool(appendString(b, c.account), c.entity)
	b = c.loss.append(appendString(b, c.table))
	b = appendEvents(b, c.events)
	b = binary.AppendUvarint(b, uint64(len(c.left)))
	for _, l := range c.left {
		b = appendFloat(appendString(b, l.Scope), float64(l.Epsilon))
		b = binary.BigEndian.AppendUint64(b, uint64(l.Rho))
	}
	return b
}

// decodeRecord is encode's inverse. It refuses what encode cannot have written.
func decodeRecord(b []byte) (*record, error) {
	d := decoder{b: b}
	r := &record{kind: recordKind(d.byte())}
	r.at = time.Unix(0, int64(d.uint64())).UTC()
	r.day = day(d.uint32())
	r.principal = d.string()
	switch r.kind {
	case chargeRecord:
		r.statement, r.digest, r.mechanisms = d.string(), d.string(), d.string()
		r.roles = d.strings()
		n := d.uvarint()
		for i := uint64(0); i < n && !d.bad; i++ {
			r.charges = append(r.charges, d.booked())
		}
	case replayRecord:
		r.statement, r.digest, r.charge, r.tables = d.string(), d.string(), d.uint64(), d.strings()
	case outcomeRecord:
		r.charge = d.uint64()
		r.outcome = Outcome(d.byte())
	case noteRecord:
		r.noteKind = d.string()
		r.text = d.string()
	case setBudgetRecord, removeBudgetRecord, resetBudgetRecord:
		r.budget = Budget{Account: d.string(), Entity: d.bool(), Principal: d.string(), Reason: d.string()}
		r.budget.SetBy, r.budget.SetAt = r.principal, r.at
		if r.kind == setBudgetRecord {
			r.budget.Epsilon = Epsilon(d.float())
			r.budget.Rho = Rho(d.uint64())
			r.budget.Delta = Delta(d.float())
			r.budget.Window = Window(d.string())
			d.bad = d.bad || r.budget.Check() != nil
		}
	default:
		d.bad = true
	}
	if d.bad || len(d.b) != 0 || r.day < 0 {
		return nil, errors.New("record does not decode")
	}
	return r, nil
}

func (d *decoder) booked() booked {
	c := booked{account: d.string(), entity: d.bool(), table: d.string(), loss: d.tally(), events: d.events()}
	n := d.uvarint()
	for i := uint64(0); i < n && !d.bad; i++ {
		c.left = append(c.left, Left{d.string(), Epsilon(d.float()), Rho(d.uint64())})
	}
	return c
}

func (t tally) append(b []byte) []byte {
	for _, v := range [...]uint64{uint64(t.rho), uint64(t.pure), t.event.hi, t.event.lo, t.tv.hi, t.tv.lo} {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendStrings(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = appendString(b, s)
	}
	return b
}

func appendFloat(b []byte, f float64) []byte {
	return binary.BigEndian.AppendUint64(b, math.Float64bits(f))
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// decoder takes values off the front of b. After the first that is not there, bad is set and all
// further values are zero.
type decoder struct {
	b   []byte
	bad bool
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

func (d *decoder) strings() []string {
	n := d.uvarint()
	var list []string
	for i := uint64(0); i < n && !d.bad; i++ {
		list = append(list, d.string())
	}
	return list
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
