// Package firstpasstest has what tests of secret matchings and coins share: the coupling of the
// matchings of two neighbours, and the secret bits with which firstpass.Match draws a given one,
// and firstpass.Toss given coins. It is for tests only.
package firstpasstest

import (
	"math/big"
	"math/rand/v2"
	"slices"
)

// Couple turns an order of persons, of whom consecutive ones form groups and the last are left
// over, into one of all but person gone, so that at most one group differs:
// docs/proofs/matching.md. Persons after gone move up by one.
func Couple(order []int32, size int, gone int32) []int32 {
	o := slices.Clone(order)
	n := len(o)
	at := slices.Index(o, gone)
	// nobody is left over: the group of gone becomes the last, and what remains of it is left over
	if n%size == 0 {
		from, last := at/size*size, n-size
		for k := range size {
			o[from+k], o[last+k] = o[last+k], o[from+k]
		}
		at = last + at - from
	}
	// one who is left over, or a member of the group that is no more, takes the place
	o[at] = o[n-1]
	o = o[:n-1]
	for i, v := range o {
		if v > gone {
			o[i]--
		}
	}
	return o
}

// Words returns the words with which firstpass.Match draws the given groups of persons: it inverts
// its choices.
func Words(groups []int32, persons int) []uint64 {
	order, words := make([]int32, persons), []uint64{}
	for i := range order {
		order[i] = int32(i)
	}
	for i, want := range groups {
		j := i
		for order[j] != want {
			j++
		}
		order[i], order[j] = order[j], order[i]
		words = append(words, middleWord(uint64(j-i), uint64(persons-i)))
	}
	return words
}

// middleWord is a word for which firstpass.Below gives k of m.
func middleWord(k, m uint64) uint64 {
	w := new(big.Int).Lsh(big.NewInt(int64(2*k+1)), 63)
	return w.Quo(w, big.NewInt(int64(m))).Uint64()
}

// Matchings returns the words of a random matching of persons in groups of a size, and those of the
// matching of all but person gone that is coupled to it; twice the same where gone < 0.
func Matchings(r *rand.Rand, size, persons, gone int) (full, less []uint64) {
	order := make([]int32, persons)
	for i, v := range r.Perm(persons) {
		order[i] = int32(v)
	}
	full = Words(order[:persons/size*size], persons)
	if gone < 0 {
		return full, full
	}
	rest := Couple(order, size, int32(gone))
	return full, Words(rest[:len(rest)/size*size], len(rest))
}

// Coins returns the words from which firstpass.Toss makes these coins.
func Coins(coins []uint32) []uint64 {
	words := make([]uint64, (len(coins)+1)/2)
	for i, c := range coins {
		words[i/2] |= uint64(c) << (32 * (i % 2))
	}
	return words
}

// Kept returns the words by which these persons are kept, by coins of which so many sides keep.
func Kept(keep []bool, sides uint64) []uint64 {
	coins := make([]uint32, len(keep))
	for i, k := range keep {
		coins[i] = uint32(sides)
		if k {
			coins[i]--
		}
	}
	return Coins(coins)
}
