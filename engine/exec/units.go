package exec

import (
	"hash/maphash"

	"scrim/internal/spill"
)

// units numbers the integers that name the persons of a group, 0, 1, 2, … as they come. It is a
// table with open places: a unit lies at the place of its hash or behind it, before a free one. A
// row costs one access to memory, which the processor can have begun before.
type units struct {
	slots []unitSlot // a power of two of them, at most three quarters taken
	taken int
	seed  uint64 // of the hash, unknown to who chose the units
}

// unitSlot holds a person's number plus 1; 0 where it is free.
type unitSlot struct {
	unit   int64
	number int32
}

// firstUnits is the size of a table with one person.
const firstUnits = 8

// home is the place of a unit's hash.
func (u *units) home(unit int64) int { return int(mixed(unit, u.seed) & uint64(len(u.slots)-1)) }

// at returns the unit's slot, or the free one where it belongs. The table is not empty.
func (u *units) at(unit int64) *unitSlot {
	for i := u.home(unit); ; i = (i + 1) & (len(u.slots) - 1) {
		if s := &u.slots[i]; s.number == 0 || s.unit == unit {
			return s
		}
	}
}

// find returns the unit's number, -1 where it has none yet.
func (u *units) find(unit int64) int32 {
	if u.taken == 0 {
		return -1
	}
	return u.at(unit).number - 1
}

// put gives a number to a unit that has none.
func (u *units) put(unit int64, number int32, memory *spill.Area) error {
	if 4*(u.taken+1) > 3*len(u.slots) {
		if err := u.grow(memory); err != nil {
			return err
		}
	}
	*u.at(unit) = unitSlot{unit, number + 1}
	u.taken++
	return nil
}

func (u *units) grow(memory *spill.Area) (err error) {
	before := u.slots
	if before == nil {
		u.seed = maphash.Bytes(maphash.MakeSeed(), nil)
	}
	if u.slots, err = take[unitSlot](memory, max(firstUnits, 2*len(before))); err != nil {
		return err
	}
	for _, s := range before {
		if s.number > 0 {
			*u.at(s.unit) = s
		}
	}
	free(memory, before)
	return nil
}

// touch reads a unit's place and returns what is there, which means nothing: see prefetch.
func (u *units) touch(unit int64) int64 {
	if u.taken == 0 {
		return 0
	}
	return int64(u.slots[u.home(unit)].number)
}
