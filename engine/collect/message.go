package collect

import (
	"encoding/binary"

	"scrim/engine/collect/geometry"
)

// Message is one message of the shuffle model before it is sealed:
//
//	0     version, 1
//	1     protocol, Info.ID
//	2-3   coordinate, big-endian
//	4-7   node of a tree
//	8-15  value, a share modulo 2^Bits
//
// The round is not in it: the seal binds the parameters' fingerprint.
type Message [16]byte

// NewMessage returns a message of a protocol that is one. Sums have coordinate and node 0; vectors
// their coordinate; trees a geometry.Node and value 0, and in round 1 of SHUF_SCM3 their cell's
// coordinate.
func NewMessage(p Protocol, coordinate uint16, node uint32, value uint64) (m Message) {
	info, _ := p.Info()
	m[0], m[1] = Version, info.ID
	binary.BigEndian.PutUint16(m[2:], coordinate)
	binary.BigEndian.PutUint32(m[4:], node)
	binary.BigEndian.PutUint64(m[8:], value)
	return m
}

// Coordinate returns the message's coordinate.
func (m Message) Coordinate() uint16 { return binary.BigEndian.Uint16(m[2:]) }

// Node returns the message's node.
func (m Message) Node() uint32 { return binary.BigEndian.Uint32(m[4:]) }

// Value returns the message's share.
func (m Message) Value() uint64 { return binary.BigEndian.Uint64(m[8:]) }

// CheckMessage refuses a message that no device makes from these parameters. A bag is private
// whatever is left out of it.
func (p *Params) CheckMessage(m Message) error {
	if p.Batch == nil {
		return malformed("%s has no messages.", p.Protocol)
	}
	info, _ := p.Protocol.Info()
	if m[0] != Version || m[1] != info.ID {
		return malformed("The message is of another version or protocol than %s.", p.Protocol)
	}
	ok := false
	if p.Batch.Levels > 0 {
		ok = m.Value() == 0 && uint64(m.Node()) < geometry.Nodes(p.Batch.Levels) && p.hasCoordinate(m)
	} else {
		ok = m.Node() == 0 && m.Value()>>p.Batch.Bits == 0 && uint64(m.Coordinate()) < p.Cells[0].Domain
	}
	if !ok {
		return malformed("The message's coordinate, node or value is outside of the round's range.")
	}
	return nil
}

// hasCoordinate tells whether a tree of the round is of the message's coordinate. Cells are in the
// order of coordinates.
func (p *Params) hasCoordinate(m Message) bool { return int(m.Coordinate()) < len(p.Cells) }

// CheckMessageOf is CheckMessage for a batch of one cell: a tree's message must be of its
// coordinate.
func (p *Params) CheckMessageOf(cell uint32, m Message) error {
	if err := p.CheckMessage(m); err != nil {
		return err
	}
	c, ok := p.Cell(cell)
	if !ok || p.Batch.Levels > 0 && int(m.Coordinate()) != c.Coordinate {
		return malformed("The message is of another cell.")
	}
	return nil
}

// Tree tells whether messages of the round name nodes of a tree, not shares of sums.
func (p *Params) Tree() bool { return p.Batch != nil && p.Batch.Levels > 0 }

// Messages returns how many messages a bundle has: exactly, or for trees at most, and by then
// padded to it.
func (p *Params) Messages() uint64 {
	switch {
	case p.Batch == nil:
		return 0
	case p.Tree():
		return p.Batch.Cap
	}
	return uint64(p.Batch.Shares) * p.Cells[0].Domain
}
