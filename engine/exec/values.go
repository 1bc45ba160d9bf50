package exec

import (
	"errors"

	"scrim/engine/estimator"
	"scrim/internal/spill"
)

// errValues is a limit of the numbers by which persons and values go: what is beyond it would not
// fit on any disk.
var errValues = errors.New("exec: more than 2^30 persons or values of a group")

// pairsOf makes pairs of a group's persons and the values that they have, or of the owners of its
// rows, of one row each: the names of both, and the weights where there are three columns, and
// numbers of rows beside sums where there are four. What a scan calls them becomes 0, 1, 2, … in
// the order of arrival, which means nothing; with one, by the same numbers on both sides.
func pairsOf(columns [][]int64, one bool, memory *spill.Area) (p *estimator.Pairs, err error) {
	p = &estimator.Pairs{Memory: memory}
	if len(columns) > 2 {
		p.Weights = columns[2]
	}
	if len(columns) > 3 {
		p.Counts = columns[3]
	}
	left, right := numbering{memory: memory}, &numbering{memory: memory}
	defer left.free()
	defer right.free()
	if p.Left, err = left.number(columns[0]); err != nil {
		return p, err
	}
	if one {
		right = &left
	}
	if p.Right, err = right.number(columns[1]); err == nil {
		p.Lefts, p.Rights = left.known.taken, right.known.taken
	}
	return p, err
}

// freePairs gives the memory of pairs back.
func freePairs(p *estimator.Pairs, memory *spill.Area) {
	free(memory, p.Left)
	free(memory, p.Right)
}

// numbering holds the numbers of names.
type numbering struct {
	known  units
	memory *spill.Area
}

// number returns the numbers of names, some of which may be known already.
func (n *numbering) number(list []int64) (numbers []uint32, err error) {
	if numbers, err = room[uint32](n.memory, len(list)); err != nil {
		return nil, err
	}
	for i, name := range list {
		at := n.known.find(name)
		if at < 0 {
			if at = int32(n.known.taken); at == 1<<30 {
				return numbers, errValues
			}
			if err := n.known.put(name, at, n.memory); err != nil {
				return numbers, err
			}
		}
		numbers[i] = uint32(at)
	}
	return numbers, nil
}

func (n *numbering) free() { free(n.memory, n.known.slots) }
