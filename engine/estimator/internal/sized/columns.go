package sized

import (
	"cmp"
	"math/bits"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
)

// Columns returns an input of columns with exactly in.Persons persons, all present, if p is Sized,
// and in as it is otherwise. kinds are those of the columns, of which the first is estimator.Rows
// or estimator.Value. Nothing is written in the input; where it has to be changed, the columns are
// new ones in in.Memory.
func Columns(p estimator.Params, kinds []estimator.Kind, in estimator.Input) estimator.Input {
	if !p.Sized {
		return in
	}
	in.Persons = max(in.Persons, 0)
	if have := present(kinds[0], in.Columns[0]); have != int(in.Persons) || len(in.Columns[0]) != have {
		in.Columns = exactly(p, kinds, in)
	}
	return in
}

// present returns the number of entries that are persons. A value is always one.
func present(kind estimator.Kind, first []int64) int {
	if kind == estimator.Rows {
		return int(scalar.Present(first))
	}
	return len(first)
}

// exactly is Columns for an input that has to be changed.
func exactly(p estimator.Params, kinds []estimator.Kind, in estimator.Input) [][]int64 {
	n := int(in.Persons)
	order := estimator.Make[int](in.Memory, len(in.Columns[0]))[:0]
	for i, m := range in.Columns[0] {
		if m > 0 || kinds[0] != estimator.Rows {
			order = append(order, i)
		}
	}
	kept := order
	if len(order) > n {
		slices.SortFunc(order, func(a, b int) int {
			for _, c := range in.Columns {
				if d := cmp.Compare(c[a], c[b]); d != 0 {
					return d
				}
			}
			return 0
		})
		kept = order[:n]
	}
	out := make([][]int64, len(in.Columns))
	for k, c := range in.Columns {
		out[k] = estimator.Make[int64](in.Memory, n)
		for i, at := range kept {
			out[k][i] = c[at]
		}
		for i := len(kept); i < n; i++ {
			out[k][i] = entry(p, kinds[k])
		}
	}
	return out
}

// entry is a column of the public entry.
func entry(p estimator.Params, kind estimator.Kind) int64 {
	v := value(p)
	switch kind {
	case estimator.Rows:
		return 1
	case estimator.SumSquaresHi, estimator.SumSquaresLo:
		return half(v, v, kind == estimator.SumSquaresHi)
	case estimator.OtherSum:
		return value(p.OfOther())
	case estimator.OtherSquaresHi, estimator.OtherSquaresLo:
		w := value(p.OfOther())
		return half(w, w, kind == estimator.OtherSquaresHi)
	case estimator.ProductsHi, estimator.ProductsLo:
		return half(v, value(p.OfOther()), kind == estimator.ProductsHi)
	}
	return v
}

// half returns the high or the low 64 bits of v·w, in two's complement.
func half(v, w int64, high bool) int64 {
	hi, lo := bits.Mul64(uint64(v), uint64(w))
	if v < 0 {
		hi -= uint64(w)
	}
	if w < 0 {
		hi -= uint64(v)
	}
	if high {
		return int64(hi)
	}
	return int64(lo)
}

// value is the value of the public entry's row, in grid steps.
func value(p estimator.Params) int64 {
	lo, hi := scalar.Range(p)
	if p.Bounded() {
		return lo + (hi-lo)/2
	}
	return min(max(lo, 0), hi)
}
