package groups

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// countsOf returns the release of the counts alone at loss rho; nil if there are none.
func countsOf(p Params, rho float64) *release {
	q := p
	q.Rho, q.Aggregates = rho, nil
	for _, a := range p.Aggregates {
		if a.Measure.count() {
			q.Aggregates = append(q.Aggregates, a)
		}
	}
	if len(q.Aggregates) == 0 {
		return nil
	}
	r := build(q)
	return &r
}

// few answers where there are too few persons for sums and means: counts alone, at the loss of the
// sum, which is then not taken. That it comes to this is known from released numbers.
func (r release) few(n noise.Noiser, in *estimator.Block, needed int64) estimator.Estimate {
	size := len(r.p.Aggregates)
	e := scalar.TooFew(r.p.Groups*size, needed)
	if r.counts == nil {
		return e
	}
	e = r.blank()
	e.Needed = needed
	e.Error.Cut = make([]estimator.Cut, len(e.Values))
	for j := range e.Values {
		e.Values[j], e.StdErr[j] = math.NaN(), math.NaN()
	}
	own := r.counts.Release(n, estimator.Input{Vectors: r.layout.counts(in, r.counts.layout)})
	if own.Status != estimator.OK {
		return scalar.TooFew(r.p.Groups*size, max(needed, own.Needed))
	}
	at := 0
	for k, a := range r.p.Aggregates {
		if !a.Measure.count() {
			continue
		}
		for g := range r.p.Groups {
			from := g*len(r.counts.p.Aggregates) + at
			e.Values[g*size+k], e.StdErr[g*size+k] = own.Values[from], own.StdErr[from]
			if e.Error.Noise != nil {
				e.Error.Noise[g*size+k], e.Error.Raw[g*size+k] = own.StdErr[from], own.Values[from]
			}
			e.Error.Cut[g*size+k] = own.Error.Cut[from]
		}
		at++
	}
	return e
}

// counts returns the entries of the counts' columns in their own layout: a map of one person at a
// time.
func (l layout) counts(b *estimator.Block, own layout) *estimator.Block {
	var columns []int
	for _, p := range l.parts {
		if p.Measure.count() {
			columns = append(columns, p.first)
		}
	}
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
