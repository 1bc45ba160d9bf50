package block

import (
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"scrim/engine/estimator"
)

// view holds what one reading of the block tells of one coordinate's values, or distances: how many are in each
// bucket of a scope; those themselves that are beyond the buckets; and those in buckets that are kept. From this it can say how many
// are under any number that is a limit of a bucket, or beyond them all, or in a bucket that is kept.
type view struct {
	scope
	less [buckets + 1]int64 // less[k] values are in the buckets before k
	far  []int64            // in ascending order
	near [][]int64          // in kept buckets, by core
}

// look reads the block once and returns a view of each coordinate.
func look(b *estimator.Block, axis Axis, centre []int64) []view {
	views := make([]view, b.Dim)
	for j, s := range guess(b, axis, centre) {
		views[j].scope = s
	}
	rs, cores := runs(b), float64(runtime.GOMAXPROCS(0))
	var mu sync.Mutex
	spread(len(rs), func(next func() (int, bool)) {
		own := newTally(views, float64(b.Persons())/cores)
		for k, ok := next(); ok; k, ok = next() {
			own.makeRoom()
			own.add(rs[k].rows(b.Dim), centre != nil)
		}
		mu.Lock()
		defer mu.Unlock()
		own.addTo(views)
	})
	spread(len(views), func(next func() (int, bool)) {
		for j, ok := next(); ok; j, ok = next() {
			v := &views[j]
			for k := range buckets {
				v.less[k+1] += v.less[k]
			}
			slices.Sort(v.far)
		}
	})
	return views
}

// under returns the number of values under limit, and whether it is known.
func (v *view) under(limit int64) (int64, bool) {
	k, _ := slices.BinarySearch(v.far, limit)
	n := int64(k)
	if limit <= v.origin {
		return n, true
	}
	bucket := v.bucket(limit)
	if bucket >= buckets {
		return n + v.less[buckets], true
	}
	n += v.less[bucket]
	start := v.origin + int64(bucket<<v.width)
	if start == limit {
		return n, true
	}
	if !v.kept[bucket] {
		return 0, false
	}
	for _, near := range v.near {
		for _, x := range near {
			if x >= start && x < limit {
				n++
			}
		}
	}
	return n, true
}

// values returns the values from ≤ x < to, and whether they are known: whether their buckets are all kept.
func (v *view) values(from, to int64) ([]int64, bool) {
	first, last := v.bucket(from), v.bucket(to-1)
	if from < v.origin || last >= buckets {
		return nil, false
	}
	for k := first; k <= last; k++ {
		if !v.kept[k] {
			return nil, false
		}
	}
	out, n := make([]int64, v.less[last+1]-v.less[first]+1), 0
	for _, near := range v.near {
		for _, x := range near { // without a branch: the last one may be overwritten
			out[n] = x
			n += below(uint64(x-from), uint64(to-from))
		}
	}
	return out[:n], true
}

// below is 1 where a < b and 0 otherwise.
func below(a, b uint64) int {
	_, less := bits.Sub64(a, b, 0)
	return int(less)
}
