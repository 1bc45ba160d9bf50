package block

import (
	"math"
	"runtime"
	"sync"

	"scrim/engine/estimator"
)

// mostCounted is the largest number of cells of which every one is counted: the counts of a hundred coordinates stay near the core.
const mostCounted = 1 << 12

// countable reports whether the cells of an axis are counted one by one, by one reading of the block. The counts of all cores then
// take about an eighth of the block's own memory.
func countable(b *estimator.Block, axis Axis) bool {
	return axis.cells <= mostCounted && axis.cells*int64(4*runtime.GOMAXPROCS(0)) <= b.Persons()
}

// counted is Bisect on a dense block for an axis of few cells.
func counted(b *estimator.Block, axis Axis, centre []int64, right func(j int, atMost int64) bool) []uint32 {
	atMost := cumulated(b, newCounter(axis, centre))
	return bisect(b.Dim, axis, func(j int, cell uint32) int64 { return int64(atMost[j*int(axis.cells)+int(cell)]) }, right)
}

// cumulated returns, for each coordinate and cell, the number of persons in it and those before it. A block has less than 2^32 persons.
func cumulated(b *estimator.Block, c counter) []uint32 {
	total, rs := make([]uint32, b.Dim*c.size), runs(b)
	var mu sync.Mutex
	spread(len(rs), func(next func() (int, bool)) {
		own := make([]uint32, len(total))
		for k, ok := next(); ok; k, ok = next() {
			for x := rs[k].rows(b.Dim); len(x) > 0; x = x[b.Dim:] {
				c.count(own, x[:b.Dim])
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for i, n := range own {
			total[i] += n
		}
	})
	atMost := make([]uint32, b.Dim*int(c.axis.cells))
	for j := range b.Dim {
		to := atMost[j*int(c.axis.cells):][:c.axis.cells]
		for k, n := range total[j*c.size:][:c.size] {
			to[c.cell(k)] += n
		}
		for k := 1; k < len(to); k++ {
			to[k] += to[k-1]
		}
	}
	return atMost
}

// counter counts a vector's cells, with size counts a coordinate: of the cells, or of the steps of floating-point numbers of
// as many bits, which are the same but for more of them near 0.
type counter struct {
	axis   Axis
	centre []int64
	floats bool
	first  int64 // the first step: below 2^shift
	size   int
}

// newCounter chooses steps where distances are counted on an axis that begins at 0 and ends at 2^53 or before: conversion
// is exact up to there, and what is beyond does not come below it.
func newCounter(axis Axis, centre []int64) counter {
	c := counter{axis: axis, centre: centre, size: int(axis.cells)}
	if c.floats = centre != nil && axis.bits < 52 && axis.lo == 0 && axis.hi <= 1<<53; c.floats {
		c.first = c.step(1<<axis.shift) - 1
		c.size = int(max(1, c.step(axis.hi)-c.first+1))
	}
	return c
}

// step returns the number of the step of a distance: exponent and leading bits.
func (c *counter) step(distance int64) int64 {
	return int64(math.Float64bits(float64(distance)) << 1 >> (53 - c.axis.bits))
}

// cell returns the cell that a count belongs to.
func (c *counter) cell(k int) uint32 {
	switch {
	case !c.floats:
		return uint32(k)
	case k == 0:
		return 0
	}
	return c.axis.Cell(int64(math.Float64frombits(uint64(c.first+int64(k)) << (52 - c.axis.bits))))
}

// count counts one vector.
func (c *counter) count(counts []uint32, x []int64) {
	switch {
	case c.floats:
		countSteps(counts, x, c.centre, 53-c.axis.bits, c.first, int64(c.size))
	case c.axis.bits == 63 && c.centre == nil:
		countEven(counts, x, c.axis.shift, c.axis.first, c.axis.cells)
	case c.axis.bits == 63:
		countEvenDistances(counts, x, c.centre, c.axis.shift, c.axis.first, c.axis.cells)
	default:
		c.countAny(counts, x)
	}
}

// countSteps counts the steps of distances; those beyond the steps count as the nearest.
func countSteps(counts []uint32, x, centre []int64, drop uint, first, size int64) {
	centre = centre[:len(x)]
	at := int64(0)
	for j, v := range x {
		k := int64(math.Float64bits(float64(v-centre[j]))<<1>>(drop&63)) - first
		if uint64(k) >= uint64(size) {
			k = nearest(k, size)
		}
		counts[at+k]++
		at += size
	}
}

// countEven counts the cells of values, all of one width.
func countEven(counts []uint32, x []int64, shift uint, first, size int64) {
	at := int64(0)
	for _, v := range x {
		k := v>>(shift&63) - first
		if uint64(k) >= uint64(size) {
			k = nearest(k, size)
		}
		counts[at+k]++
		at += size
	}
}

// countEvenDistances counts the cells of distances, all of one width.
func countEvenDistances(counts []uint32, x, centre []int64, shift uint, first, size int64) {
	centre = centre[:len(x)]
	at := int64(0)
	for j, v := range x {
		k := distance(v, centre[j])>>(shift&63) - first
		if uint64(k) >= uint64(size) {
			k = nearest(k, size)
		}
		counts[at+k]++
		at += size
	}
}

// countAny counts cells of any kind.
func (c *counter) countAny(counts []uint32, x []int64) {
	at := 0
	for j, v := range x {
		if c.centre != nil {
			v = distance(v, c.centre[j])
		}
		counts[at+int(c.axis.Cell(v))]++
		at += c.size
	}
}

// nearest brings k into 0 to size−1.
func nearest(k, size int64) int64 { return min(max(k, 0), size-1) }
