package collections

import (
	"container/heap"
	"math/bits"
)

// seat is a place that tokens are issued for.
type seat struct {
	place place
	quota uint64 // planned contributors
	taken uint64 // tokens issued
}

// apportion assigns n further tokens to seats, each to the one that is furthest behind its quota: the seat with the
// least (2 taken + 1)/quota, the first of equals (Sainte-Laguë). Whenever the number of tokens is a multiple of
// the sum of quotas over their greatest common divisor, every seat has exactly its share; at n_expected tokens,
// exactly its quota.
// It returns how many tokens each seat has got, and adds them to taken. Seats without a quota get none.
func apportion(seats []seat, n uint64) []uint64 {
	got := make([]uint64, len(seats))
	q := &queue{seats: seats}
	for i, s := range seats {
		if s.quota > 0 {
			q.order = append(q.order, i)
		}
	}
	if len(q.order) == 0 {
		return got
	}
	heap.Init(q)
	for ; n > 0; n-- {
		i := q.order[0]
		seats[i].taken++
		got[i]++
		heap.Fix(q, 0)
	}
	return got
}

// queue orders seats by how far they are behind.
type queue struct {
	seats []seat
	order []int
}

func (q *queue) Len() int { return len(q.order) }

// Less compares (2a+1)/qa with (2b+1)/qb in 128 bits.
func (q *queue) Less(i, j int) bool {
	a, b := q.seats[q.order[i]], q.seats[q.order[j]]
	ah, al := bits.Mul64(2*a.taken+1, b.quota)
	bh, bl := bits.Mul64(2*b.taken+1, a.quota)
	if ah != bh || al != bl {
		return ah < bh || ah == bh && al < bl
	}
	return q.order[i] < q.order[j]
}

func (q *queue) Swap(i, j int) { q.order[i], q.order[j] = q.order[j], q.order[i] }
func (q *queue) Push(any)      { panic("collections: seats are not added") }
func (q *queue) Pop() any      { panic("collections: seats are not removed") }
