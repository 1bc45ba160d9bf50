package block

import (
	"math/bits"
	"sync"

	"scrim/engine/estimator"
)

// count returns the number of persons in each bin, coordinate by coordinate. A block has less than
// 2^32 persons.
func (l *level) count(b *estimator.Block) []uint32 {
	var total []uint32
	var mu sync.Mutex
	size, rs := l.size, runs(b)
	if l.steps != nil {
		size = len(l.steps)
	}
	spread(len(rs), func(next func() (int, bool)) {
		own := make([]uint32, b.Dim*size)
		q := quartet{level: l, counts: own, room: make([]int64, 4*b.Dim)}
		for k, ok := next(); ok; k, ok = next() {
			for x := rs[k].rows(b.Dim); len(x) > 0; x = x[b.Dim:] {
				q.add(x[:b.Dim])
			}
		}
		q.flush()
		mu.Lock()
		defer mu.Unlock()
		if total == nil {
			total = own
			return
		}
		for i, n := range own {
			total[i] += n
		}
	})
	if total == nil {
		total = make([]uint32, b.Dim*size)
	}
	if l.steps != nil {
		return l.steps.fold(total, l.size)
	}
	return total
}

// quartet counts vectors four at a time, so that what is known of a coordinate is fetched once for
// them.
type quartet struct {
	level  *level
	counts []uint32
	rows   [4][]int64 // waiting
	n      int
	room   []int64 // for the distances of four
}

// add counts one vector, at the latest with flush.
func (q *quartet) add(x []int64) {
	if l := q.level; l.centre != nil && l.steps == nil {
		to := q.room[q.n*len(x):][:len(x)]
		distances(to, x, l.centre)
		x = to
	}
	q.rows[q.n] = x
	if q.n++; q.n == len(q.rows) {
		q.level.addFour(q.counts, q.rows[0], q.rows[1], q.rows[2], q.rows[3])
		q.n = 0
	}
}

// flush counts the vectors that wait.
func (q *quartet) flush() {
	for _, x := range q.rows[:q.n] {
		q.level.addOne(q.counts, x)
	}
	q.n = 0
}

// addFour counts four vectors.
func (l *level) addFour(counts []uint32, x, y, z, t []int64) {
	switch {
	case l.steps != nil:
		countSteps(counts, l.centre, x, y, z, t)
	case l.even == nil:
		for _, row := range [][]int64{x, y, z, t} {
			l.addOne(counts, row)
		}
	case l.rest:
		l.even.countInside(counts, l.size, x, y, z, t)
	default:
		l.even.countNearest(counts, l.size, x, y, z, t)
	}
}

// addOne counts one vector.
func (l *level) addOne(counts []uint32, x []int64) {
	switch shift := uint(l.shifts[0]); {
	case l.steps != nil:
		for j, v := range x {
			counts[j*len(l.steps)+int(stepOf(v-l.centre[j]))]++
		}
	case l.rest || l.even != nil || shift > l.axis.bits:
		l.countAny(counts, x)
	default:
		countScaled(counts, l.size, l.axis, shift, l.firsts[0], x)
	}
}

// countAny counts a vector in bins of any kind.
func (l *level) countAny(counts []uint32, x []int64) {
	for j, v := range x {
		k := l.bin(j, l.axis.cell(v))
		if l.rest {
			k = int64(inBins(k, l.size))
		} else {
			k = nearest(k, l.size)
		}
		counts[j*l.size+int(k)]++
	}
}

// countScaled counts a vector in bins of 2^bin cells of an axis whose cells grow, 2^bits cells an
// octave, where what is outside counts in the nearest bin. The bin is (f<<bits + u>>f)>>bin with f
// as in Axis.cell, worked out in one shift.
func countScaled(counts []uint32, size int, a Axis, bin uint, first int64, x []int64) {
	least, octave, at := uint64(1)<<(a.shift+a.bits), int64(1)<<(a.bits-bin), int64(0)
	short, zero := a.bits+1-bin, int64(a.shift+a.bits+1)*octave
	for _, v := range x {
		sign := v >> 63
		u := uint64(v ^ sign)
		n := uint(bits.Len64(u | least))
		k := int64(n)*octave - zero + int64(u>>((n-short)&63))
		counts[at+nearest(k^sign-first, size)]++
		at += int64(size)
	}
}

// countNearest counts four vectors in bins of one width where what is outside counts in the nearest
// one. That is little, so its branches are seldom taken.
func (e *even) countNearest(counts []uint32, size int, x, y, z, t []int64) {
	y, z, t = y[:len(x)], z[:len(x)], t[:len(x)]
	width, origin := e.widths[0]&63, e.origins[0]
	for j, v := range x {
		bins := counts[:size]
		counts = counts[size:]
		one(bins, v>>width-origin)
		one(bins, y[j]>>width-origin)
		one(bins, z[j]>>width-origin)
		one(bins, t[j]>>width-origin)
	}
}

// one counts one number in the bin nearest to k.
func one(bins []uint32, k int64) {
	if uint64(k) < uint64(len(bins)) {
		bins[k]++
	} else {
		bins[nearest(k, len(bins))]++
	}
}

// nearest brings k into 0 to size−1.
func nearest(k int64, size int) int64 {
	if uint64(k) < uint64(size) {
		return k
	}
	return int64(size-1) &^ (k >> 63)
}

// countInside counts four vectors in bins of one width where what is outside counts in bin 0. What
// is inside is as good as random: it does not branch on it.
func (e *even) countInside(counts []uint32, size int, x, y, z, t []int64) {
	y, z, t = y[:len(x)], z[:len(x)], t[:len(x)]
	widths, origins := e.widths[:len(x)], e.origins[:len(x)]
	at := uint64(0)
	for j, v := range x {
		width, origin := widths[j]&63, origins[j]
		counts[at+inBins(v>>width-origin, size)]++
		counts[at+inBins(y[j]>>width-origin, size)]++
		counts[at+inBins(z[j]>>width-origin, size)]++
		counts[at+inBins(t[j]>>width-origin, size)]++
		at += uint64(size)
	}
}

// inBins returns k where it is in 0 to size−1, and 0 otherwise.
func inBins(k int64, size int) uint64 {
	_, in := bits.Sub64(uint64(k), uint64(size), 0)
	return uint64(k) & -in
}

// distances sets the distances of the vector x from the centre.
func distances(to, x, centre []int64) {
	to, x = to[:len(centre)], x[:len(centre)]
	for j, c := range centre {
		to[j] = distance(x[j], c)
	}
}

// distance returns |v − centre|, without a branch.
func distance(v, centre int64) int64 {
	v -= centre
	sign := v >> 63
	return v ^ sign - sign
}
