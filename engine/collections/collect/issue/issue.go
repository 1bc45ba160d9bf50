// Package issue is what whoever issues one-time tokens of collections needs: the server, or the
// shuffler.
package issue

import (
	"container/heap"
	"crypto/rand"
	"math/bits"

	"scrim/engine/collections/collect/exact"
)

// TokenSize is the bytes of a token.
const TokenSize = 16

// Most bounds the tokens of one call.
const Most = 2_000_000

// Token is one person's right to report once, in one place. Whoever takes it keeps its hash only.
type Token struct {
	Secret  [TokenSize]byte
	Round   int
	Cell    uint32
	Stratum string
}

// Seat is a place, of whatever kind, that tokens are issued for.
type Seat[P any] struct {
	Place P
	Quota uint64 // planned contributors
	Taken uint64 // tokens issued
}

// Apportion assigns n further tokens to seats, each to the one that is furthest behind its quota:
// the seat with the least (2 Taken + 1)/Quota, the first of equals (Sainte-Laguë). Whenever the
// number of tokens is a multiple of the sum of quotas over their greatest common divisor, every
// seat has exactly its share; at n_expected tokens, exactly its quota. It returns how many tokens
// each seat has got, and adds them to Taken. Seats without a quota get none.
func Apportion[P any](seats []Seat[P], n uint64) []uint64 {
	got := make([]uint64, len(seats))
	q := &queue[P]{seats: seats}
	for i, s := range seats {
		if s.Quota > 0 {
			q.order = append(q.order, i)
		}
	}
	if len(q.order) == 0 {
		return got
	}
	heap.Init(q)
	for ; n > 0; n-- {
		i := q.order[0]
		seats[i].Taken++
		got[i]++
		heap.Fix(q, 0)
	}
	return got
}

// queue orders seats by how far they are behind.
type queue[P any] struct {
	seats []Seat[P]
	order []int
}

func (q *queue[P]) Len() int { return len(q.order) }

// Less compares (2a+1)/qa with (2b+1)/qb in 128 bits.
func (q *queue[P]) Less(i, j int) bool {
	a, b := q.seats[q.order[i]], q.seats[q.order[j]]
	ah, al := bits.Mul64(2*a.Taken+1, b.Quota)
	bh, bl := bits.Mul64(2*b.Taken+1, a.Quota)
	if ah != bh || al != bl {
		return ah < bh || ah == bh && al < bl
	}
	return q.order[i] < q.order[j]
}

func (q *queue[P]) Swap(i, j int) { q.order[i], q.order[j] = q.order[j], q.order[i] }
func (q *queue[P]) Push(any)      { panic("issue: seats are not added") }
func (q *queue[P]) Pop() any      { panic("issue: seats are not removed") }

// Draw makes counts[i] tokens for seat i, for every seat, and puts them into random order. token
// says where a seat's tokens report; their secrets are the operating system's.
func Draw[P any](seats []Seat[P], counts []uint64, token func(P) Token) []Token {
	var out []Token
	for i, s := range seats {
		for range counts[i] {
			t := token(s.Place)
			rand.Read(t.Secret[:]) // never fails: it ends the program instead
			out = append(out, t)
		}
	}
	exact.Secure().Permute(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
