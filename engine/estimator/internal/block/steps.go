package block

import "math"

// steps says to which bins of a first level the distances between halves of powers of two belong,
// [2^e, 1.5·2^e) and [1.5·2^e, 2^(e+1)). So many distances are counted fast, by exponent and first
// bit of floating-point numbers.
type steps [1 << 7]int

// newSteps returns nil where a first level has bins that are no unions of steps, or no distances,
// or reaches beyond 2^53: up to there conversion is exact, and what is beyond does not come below
// it.
func newSteps(l *level) *steps {
	axis, shift := l.axis, uint(l.shifts[0])
	if l.centre == nil || shift > axis.bits || axis.bits-shift > 1 || axis.lo != 0 || axis.hi > 1<<53 {
		return nil
	}
	s := new(steps)
	for k := 2; k < len(s); k++ {
		v := math.Ldexp(2+float64(k&1), k/2-2)
		s[k] = int(axis.cell(int64(min(v, float64(axis.hi)))) >> shift)
	}
	return s
}

// stepOf returns the step of a difference: 2(e+1) and the bit after the first one of its distance
// from 0, which itself is step 0. The exponent of four times a number is 1025+e, and 1025 is 1 but
// for multiples of 64.
func stepOf(difference int64) uint64 {
	return math.Float64bits(4*float64(difference)) >> 51 & (1<<7 - 1)
}

// countSteps counts four vectors.
func countSteps(counts []uint32, centre, x, y, z, t []int64) {
	y, z, t, centre = y[:len(x)], z[:len(x)], t[:len(x)], centre[:len(x)]
	for j, v := range x {
		c, bins := centre[j], (*[len(steps{})]uint32)(counts)
		counts = counts[len(bins):]
		bins[stepOf(v-c)]++
		bins[stepOf(y[j]-c)]++
		bins[stepOf(z[j]-c)]++
		bins[stepOf(t[j]-c)]++
	}
}

// fold adds up the counts of the steps in each of size bins.
func (s *steps) fold(counts []uint32, size int) []uint32 {
	out := make([]uint32, len(counts)/len(s)*size)
	for to := out; len(to) > 0; to, counts = to[size:], counts[len(s):] {
		for k, bin := range s {
			to[bin] += counts[k]
		}
	}
	return out
}
