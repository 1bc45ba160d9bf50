package accounting

import (
	"encoding/binary"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/internal/codec"
	"scrim/accounting/privacy"
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

// record is one entry of the ledger's chain. Every change of budgets and spending is one; the rest
// of the file can be derived from them.
type record struct {
	kind      recordKind
	at        time.Time
	day       budget.Date
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

	budget budget.Budget // budgets; a removal and a reset name account, entity, principal and reason only
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
	loss    privacy.Tally
	events  []privacy.Event
	curve   *privacy.Curve // of the events; nil: not yet made
	left    []Left         // of each budget that the charge was tested against
	tested  []tested
}

// fingerprint tells digests apart in the index, which checks them again in the record: FNV-1a, the
// same in every process, as the index is kept in a file. 0 stands for no digest.
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
	b = codec.AppendText(b, r.principal)
	switch r.kind {
	case chargeRecord:
		b = codec.AppendText(codec.AppendText(codec.AppendText(b, r.statement), r.digest), r.mechanisms)
		b = codec.AppendTexts(b, r.roles)
		b = binary.AppendUvarint(b, uint64(len(r.charges)))
		for i := range r.charges {
			b = r.charges[i].append(b)
		}
	case replayRecord:
		b = codec.AppendText(codec.AppendText(b, r.statement), r.digest)
		b = binary.BigEndian.AppendUint64(b, r.charge)
		b = codec.AppendTexts(b, r.tables)
	case outcomeRecord:
		b = binary.AppendUvarint(b, uint64(len(r.outcomes)))
		for _, o := range r.outcomes {
			b = append(binary.BigEndian.AppendUint64(b, o.charge), byte(o.outcome))
		}
	case noteRecord:
		b = codec.AppendText(codec.AppendText(b, r.noteKind), r.text)
	case setBudgetRecord, removeBudgetRecord, resetBudgetRecord:
		b = codec.AppendBool(codec.AppendText(b, r.budget.Account), r.budget.Entity)
		b = codec.AppendText(codec.AppendText(b, r.budget.Principal), r.budget.Reason)
		if r.kind == setBudgetRecord {
			b = codec.AppendFloat(b, float64(r.budget.Epsilon))
			b = binary.BigEndian.AppendUint64(b, uint64(r.budget.Rho))
			b = codec.AppendFloat(b, float64(r.budget.Delta))
			b = codec.AppendText(b, string(r.budget.Window))
			if r.budget.Order > 0 {
				b = codec.AppendFloat(b, r.budget.Order)
			}
		}
	}
	return b
}

func (c *booked) append(b []byte) []byte {
	b = codec.AppendBool(codec.AppendText(b, c.account), c.entity)
	b = c.loss.Append(codec.AppendText(b, c.table))
	b = privacy.AppendEvents(b, c.events)
	b = binary.AppendUvarint(b, uint64(len(c.left)))
	for _, l := range c.left {
		b = codec.AppendFloat(codec.AppendText(b, l.Scope), float64(l.Epsilon))
		b = binary.BigEndian.AppendUint64(b, uint64(l.Rho))
	}
	return b
}

// amount returns what is charged, with the curve of its events.
func (c *booked) amount() *privacy.Amount {
	if c.curve == nil {
		v := privacy.CurveOf(c.events)
		c.curve = &v
	}
	return &privacy.Amount{Tally: c.loss, Curve: *c.curve}
}
