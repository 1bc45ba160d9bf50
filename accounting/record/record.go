// Package record is one record of the ledger's chain: its kinds, what each holds, and its bytes,
// which package accounting documents.
package record

import (
	"encoding/binary"
	"errors"
	"strconv"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/days"
	"scrim/accounting/internal/codec"
	"scrim/accounting/privacy"
	"scrim/internal/lists"
)

// recordKind says what a record is about. The numbers are part of the file format.
type Kind byte

const (
	Charge       Kind = 1
	Outcomes     Kind = 2
	Note         Kind = 3
	SetBudget    Kind = 4
	RemoveBudget Kind = 5
	ResetBudget  Kind = 6
	Replay       Kind = 7
	Remark       Kind = 8
)

// Record is one entry of the ledger's chain. Every change of budgets and spending is one; the rest
// of the file can be derived from them.
type Record struct {
	Kind      Kind
	At        time.Time
	Day       budget.Date
	Principal string // who pays, who asked, or who set the budget

	// charges and replays; that of a remark is RemarkDigest, and not stored
	Statement, Digest string
	Print             uint32   // of the digest, for the index; not stored
	Mechanisms        string   // charges
	Roles             []string // with RolePrefix, as holders
	Charges           []Booked
	Weighed           chan struct{} // closed when the charges say what they left; nil: they do

	Charge uint64   // replays and remarks: the charge's record; 0, of a replay: not known
	Tables []string // replays

	Outcomes []OutcomeOf

	NoteKind, Text string // notes; a remark has a text

	// budgets; a removal and a reset name account, entity, principal and reason only
	Budget budget.Budget
}

// OutcomeOf is the outcome of a charge.
type OutcomeOf struct {
	Charge  uint64
	Outcome Outcome
}

// Booked is one charge as recorded: the loss in exact form, and what it left.
type Booked struct {
	Account string
	Entity  bool
	Blocks  *days.Span // that it is for; nil: every block
	// Since is the day of the charge that this one renews: it counts in the windows that began
	// after that day, as the other counts in those that hold it. 0: it counts in all.
	Since  budget.Date
	Table  string
	Loss   privacy.Tally
	Events []privacy.Event
	curve  *privacy.Curve // of the events; nil: not yet made
	Left   []Left         // of each budget that the charge was tested against
	Tested []Tested
}

// Fingerprint tells digests apart in the index, which checks them again in the record: FNV-1a, the
// same in every process, as the index is kept in a file. 0 stands for no digest.
func Fingerprint[T string | []byte](digest T) uint32 {
	if len(digest) == 0 {
		return 0
	}
	h := uint32(2166136261)
	for i := range len(digest) {
		h = (h ^ uint32(digest[i])) * 16777619
	}
	return max(1, h)
}

// Encode appends the payload of a record; see the package documentation for the layout.
func (r *Record) Encode(b []byte) []byte {
	b = append(b, byte(r.Kind))
	b = binary.BigEndian.AppendUint64(b, uint64(r.At.UnixNano()))
	b = binary.BigEndian.AppendUint32(b, uint32(r.Day))
	b = codec.AppendText(b, r.Principal)
	switch r.Kind {
	case Charge:
		b = codec.AppendText(codec.AppendText(codec.AppendText(b, r.Statement), r.Digest), r.Mechanisms)
		b = codec.AppendTexts(b, r.Roles)
		b = binary.AppendUvarint(b, uint64(len(r.Charges)))
		for i := range r.Charges {
			b = r.Charges[i].append(b)
		}
	case Replay:
		b = codec.AppendText(codec.AppendText(b, r.Statement), r.Digest)
		b = binary.BigEndian.AppendUint64(b, r.Charge)
		b = codec.AppendTexts(b, r.Tables)
	case Outcomes:
		b = binary.AppendUvarint(b, uint64(len(r.Outcomes)))
		for _, o := range r.Outcomes {
			b = append(binary.BigEndian.AppendUint64(b, o.Charge), byte(o.Outcome))
		}
	case Note:
		b = codec.AppendText(codec.AppendText(b, r.NoteKind), r.Text)
	case Remark:
		b = codec.AppendText(binary.BigEndian.AppendUint64(b, r.Charge), r.Text)
	case SetBudget, RemoveBudget, ResetBudget:
		b = codec.AppendBool(codec.AppendText(b, r.Budget.Account), r.Budget.Entity)
		b = codec.AppendText(codec.AppendText(b, r.Budget.Principal), r.Budget.Reason)
		if r.Kind == SetBudget {
			b = codec.AppendFloat(b, float64(r.Budget.Epsilon))
			b = binary.BigEndian.AppendUint64(b, uint64(r.Budget.Rho))
			b = codec.AppendFloat(b, float64(r.Budget.Delta))
			b = codec.AppendText(b, string(r.Budget.Window))
			if r.Budget.Order > 0 {
				b = codec.AppendFloat(b, r.Budget.Order)
			}
			if r.Budget.Gaussian {
				b = codec.AppendBool(b, true)
			}
		}
	}
	return b
}

func (c *Booked) append(b []byte) []byte {
	b = c.appendKind(codec.AppendText(b, c.Account))
	b = c.Loss.Append(codec.AppendText(b, c.Table))
	b = privacy.AppendEvents(b, c.Events)
	b = binary.AppendUvarint(b, uint64(len(c.Left)))
	for _, l := range c.Left {
		b = codec.AppendFloat(codec.AppendText(b, l.Scope), float64(l.Epsilon))
		b = binary.BigEndian.AppendUint64(b, uint64(l.Rho))
	}
	return b
}

// Amount returns what is charged, with the curve of its events.
func (c *Booked) Amount() *privacy.Amount {
	if c.curve == nil {
		v := privacy.CurveOf(c.Events)
		c.curve = &v
	}
	return &privacy.Amount{Tally: c.Loss, Curve: *c.curve}
}

// Follows checks what a record with that number says of others.
func (r *Record) Follows(id uint64) error {
	if err := lists.Each(r.Outcomes, func(o OutcomeOf) error { return o.Follows(id) }); err != nil {
		return err
	}
	if r.Kind == Replay && r.Charge >= id {
		return errors.New("replay of a charge that does not exist")
	}
	if r.Kind == Remark && (r.Charge == 0 || r.Charge >= id) {
		return errors.New("remark on a charge that does not exist")
	}
	return nil
}

// Follows checks an outcome in a record with that number.
func (o OutcomeOf) Follows(id uint64) error {
	if o.Charge == 0 || o.Charge >= id {
		return errors.New("outcome of a charge that does not exist")
	}
	return nil
}

// Payers calls f with everyone for whom a charge counts.
func (r *Record) Payers(f func(who string)) {
	f(budget.All)
	f(r.Principal)
	for _, role := range r.Roles {
		f(role)
	}
}

// Lines is how many lines an entry has: one for each account that it is about, and one where it is
// about none by its kind.
func (r *Record) Lines() int {
	switch r.Kind {
	case Charge:
		return len(r.Charges)
	case Replay:
		return len(r.Tables)
	}
	return 1
}

// Tested is a budget that a charge fits, with all that is then spent, by block.
type Tested struct {
	Budget budget.Budget
	After  []privacy.Amount
}

// RemarkDigest is what the index finds the remark on a charge by, in the place of a statement's
// digest.
func RemarkDigest(charge uint64) string { return "remark on " + strconv.FormatUint(charge, 10) }

// Outcome is how the execution of a charged statement ended. It never changes what is spent.
type Outcome uint8

// The outcomes. Unfinished stands for a charge whose end was not recorded: it is running, or the
// process died.
const (
	Unfinished Outcome = iota
	Answered
	Failed
	TimedOut
	Cancelled
)

// String returns the word that the ledger shows.
func (o Outcome) String() string {
	switch o {
	case Unfinished:
		return "unfinished"
	case Answered:
		return "answered"
	case Failed:
		return "failed"
	case TimedOut:
		return "timeout"
	case Cancelled:
		return "cancelled"
	}
	return "unknown"
}

// Own is the Scope of a Left for the principal's own budget, or the default one where there is
// none.
const Own = "own"

// Left is what a charge left of one budget.
type Left struct {
	Scope   string          // All, RolePrefix and a role's name, or Own
	Epsilon privacy.Epsilon // in ε at the budget's δ; NaN for a budget in ρ
	Rho     privacy.Rho     // of a budget in ρ
}

// ErrRecord says that a payload is none.
var ErrRecord = errors.New("record does not decode")

// Decode is Encode's inverse. It refuses what encode cannot have written.
func Decode(b []byte) (*Record, error) {
	d, r := codec.NewDecoder(b), &Record{}
	readRecord(d, r)
	if d.Bad || d.Left() || r.Day < 0 {
		return nil, ErrRecord
	}
	return r, nil
}

func readRecord(d *codec.Decoder, r *Record) {
	h := ReadHead(d)
	*r = Record{Kind: h.Kind, At: time.Unix(0, h.At).UTC(), Day: h.Day, Principal: d.Text()}
	switch r.Kind {
	case Charge:
		r.Statement = d.Text()
		readDigest(d, r)
		r.Mechanisms, r.Roles = d.Text(), d.Texts()
		for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
			r.Charges = append(r.Charges, readBooked(d))
		}
	case Replay:
		r.Statement = d.Text()
		readDigest(d, r)
		r.Charge, r.Tables = d.Uint64(), d.Texts()
	case Outcomes:
		for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
			r.Outcomes = append(r.Outcomes, ReadOutcome(d))
		}
	case Remark:
		r.Charge, r.Text = d.Uint64(), d.Text()
		r.Digest = RemarkDigest(r.Charge)
		r.Print = Fingerprint(r.Digest)
	case Note:
		r.NoteKind, r.Text = d.Text(), d.Text()
	case SetBudget, RemoveBudget, ResetBudget:
		readBudget(d, r)
	default:
		d.Bad = true
	}
}

// recordHead is what every payload begins with.
type Head struct {
	Kind Kind
	At   int64 // in nanoseconds
	Day  budget.Date
}

// ReadHead reads the beginning that all records have.
func ReadHead(d *codec.Decoder) Head {
	return Head{Kind(d.Byte()), int64(d.Uint64()), budget.Date(d.Uint32())}
}

// ReadOutcome reads the outcome of an earlier charge.
func ReadOutcome(d *codec.Decoder) OutcomeOf { return OutcomeOf{d.Uint64(), Outcome(d.Byte())} }

func readBudget(d *codec.Decoder, r *Record) {
	b := &r.Budget
	*b = budget.Budget{Account: d.Text(), Entity: d.Bool(), Principal: d.Text(), Reason: d.Text(), SetBy: r.Principal, SetAt: r.At}
	if r.Kind == SetBudget {
		b.Epsilon, b.Rho, b.Delta, b.Window = privacy.Epsilon(d.Float()), privacy.Rho(d.Uint64()), privacy.Delta(d.Float()), budget.Window(d.Text())
		if d.Left() { // a budget that was made before orders were chosen has none
			b.Order = d.Float()
			d.Bad = d.Bad || !b.HasOrder()
		}
		if d.Left() { // only a Gaussian account says that it is one
			b.Gaussian = d.Bool()
			d.Bad = d.Bad || !b.Gaussian
		}
		d.Bad = d.Bad || b.Check() != nil
	}
}

func readBooked(d *codec.Decoder) Booked {
	c := Booked{Account: d.Text()}
	c.Entity, c.Blocks, c.Since = ReadKind(d)
	c.Table, c.Loss, c.Events = d.Text(), privacy.ReadTally(d), privacy.ReadEvents(d)
	for n := d.Uvarint(); n > 0 && !d.Bad; n-- {
		c.Left = append(c.Left, Left{d.Text(), privacy.Epsilon(d.Float()), privacy.Rho(d.Uint64())})
	}
	return c
}

func readDigest(d *codec.Decoder, r *Record) {
	b := d.Bytes()
	r.Digest, r.Print = string(b), Fingerprint(b)
}

// What the byte behind a charge's account says. A program that knows of no blocks refuses the
// second, and one that knows of no renewals the third.
const (
	onEntity = 1 << iota // the account is an entity's
	onBlocks             // the charge is for some blocks, which follow: first and last day i32
	onSince              // the charge renews one of a day, which follows: u32
)

func (c *Booked) appendKind(b []byte) []byte {
	at := len(b)
	b = append(b, 0)
	if c.Entity {
		b[at] |= onEntity
	}
	if on := c.Blocks.Whole(); on != nil {
		b[at] |= onBlocks
		b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, uint32(on.First)), uint32(on.Last))
	}
	if c.Since > 0 {
		b[at] |= onSince
		b = binary.BigEndian.AppendUint32(b, uint32(c.Since))
	}
	return b
}

// ReadKind reads whether a charge is on an entity, its blocks, nil for every block, and its Since.
// It refuses what is not written: blocks that no charge is for, every block in so many words, and a
// day that is none.
func ReadKind(d *codec.Decoder) (entity bool, on *days.Span, since budget.Date) {
	kind := d.Byte()
	d.Bad = d.Bad || kind&^(onEntity|onBlocks|onSince) != 0
	if kind&onBlocks != 0 {
		on = &days.Span{First: days.Day(d.Uint32()), Last: days.Day(d.Uint32())}
		d.Bad = d.Bad || on.Whole() == nil || on.Check() != nil
	}
	if kind&onSince != 0 {
		since = budget.Date(d.Uint32())
		d.Bad = d.Bad || since <= 0
	}
	return kind&onEntity != 0, on, since
}
