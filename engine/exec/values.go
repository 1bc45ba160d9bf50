package exec

import (
	"errors"

	"scrim/engine/estimator"
	"scrim/internal/spill"
)

// errValues is a limit of the numbers by which persons and values go: what is beyond it would not
// fit on any disk.
var errValues = errors.New("exec: more than 2^30 persons or values of a group")

// pairsOf makes pairs of a group's persons and the values that they have, of one row each. What a
// scan calls them becomes 0, 1, 2, … in the order of arrival, which means nothing.
func pairsOf(persons, values []int64, memory *spill.Area) (p *estimator.Pairs, err error) {
	p = &estimator.Pairs{Memory: memory}
	if p.Left, p.Lefts, err = numbered(persons, memory); err == nil {
		p.Right, p.Rights, err = numbered(values, memory)
	}
	return p, err
}

// freePairs gives the memory of pairs back.
func freePairs(p *estimator.Pairs, memory *spill.Area) {
	free(memory, p.Left)
	free(memory, p.Right)
}

// numbered returns the numbers of names, and how many there are.
func numbered(names []int64, memory *spill.Area) (numbers []uint32, count int, err error) {
	var known units
	defer func() { free(memory, known.slots) }()
	if numbers, err = room[uint32](memory, len(names)); err != nil {
		return nil, 0, err
	}
	for i, name := range names {
		n := known.find(name)
		if n < 0 {
			if n = int32(known.taken); n == 1<<30 {
				return nil, 0, errValues
			}
			if err := known.put(name, n, memory); err != nil {
				return nil, 0, err
			}
		}
		numbers[i] = uint32(n)
	}
	return numbers, known.taken, nil
}
