package friendly

import (
	"runtime"
	"sync"
	"sync/atomic"

	"scrim/engine/estimator/internal/fork"
)

// side is the number of persons on either side of a tile: the vectors of two sides stay near to a
// core.
const side = 32

// counts returns how many friends everyone has, oneself included. Pairs are taken once, in tiles,
// on all cores; counts are whole numbers, so neither the order of persons nor the number of cores
// matters.
func (p *points) counts() []int32 {
	n := len(p.rows)
	total := make([]int32, n)
	tiles := (n + side - 1) / side
	var mu sync.Mutex
	spread(tiles*(tiles+1)/2, func(next func() (int, bool)) {
		own := make([]int32, n)
		for t, ok := next(); ok; t, ok = next() {
			row, column := place(t)
			p.tile(own, row*side, column*side)
		}
		mu.Lock()
		defer mu.Unlock()
		for i, c := range own {
			total[i] += c
		}
	})
	return total
}

// place returns the row and column ≤ row of tile t, counted row by row.
func place(t int) (row, column int) {
	for row = 0; t > row; row++ {
		t -= row + 1
	}
	return row, t
}

// tile counts the pairs of the persons from i on with those from k ≤ i on.
func (p *points) tile(own []int32, i, k int) {
	for a := i; a < min(i+side, len(p.rows)); a++ {
		for b := k; b < min(k+side, a); b++ {
			if p.friends(a, b) {
				own[a]++
				own[b]++
			}
		}
		if i == k {
			own[a]++
		}
	}
}

// spread calls work on every core with a source of the numbers under n, each given out once.
func spread(n int, work func(next func() (int, bool))) {
	var at atomic.Int64
	next := func() (int, bool) {
		i := int(at.Add(1) - 1)
		return i, i < n
	}
	var all fork.Group
	for range min(runtime.GOMAXPROCS(0), n) {
		all.Go(func() { work(next) })
	}
	all.Wait()
}

// each calls work for the numbers under n, several at a time.
func each(n int, work func(i int)) {
	spread(n, func(next func() (int, bool)) {
		for i, ok := next(); ok; i, ok = next() {
			work(i)
		}
	})
}
