package device

import (
	"scrim/engine/collect"
	"scrim/engine/collect/exact"
	"scrim/engine/collect/geometry"
	"scrim/internal/refuse"
)

// Messages returns the messages of value v in a cell of a round of the shuffle model, made once.
// Their number is public, or for trees random independently of the value. They are to be sealed one
// by one.
func (d *Device) Messages(r *exact.Rand, cell uint32, v collect.Value) ([]collect.Message, error) {
	c, err := d.cellOf(cell, collect.Shuffle)
	if err != nil {
		return nil, err
	}
	p := d.p
	if p.Batch == nil {
		return nil, refuse.New(refuse.CollectionParameter, "The parameters of %s have no batch.", p.Collection)
	}
	switch p.Protocol {
	case collect.ShufSum:
		return sum(r, p, d.fraction(v))
	case collect.ShufVec:
		return vector(r, p, geometry.Vector(v, p.Null(), p.Declaration.Dimension))
	case collect.ShufHier:
		return nodes(r, p, c, d.leaf(v, geometry.Leaves(p.Batch.Levels)))
	case collect.ShufSCM3:
		if p.Round == 3 {
			return vector(r, p, d.shifted(v))
		}
		_, leaf := d.rotatedLeaf(c, v)
		return nodes(r, p, c, leaf)
	}
	// cellOf lets shuffle protocols in, and these are all
	panic("device: protocol without messages: " + string(p.Protocol))
}
