package cube

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
	"strings"
)

// Set is a set of dimensions: bit i stands for dimension i. Tables of a set are in row-major order
// of its dimensions, the last one fastest.
type Set uint32

// Of returns the set of the dimensions given.
func Of(dims ...int) Set {
	s := Set(0)
	for _, i := range dims {
		s |= 1 << i
	}
	return s
}

// Has reports whether dimension i is in the set.
func (s Set) Has(i int) bool { return s>>i&1 == 1 }

// Within reports whether all dimensions of s are in t.
func (s Set) Within(t Set) bool { return s&^t == 0 }

// Len is the number of dimensions in the set.
func (s Set) Len() int { return bits.OnesCount32(uint32(s)) }

// Dims yields the dimensions of the set in rising order.
func (s Set) Dims() iter.Seq[int] {
	return func(yield func(int) bool) {
		for left := s; left != 0; left &= left - 1 {
			if !yield(bits.TrailingZeros32(uint32(left))) {
				return
			}
		}
	}
}

// Subsets yields all subsets of s, itself first and the empty one last.
func (s Set) Subsets() iter.Seq[Set] {
	return func(yield func(Set) bool) {
		for t := s; yield(t) && t != 0; t = (t - 1) & s {
		}
	}
}

// names lists the dimensions' names, for messages.
func (s Set) names(dims []Dimension) string {
	var names []string
	for i := range s.Dims() {
		names = append(names, dims[i].Name)
	}
	return strings.Join(names, ", ")
}

// Ways returns the marginals of one up to ways of d dimensions, each of weight 1; none where d is
// more than New takes.
func Ways(d, ways int) []Marginal {
	var out []Marginal
	if d > MaxDimensions {
		return nil
	}
	for s := range Of(upTo(d)...).Subsets() {
		if n := s.Len(); n > 0 && n <= ways {
			out = append(out, Marginal{s, 1})
		}
	}
	slices.SortFunc(out, func(a, b Marginal) int { return order(a.Set, b.Set) })
	return out
}

// order puts sets of fewer dimensions first.
func order(a, b Set) int { return cmp.Or(cmp.Compare(a.Len(), b.Len()), cmp.Compare(a, b)) }

func upTo(d int) []int {
	dims := make([]int, d)
	for i := range dims {
		dims[i] = i
	}
	return dims
}
