package block

import (
	"math"
	"slices"

	"scrim/engine/estimator"
)

// scope says how one coordinate is counted: bucket k has the 2^width values from origin + k·2^width on. The limits of
// buckets are multiples of 2^width, as are those of intervals of an axis that are longer, but for intervals that start or end
// near 0.
type scope struct {
	centre int64
	origin int64
	width  uint
	kept   [buckets]bool // whether the values in a bucket are kept one by one
	share  float64       // of the values that are expected there
}

const (
	buckets       = 127  // so that those of some hundred coordinates, and one more each, stay near the core
	samplePersons = 8192 // most persons of a sample: one in sampleShare otherwise, but sampleLeast
	sampleShare   = 16
	sampleLeast   = 64
)

// bucket returns the number of a value's bucket, buckets or more where it is beyond them.
func (s *scope) bucket(v int64) uint64 { return uint64(v-s.origin) >> s.width }

// guess returns scopes for a search of medians. The buckets reach beyond the sample's values by a sixth of their range or
// more on either side. Kept are those where the median is likely, by the sample's, and those about 0.
func guess(b *estimator.Block, axis Axis, centre []int64) []scope {
	sample := newSample(b)
	scopes := make([]scope, b.Dim)
	spread(b.Dim, func(next func() (int, bool)) {
		values := make([]int64, len(sample))
		for j, ok := next(); ok; j, ok = next() {
			s := &scopes[j]
			for i, row := range sample {
				values[i] = row[j]
			}
			if centre != nil {
				s.centre = centre[j]
				for i, v := range values {
					values[i] = distance(v, s.centre)
				}
			}
			s.fit(values, axis.shift, centre != nil)
		}
	})
	return scopes
}

// fit sets the buckets from a sample. They are as wide as the smallest cell at least, and at most 2^56
// wide, with values within ±2^62: so no difference from the origin is taken for another.
func (s *scope) fit(sample []int64, width uint, nonnegative bool) {
	s.width = min(width, 56)
	if len(sample) == 0 {
		return
	}
	first, last := slices.Min(sample), slices.Max(sample)
	for uint64(last-first)>>s.width > buckets*3/4 {
		s.width++
	}
	s.origin = (first>>s.width - buckets/8) << s.width
	if nonnegative {
		s.origin = max(s.origin, 0)
	}
	if s.width == width { // a bucket is a cell
		return
	}
	var counts [buckets]int
	for _, v := range sample {
		counts[s.bucket(v)]++
	}
	s.keepMedian(&counts, len(sample))
	s.keep(-1, 0)
	kept := 0
	for k, c := range counts {
		if s.kept[k] {
			kept += c
		}
	}
	s.share = float64(kept) / float64(len(sample))
}

// keepMedian marks the buckets of the middle ranks of a sample of m, by 3 standard deviations of a rank and some more for noise.
func (s *scope) keepMedian(counts *[buckets]int, m int) {
	margin := 1 + m/128 + int(1.5*math.Sqrt(float64(m)))
	under := 0 // values of the sample in the buckets before k
	for k, c := range counts {
		s.kept[k] = under <= m/2+margin && under+c > m/2-margin
		under += c
	}
}

// keep marks the buckets of the values from lo to hi.
func (s *scope) keep(lo, hi int64) {
	last := s.origin + (buckets<<s.width - 1)
	if hi < s.origin || lo > last {
		return
	}
	for k := s.bucket(max(lo, s.origin)); k <= s.bucket(min(hi, last)); k++ {
		s.kept[k] = true
	}
}

// newSample returns the vectors of every k-th person.
func newSample(b *estimator.Block) [][]int64 {
	n := int(b.Persons())
	size := min(samplePersons, max(sampleLeast, n/sampleShare))
	step, at := max(1, n/size), 0
	var sample [][]int64
	for c := range b.Chunks {
		ch := &b.Chunks[c]
		for ; at < ch.Persons; at += step {
			sample = append(sample, ch.Dense[at*b.Dim:(at+1)*b.Dim])
		}
		at -= ch.Persons
	}
	return sample
}
