package exec

import (
	"fmt"

	"scrim/engine/store"
	"scrim/internal/spill"
)

// origin says whose the rows of a chunk are.
type origin struct {
	groups []int32
	// of a scan of rows: the person's number in the group, -1 for a row of nobody; else nil
	persons []int32
}

// persons numbers the persons of each group of a scan of rows, in the order of arrival: the numbers
// are used to bring a person's rows together and are not seen by any estimator.
type persons struct {
	counts  []int64 // of each group
	ints    []units
	texts   []names
	numbers []int32 // of a chunk
	touched int64   // see prefetch
	memory  *spill.Area
}

// maxPersons bounds the persons of a group, whose numbers are int32.
const maxPersons = 1<<31 - 1

// resize makes room for so many groups.
func (p *persons) resize(groups int) {
	for len(p.counts) < groups {
		p.counts = append(p.counts, 0)
	}
}

// number returns the number of each row's person in the row's group, -1 where the unit is NULL. The
// numbers are valid until the next call.
func (p *persons) number(unit *store.Vector, of []int32) ([]int32, error) {
	p.numbers = p.numbers[:0]
	for i, g := range of {
		if i%ahead == 0 && unit.Ints != nil {
			p.prefetch(unit.Ints[i:min(i+ahead, len(of))], of[i:])
		}
		n, err := int32(-1), error(nil)
		switch {
		case unit.Null != nil && unit.Null[i]:
		case i > 0 && p.numbers[i-1] >= 0 && g == of[i-1] && again(unit, i):
			n = p.numbers[i-1] // rows of one person often come together
		case unit.Ints != nil:
			n, err = p.integer(g, unit.Ints[i])
		default:
			n, err = p.text(g, unit.Texts[i])
		}
		if err != nil {
			return nil, err
		}
		p.numbers = append(p.numbers, n)
	}
	return p.numbers, nil
}

// again reports whether a row, not the first, has the unit of the one before it. Neither is NULL.
func again(unit *store.Vector, i int) bool {
	if unit.Ints != nil {
		return unit.Ints[i] == unit.Ints[i-1]
	}
	return unit.Texts[i] == unit.Texts[i-1]
}

// ahead is how many rows are looked at before the first of them is taken in. Where persons' rows
// are far apart, each row waits for memory wherever it touches its person's; looks at several rows
// do not depend on each other, and the processor waits for all at once.
const ahead = 64

// prefetch reads the places of rows' units, so that they are in the cache when the rows are
// numbered.
func (p *persons) prefetch(units []int64, of []int32) {
	touched := int64(0)
	for i, unit := range units {
		if g := int(of[i]); g < len(p.ints) {
			touched += p.ints[g].touch(unit)
		}
	}
	p.touched = touched // or else the compiler may leave the reading out
}

// integer returns the number of a unit in group g, a new one for a unit that is new there.
func (p *persons) integer(g int32, unit int64) (int32, error) {
	for len(p.ints) <= int(g) {
		p.ints = append(p.ints, units{})
	}
	if n := p.ints[g].find(unit); n >= 0 {
		return n, nil
	}
	n, err := p.next(g)
	if err == nil {
		err = p.ints[g].put(unit, n, p.memory)
	}
	return n, err
}

// text is integer for units that are texts.
func (p *persons) text(g int32, unit string) (int32, error) {
	for len(p.texts) <= int(g) {
		p.texts = append(p.texts, names{})
	}
	if n := p.texts[g].find(unit); n >= 0 {
		return n, nil
	}
	n, err := p.next(g)
	if err == nil {
		err = p.texts[g].put(unit, n, p.memory)
	}
	return n, err
}

// next counts one more person of a group and returns the number.
func (p *persons) next(g int32) (int32, error) {
	if p.counts[g] == maxPersons {
		return 0, fmt.Errorf("exec: too many persons")
	}
	p.counts[g]++
	return int32(p.counts[g] - 1), nil
}
