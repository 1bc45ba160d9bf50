package exec

import (
	"fmt"
	"strings"

	"scrim/engine/store"
)

// origin says whose the rows of a chunk are.
type origin struct {
	groups  []int32
	persons []int32 // of a scan of rows: the person's number in the group, -1 for a row of nobody; else nil
}

// persons counts the persons of each group. Of a scan of rows it numbers them, in the order of arrival: the
// numbers are used to bring a person's rows together and are not seen by any estimator.
type persons struct {
	counts  []int64
	ints    []map[int64]int32
	texts   []map[string]int32
	numbers []int32 // of a chunk
	space   *room
}

// personOverhead is about what a person's number takes beside the unit's text: an entry of a map that is at most
// half full, and a place.
const personOverhead = 48

// maxPersons bounds the persons of a group, whose numbers are int32.
const maxPersons = 1<<31 - 1

// count counts scan rows that are a person each.
func (p *persons) count(of []int32) {
	for _, g := range of {
		p.counts[g]++
	}
}

// resize makes room for so many groups.
func (p *persons) resize(groups int) {
	for len(p.counts) < groups {
		p.counts = append(p.counts, 0)
	}
}

// number returns the number of each row's person in the row's group, -1 where the unit is NULL. The numbers are
// valid until the next call.
func (p *persons) number(unit *store.Vector, of []int32) ([]int32, error) {
	p.numbers = p.numbers[:0]
	for i, g := range of {
		n, err := int32(-1), error(nil)
		switch {
		case unit.Null != nil && unit.Null[i]:
		case i > 0 && p.numbers[i-1] >= 0 && g == of[i-1] && again(unit, i):
			n = p.numbers[i-1] // rows of one person often come together
		case unit.Ints != nil:
			p.ints, n, err = find(p, p.ints, g, unit.Ints[i], 0)
		default:
			p.texts, n, err = find(p, p.texts, g, unit.Texts[i], len(unit.Texts[i]))
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

// find returns the number of a unit in group g, a new one for a unit that is new there. size is what the unit
// takes beside its entry.
func find[K int64 | string](p *persons, groups []map[K]int32, g int32, unit K, size int) ([]map[K]int32, int32, error) {
	for len(groups) <= int(g) {
		groups = append(groups, nil)
	}
	if n, ok := groups[g][unit]; ok {
		return groups, n, nil
	}
	if p.counts[g] == maxPersons {
		return groups, 0, fmt.Errorf("exec: too many persons")
	}
	if err := p.space.take(int64(personOverhead + size)); err != nil {
		return groups, 0, err
	}
	if groups[g] == nil {
		groups[g] = map[K]int32{}
	}
	n := int32(p.counts[g])
	groups[g][own(unit)] = n
	p.counts[g]++
	return groups, n, nil
}

// own returns a unit that keeps no more memory than its own: the texts of a chunk share theirs.
func own[K int64 | string](unit K) K {
	if s, ok := any(unit).(string); ok {
		return any(strings.Clone(s)).(K)
	}
	return unit
}
