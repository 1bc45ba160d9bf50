package accounting

import (
	"encoding/binary"
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

	statement, digest string   // charges and replays
	print             uint32   // of the digest, for the index; not stored
	mechanisms        string   // charges
	roles             []string // with RolePrefix, as holders
	charges           []booked
	weighed           chan struct{} // closed when the charges say what they left; nil: they do

	charge uint64   // replays: the charge's record; 0: not known
	tables []string // replays

	outcomes []outcomeOf

	noteKind, text string // notes

	budget Budget // budgets; a removal and a reset name account, entity, principal and reason only
}

// outcomeOf is the outcome of a charge.
type outcomeOf struct {
	charge  uint64
	outcome Outcome
}

// booked is one charge as recorded: the loss in exact form, and what it left.
type booked struct {
	account string
	entity  bool
	table   string
	loss    tally
	events  []Event
	curve   *Curve // of the events; nil: not yet made
	left    []Left // of each budget that the charge was tested against
	tested  []tested
}

// fingerprint tells digests apart in the index, which checks them again in the record: FNV-1a, the same
// in every process, as the index is kept in a file. 0 stands for no digest.
func fingerprint[T string | []byte](digest T) uint32 {
	if len(digest) == 0 {
		return 0
	}
	h := uint32(2166136261)
	for i := range len(digest) {
		h = (h ^ uint32(digest[i])) * 16777619
	}
	return max(1, h)
}

// encode appends the payload of a record; see the package documentation for the layout.
func (r *record) encode(b []byte) []byte {
	b = append(b, byte(r.kind))
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
		b = binary.AppendUvarint(b, uint64(len(r.outcomes)))
		for _, o := range r.outcomes {
			b = append(binary.BigEndian.AppendUint64(b, o.charge), byte(o.outcome))
		}
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
			if r.budget.Order > 0 {
				b = appendFloat(b, r.budget.Order)
			}
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

// amount returns what is charged, with the curve of its events.
func (c *booked) amount() *amount {
	if c.curve == nil {
		v := CurveOf(c.events)
		c.curve = &v
	}
	return &amount{c.loss, *c.curve}
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
