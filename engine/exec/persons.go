package exec

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math"

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

// names numbers the texts that name persons, 0, 1, 2, … as they come: a table with open places like
// units, whose slots tell where a text is kept. Equal texts have one number and others have others,
// whatever their hashes.
type names struct {
	slots []textSlot // a power of two of them, at most three quarters taken
	taken int
	seed  maphash.Seed
	texts [][]byte // blocks of texts
	left  []byte   // of the last block
}

// textSlot is a kept text with its number plus 1; 0 where the slot is free.
type textSlot struct {
	hash          uint64
	block, offset int32
	size, number  int32
}

// The blocks of texts double from leastBlock to mostBlock bytes; a longer text has one of its own.
const leastBlock, mostBlock = 1 << 8, 1 << 20

var errNames = errors.New("exec: more than 2^31 texts")

// find returns the text's number, -1 where it has none yet.
func (n *names) find(text string) int32 {
	if n.taken == 0 {
		return -1
	}
	return n.at(text, maphash.String(n.seed, text)).number - 1
}

// at returns the text's slot, or the free one where it belongs. The table is not empty.
func (n *names) at(text string, hash uint64) *textSlot {
	for i := int(hash & uint64(len(n.slots)-1)); ; i = (i + 1) & (len(n.slots) - 1) {
		s := &n.slots[i]
		if s.number == 0 || s.hash == hash && string(n.texts[s.block][s.offset:s.offset+s.size]) == text {
			return s
		}
	}
}

// put gives a number to a text that has none, and keeps the text.
func (n *names) put(text string, number int32, memory *spill.Area) error {
	if n.taken == math.MaxInt32 {
		return errNames
	}
	if 4*(n.taken+1) > 3*len(n.slots) {
		if err := n.grow(memory); err != nil {
			return err
		}
	}
	if n.texts == nil || len(n.left) < len(text) { // the first text may be empty
		var err error
		if n.left, err = room[uint8](memory, max(min(leastBlock<<min(len(n.texts), 20), mostBlock), len(text))); err != nil {
			return err
		}
		n.texts = append(n.texts, n.left)
	}
	last := len(n.texts) - 1
	hash := maphash.String(n.seed, text)
	*n.at(text, hash) = textSlot{hash, int32(last), int32(len(n.texts[last]) - len(n.left)), int32(len(text)), number + 1}
	n.left = n.left[copy(n.left, text):]
	n.taken++
	return nil
}

func (n *names) grow(memory *spill.Area) (err error) {
	before := n.slots
	if before == nil {
		n.seed = maphash.MakeSeed()
	}
	if n.slots, err = take[textSlot](memory, max(firstUnits, 2*len(before))); err != nil {
		return err
	}
	for _, s := range before {
		if s.number == 0 {
			continue
		}
		i := int(s.hash & uint64(len(n.slots)-1))
		for n.slots[i].number != 0 {
			i = (i + 1) & (len(n.slots) - 1)
		}
		n.slots[i] = s
	}
	free(memory, before)
	return nil
}
