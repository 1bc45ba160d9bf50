package block

import (
	"math/bits"
	"sync"
)

// tables count, for every coordinate, the persons in buckets of cells: bucket k of coordinate j has the 2^width cells from lo + k·2^width on. The counts
// are cumulated. They answer a search until its split falls inside a bucket.
type tables struct {
	bits   int // 2^bits buckets a coordinate
	lo     []uint32
	width  []uint8
	below  []int64 // persons in cells under lo
	counts []uint32
}

const (
	tableBits  = 10 // most, so that the tables of some hundred coordinates stay near the core
	tablesRoom = 22 // at most 2^22 counts a core, 16 MiB
)

// newTables counts the persons in the intervals of a search.
func newTables(s *search) *tables {
	dim := s.b.Dim
	t := &tables{lo: make([]uint32, dim), width: make([]uint8, dim), below: make([]int64, dim)}
	t.bits = max(1, min(tableBits, tablesRoom-bits.Len(uint(dim)), bits.Len64(uint64(s.b.Persons()))))
	for j, a := range s.at {
		t.lo[j], t.below[j] = a.lo, a.below
		t.width[j] = uint8(max(0, bits.Len32(a.hi-a.lo)-t.bits))
	}
	t.counts = t.sum(s)
	for j := range dim {
		sum, row := uint32(0), t.row(j)
		for k, c := range row {
			sum += c
			row[k] = sum
		}
	}
	return t
}

// sum counts on all cores.
func (t *tables) sum(s *search) []uint32 {
	rs, p := runs(s.b), newPass(s)
	total := make([]uint32, len(t.lo)<<t.bits)
	var mu sync.Mutex
	spread(len(rs), func(next func() (int, bool)) {
		own := make([]uint32, len(total))
		for k, ok := next(); ok; k, ok = next() {
			switch rows := rs[k].rows(s.b.Dim); {
			case s.started:
				p.inside(rows, func(j int, cell uint32) { own[j<<t.bits+int((cell-t.lo[j])>>t.width[j])]++ })
			case s.centre == nil:
				countValues(own, rows, s.axis, t)
			default:
				countDistances(own, rows, s.axis, t, s.centre)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for k, c := range own {
			total[k] += c
		}
	})
	return total
}

func (t *tables) row(j int) []uint32 { return t.counts[j<<t.bits : (j+1)<<t.bits] }

// fails reports whether some interval's split falls inside a bucket.
func (t *tables) fails(at []interval) bool {
	for j := range at {
		if a := &at[j]; a.lo < a.hi && (split(a.lo, a.hi)+1-t.lo[j])&(1<<t.width[j]-1) != 0 {
			return true
		}
	}
	return false
}

// count sets atMost of the intervals that are not done.
func (t *tables) count(at []interval) {
	for j := range at {
		if a := &at[j]; a.lo < a.hi {
			upTo := t.row(j)[(split(a.lo, a.hi)-t.lo[j])>>t.width[j]]
			a.atMost = t.below[j] + int64(upTo) - a.below
		}
	}
}
