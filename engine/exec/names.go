package exec

import (
	"errors"
	"hash/maphash"
	"math"

	"scrim/internal/spill"
)

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
	if len(n.left) < len(text) {
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
