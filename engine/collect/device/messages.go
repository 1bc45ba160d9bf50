package device

import (
	"scrim/engine/collect"
	"scrim/engine/collect/exact"
	"scrim/engine/collect/geometry"
	"scrim/internal/refuse"
)

// Messages returns the messages of value v in a cell of a round of the shuffle model, made once. Their
// number is public, or for trees random independently of the value. They are to be sealed one by one.
func Messages(r *exact.Rand, p *collect.Params, cell uint32, v collect.Value) ([]collect.Message, error) {
	c, err := cellOf(p, cell, collect.Shuffle)
	if err != nil {
		return nil, err
	}
	if p.Batch == nil {
		return nil, refuse.New(refuse.CollectionParameter, "The parameters of %s have no batch.", p.Collection)
	}
	switch p.Protocol {
	case collect.ShufSum:
		return sum(r, p, v)
	case collect.ShufVec:
		y := geometry.Vector(v, p.Null(), p.Declaration.Dimension)
		return vector(r, p, y)
	case collect.ShufHier:
		d := &p.Declaration
		leaf := geometry.Leaf(number(p, v, d.Lo, d.Hi), d.Lo, d.Hi, geometry.Leaves(p.Batch.Levels))
		return nodes(r, p, c, leaf)
	case collect.ShufSCM3:
		if p.Round == 3 {
			return vector(r, p, shifted(p, v))
		}
		_, leaf := treeOf(p, c, v)
		return nodes(r, p, c, leaf)
	}
	panic("device: protocol without messages: " + string(p.Protocol)) // cellOf lets shuffle protocols in, and these are all
}
