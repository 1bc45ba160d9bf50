package record

import (
	"encoding/binary"

	"scrim/accounting/budget"
	"scrim/accounting/days"
	"scrim/accounting/internal/codec"
)

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
