package shuffler

import (
	"container/heap"
	"math/bits"
)

// share is a place that tokens are issued for.
type share struct {
	place place
	quota uint64 // planned contributors
	taken uint64 // tokens issued
}

// apportion assigns n further tokens, each to the share that is furthest behind its quota: the one with the least
// (2 taken + 1)/quota, the first of equals (Sainte-Laguë). At n_expected tokens each has exactly its quota. It
// returns how many each has got, and adds them to taken. Shares without a quota get none.
func apportion(shares []share, n uint64) []uint64 {
	got := make([]uint64, len(shares))
	q := &behind{shares: shares}
	for i, s := range shares {
		if s.quota > 0 {
			q.order = append(q.order, i)
		}
	}
	heap.Init(q)
	for ; n > 0 && len(q.order) > 0; n-- {
		i := q.order[0]
		shares[i].taken++
		got[i]++
		heap.Fix(q, 0)
	}
	return got
}

// behind is a heap of shares with a quota, the one furthest behind first.
type behind struct {
	shares []share
	order  []int
}

func (q *behind) Len() int { return len(q.order) }

// Less compares (2a+1)/qa with (2b+1)/qb in 128 bits.
func (q *behind) Less(i, j int) bool {
	a, b := q.shares[q.order[i]], q.shares[q.order[j]]
	ah, al := bits.Mul64(2*a.taken+1, b.quota)
	bh, bl := bits.Mul64(2*b.taken+1, a.quota)
	if ah != bh || al != bl {
		return ah < bh || ah == bh && al < bl
	}
	return q.order[i] < q.order[j]
}

func (q *behind) Swap(i, j int) { q.order[i], q.order[j] = q.order[j], q.order[i] }
func (q *behind) Push(any)      { panic("shuffler: shares are not added") }
func (q *behind) Pop() any      { panic("shuffler: shares are not removed") }
