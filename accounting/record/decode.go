package record

import (
	"encoding/binary"
	"errors"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/days"
	"scrim/accounting/internal/codec"
	"scrim/accounting/privacy"
)

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
