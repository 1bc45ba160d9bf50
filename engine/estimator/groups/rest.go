package groups

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// Where there are too few persons for all that is asked, what is wanted less is left out: means,
// whose centres need most, then sums, and counts are told wherever norms stand out.

// restOf returns the release of what is left at loss rho; nil if nothing is. It uses the number of
// persons that is released already.
func restOf(p Params, rho float64) *release {
	kept := func(keep func(Measure) bool) []Aggregate {
		var out []Aggregate
		for _, a := range p.Aggregates {
			if keep(a.Measure) {
				out = append(out, a)
			}
		}
		return out
	}
	of := kept(func(m Measure) bool { return !m.mean() })
	if len(of) == len(p.Aggregates) {
		of = kept(Measure.count)
	}
	if len(of) == 0 || len(of) == len(p.Aggregates) {
		return nil
	}
	p.Rho, p.Aggregates = rho, of
	r := build(p, true)
	return &r
}

// leftOut reports whether a release of the rest has no place for an aggregate.
func (r release) leftOut(m Measure) bool {
	return m.mean() || !m.count() && !r.counting
}

// few answers where there are too few persons for sums and means: the rest alone, at the loss of
// the sum, which is then not taken. That it comes to this is known from released numbers. count is
// the released number of persons.
//
// Under replace-one a person who comes or goes costs half of Rho for that number, and half of each
// other step at most: of the steps before, and, in place of the sum, of the rest's.
func (r release) few(n noise.Noiser, in *estimator.Block, count float64, needed int64) estimator.Estimate {
	size := len(r.p.Aggregates)
	if r.rest == nil {
		return scalar.TooFew(r.p.Groups*size, needed)
	}
	e := r.blank()
	e.Needed = needed
	e.Error.Cut = make([]estimator.Cut, len(e.Values))
	for j := range e.Values {
		e.Values[j], e.StdErr[j] = math.NaN(), math.NaN()
	}
	own := r.rest.of(n, r.layout.rest(in, *r.rest), count)
	if own.Status != estimator.OK {
		return scalar.TooFew(r.p.Groups*size, max(needed, own.Needed))
	}
	at := 0
	for k, a := range r.p.Aggregates {
		if r.rest.leftOut(a.Measure) {
			continue
		}
		for g := range r.p.Groups {
			from, to := g*len(r.rest.p.Aggregates)+at, g*size+k
			e.Values[to], e.StdErr[to] = own.Values[from], own.StdErr[from]
			if e.Error.Noise != nil {
				e.Error.Noise[to], e.Error.Raw[to] = own.StdErr[from], own.Values[from]
			}
			e.Error.Cut[to] = own.Error.Cut[from]
		}
		at++
	}
	return e
}

// rest returns the entries of the rest's columns in their own layout: a map of one person at a
// time.
func (l layout) rest(b *estimator.Block, r release) *estimator.Block {
	var columns []int
	for _, p := range l.parts {
		if !r.leftOut(p.Measure) {
			columns = append(columns, p.first)
		}
	}
	own := r.layout
	out := &estimator.Block{Dim: own.dim, Sparse: true, Chunks: make([]estimator.Chunk, len(b.Chunks)), Memory: b.Memory}
	x := make([]int64, l.width)
	for k := range b.Chunks {
		from, to := &b.Chunks[k], &out.Chunks[k]
		to.Persons, to.Starts = from.Persons, estimator.Make[int](b.Memory, from.Persons+1)[:1]
		put := func(g int, x []int64) {
			for c, column := range columns {
				if v := x[column]; v != 0 {
					to.Index = append(estimator.Grow(b.Memory, to.Index, 1), int32(g*own.width+c))
					to.Values = append(estimator.Grow(b.Memory, to.Values, 1), v)
				}
			}
		}
		for i := range from.Persons {
			l.groups(block.Person{Chunk: from, I: i}, x, put)
			to.Starts = append(to.Starts, len(to.Index))
		}
	}
	return out
}
