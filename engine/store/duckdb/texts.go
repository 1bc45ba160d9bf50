package duckdb

import "hash/maphash"

// texts remembers the last different texts that were asked, by their hashes. The plan of a text
// that does not come again would only hold on to memory.
type texts struct {
	hashes [4 * sessionPlans]uint64
	next   int
}

var seed = maphash.MakeSeed()

// before notes a text and tells whether it is one of the last.
func (t *texts) before(text string) bool {
	h := maphash.String(seed, text)
	for _, old := range t.hashes {
		if old == h {
			return true
		}
	}
	t.hashes[t.next] = h
	t.next = (t.next + 1) % len(t.hashes)
	return false
}
