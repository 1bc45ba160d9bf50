package record

import (
	"encoding/binary"

	"scrim/accounting/days"
	"scrim/accounting/internal/codec"
)

// What the byte behind a charge's account says. A program that knows of no blocks refuses the
// second.
const (
	onEntity = 1 << iota // the account is an entity's
	onBlocks             // the charge is for some blocks, which follow: first and last day i32
)

func (c *Booked) appendKind(b []byte) []byte {
	kind := byte(0)
	if c.Entity {
		kind |= onEntity
	}
	on := c.Blocks.Whole()
	if on == nil {
		return append(b, kind)
	}
	b = binary.BigEndian.AppendUint32(append(b, kind|onBlocks), uint32(on.First))
	return binary.BigEndian.AppendUint32(b, uint32(on.Last))
}

// ReadKind reads whether a charge is on an entity, and its blocks; nil: every block. It refuses
// what is not written: blocks that no charge is for, and every block in so many words.
func ReadKind(d *codec.Decoder) (entity bool, on *days.Span) {
	kind := d.Byte()
	d.Bad = d.Bad || kind&^(onEntity|onBlocks) != 0
	if kind&onBlocks != 0 {
		on = &days.Span{First: days.Day(d.Uint32()), Last: days.Day(d.Uint32())}
		d.Bad = d.Bad || on.Whole() == nil || on.Check() != nil
	}
	return kind&onEntity != 0, on
}
