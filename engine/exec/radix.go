package exec

import (
	"math/bits"
	"slices"
)

// digitBits is the size of the digits by which keys are sorted: the counts of one digit then fit
// into the nearest cache.
const digitBits = 11

// sortKeys sorts in place, with room for as many keys, by counting: one pass for each digit of the
// largest key, or by comparison where there are fewer keys than a digit has values.
func sortKeys(keys, room []uint64) {
	if len(keys) < 1<<digitBits {
		slices.Sort(keys)
		return
	}
	from, to := keys, room
	for shift := 0; shift < bits.Len64(slices.Max(keys)); shift += digitBits {
		scatterDigit(to, from, shift)
		from, to = to, from
	}
	if &from[0] != &keys[0] {
		copy(keys, from)
	}
}

// scatterDigit sorts by one digit and leaves equal digits in order.
func scatterDigit(dst, src []uint64, shift int) {
	var at [1 << digitBits]int
	for _, k := range src {
		at[k>>shift&(1<<digitBits-1)]++
	}
	n := 0
	for d, c := range at {
		at[d], n = n, n+c
	}
	for _, k := range src {
		d := k >> shift & (1<<digitBits - 1)
		dst[at[d]] = k
		at[d]++
	}
}
