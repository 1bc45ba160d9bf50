package block

import (
	"math/bits"

	"scrim/engine/estimator"
)

// levels is the state of a search of a dense block. It reads the block once a level: for each
// coordinate it then knows how many persons are in each bin of its interval, where bins are runs of
// 2^s cells that begin at multiples of 2^s, counted from the cell of 0. An axis is split at
// multiples of falling powers of two, so these counts answer all questions until an interval lies
// within one bin; then a new level is read, for all coordinates that are not done, with finer bins.
//
// A level has 2^w+1 bins at most: the first one makes do with that for 2^(L·w)+1 cells with bins of
// 2^((L−1)·w), however they lie; an interval in one bin of 2^(i·w) cells has 2^w bins of the next
// level. So L levels are enough, but for intervals at the two ends of the axis. These may be small
// parts of such runs, and lie in one bin sooner: once in w bits of the number of cells at most, on
// either end.
type levels struct {
	search
	b      *estimator.Block
	centre []int64
	most   int64 // bins of a coordinate
	level  *level
	counts []uint32 // persons at most in each bin, by coordinate
	read   int      // number of readings
}

func newLevels(b *estimator.Block, axis Axis, centre []int64) *levels {
	l := &levels{search: newSearch(b.Dim, axis), b: b, centre: centre}
	cells := bits.Len64(uint64(max(0, axis.cells-2))) // 2^cells+1 or less
	w := levelBits(b.Dim, b.Persons())
	if cells > w {
		// many values of a coordinate may lie in one bin and be spread over those of the next level
		w = min(w, 8)
	}
	read := max(1, (cells+w-1)/w)
	l.most = 1<<((cells+read-1)/read) + 1
	return l
}

// levelBits is the largest w of a block. The counts of all coordinates should stay near the core,
// in 4 MB, and not take longer to clear and add up than the reading.
func levelBits(dim int, persons int64) int {
	return max(6, min(20-bits.Len(uint(dim-1)), bits.Len64(uint64(persons))-4, 12))
}

// atMost returns the number of persons whose cell is at most mid, at which the interval of
// coordinate j is split.
func (l *levels) atMost(j int, mid uint32) int64 {
	from, to := l.numbers(j)
	if l.level == nil || l.level.bin(j, from) == l.level.bin(j, to) {
		l.next(newLevel(&l.search, l.centre, l.most, l.level != nil))
	}
	return int64(l.known(j, mid))
}

// next reads a level.
func (l *levels) next(level *level) {
	counts := level.count(l.b)
	for j := range l.lo {
		c := counts[j*level.size:][:level.size]
		if level.rest && l.lo[j] < l.hi[j] {
			c[0] = l.before(level, j, c)
		}
		for k := 1; k < len(c); k++ {
			c[k] += c[k-1]
		}
	}
	l.level, l.counts = level, counts
	l.read++
}

// before returns the number of persons before the bins of a new level: before the interval. Where
// it begins with the axis it may begin within a bin; then they are those up to its end, as the
// level before has counted them, less those in the new bins.
func (l *levels) before(next *level, j int, counts []uint32) uint32 {
	if l.lo[j] > 0 {
		return l.known(j, l.lo[j]-1)
	}
	n := l.known(j, l.hi[j])
	_, to := l.numbers(j)
	for _, c := range counts[1 : next.bin(j, to)+1] {
		n -= c
	}
	return n
}

// known returns the number of persons whose cell is at most the given one, the last of a bin or
// that before the bins.
func (l *levels) known(j int, cell uint32) uint32 {
	return l.counts[j*l.level.size+int(l.level.bin(j, int64(cell)+l.axis.first))]
}
