package vector

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/fork"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// NewWhitenedMean returns the private mean of one vector a person by [BDKU20] for an unknown
// covariance: the covariance at half of the loss (NewCovariance, from matched pairs unless
// o.ZeroMean, which is then about the pairs only), a linear map A that makes it about the identity,
// and the mean of A·x by refined clipping (coinpress, Params.Rounds) at the other half. Columns:
// Vector. It serves as a baseline: the papers compare with it, and their estimators do better from
// some tens of dimensions on.
//
// Params.SigmaMax is needed, Params.Radius helps. A is a released number; A·x is a map of one
// person, rounded to a lattice.
func NewWhitenedMean(p Params, o CovarianceOptions) (estimator.Estimator, error) {
	if err := p.checkCovariance(); err != nil {
		return nil, err
	}
	b := newBudget(p.Rho)
	count := newPersons(p, p.countLoss(b))
	c, err := newCovariance(p, o, b.take(b.left/2))
	if err != nil {
		return nil, err
	}
	w := whitened{p: p, c: c, rho: b.rest()}
	if w.refined, err = newCoinpress(w.image(1), w.rho); err != nil {
		return nil, err
	}
	return mean{p: p, count: count, core: w}, nil
}

// whitened is the core of NewWhitenedMean.
type whitened struct {
	p       Params
	c       covariance
	rho     float64
	refined coinpress // for needs and steps: its ball is not that of a release
}

func (w whitened) needs() int64 { return max(w.c.needs(), w.refined.needs()) }

func (w whitened) steps() []estimator.Step { return append(w.c.steps(), w.refined.steps()...) }

// imageBits bounds the lattice of A·x: within ±2^49, and no finer than 2^-24 of a spread.
const (
	imageBits = 49
	imageFine = 24
)

// image returns the parameters of the mean of A·x where ‖A·x‖ and each of its coordinates are at
// most largest.
func (w whitened) image(largest float64) Params {
	bits := min(imageBits-int(math.Ceil(math.Log2(largest))), imageFine)
	q := w.p
	q.Grid = estimator.Grid{Step: math.Ldexp(1, -bits), Lo: -1 << imageBits, Hi: 1 << imageBits}
	q.Lower, q.Upper, q.MaxRows = nil, nil, 1
	q.Sigma, q.Radius = []float64{1}, largest
	return q
}

// release implements core.
func (w whitened) release(n noise.Noiser, g group, count float64) estimator.Estimate {
	_, m := w.c.release(n, g, count)
	q := w.image(w.largest(m))
	refined, err := newCoinpress(q, w.rho)
	if err != nil {
		panic(err) // the constructor made one
	}
	return w.back(m, refined.release(n, w.mapped(g, m, q.Grid), count), g.shift)
}

// largest bounds ‖A·x‖ over the public range, or over the declared ball if that is smaller, at
// least one spread.
func (w whitened) largest(m whitening) float64 {
	lo, hi := scalar.Range(w.p.Params)
	x := scalar.Scale(w.p.Grid, float64(max(hi, -lo))) * math.Sqrt(float64(w.p.Dim))
	norm := 0.0 // Frobenius, at least the operator norm
	for _, v := range m.a.RawMatrix().Data {
		norm = math.Hypot(norm, v)
	}
	if r := w.p.Radius; r > 0 {
		x = min(x, r+w.p.SigmaMax*math.Sqrt(float64(w.p.Dim))*8)
	}
	return min(max(1, norm*x), 1e100)
}

// mapped returns A·x of every person on the lattice, clamped to its range. What is not a number
// counts as 0.
func (w whitened) mapped(g group, m whitening, grid estimator.Grid) group {
	unit := math.Ldexp(scalar.Scale(w.p.Grid, 1), -int(g.shift))
	out := &estimator.Block{Dim: g.Dim, Chunks: make([]estimator.Chunk, len(g.Chunks)), Memory: g.Memory}
	var all fork.Group
	for i := range g.Chunks {
		all.Go(func() {
			in := &g.Chunks[i]
			ch := estimator.Chunk{Persons: in.Persons, Dense: estimator.Make[int64](g.Memory, len(in.Dense))}
			x, y := make([]float64, g.Dim), make([]float64, g.Dim)
			for k := range in.Persons {
				for j, v := range in.Dense[k*g.Dim : (k+1)*g.Dim] {
					x[j] = float64(float64(v) * unit)
				}
				multiply(y, m.a, x)
				for j, v := range y {
					ch.Dense[k*g.Dim+j] = nearest(v/grid.Step, grid)
				}
			}
			out.Chunks[i] = ch
		})
	}
	all.Wait()
	return group{Block: out}
}

// nearest rounds to the lattice and clamps to its range.
func nearest(x float64, grid estimator.Grid) int64 {
	switch {
	case x != x:
		return 0
	case x >= float64(grid.Hi):
		return grid.Hi
	case x <= float64(grid.Lo):
		return grid.Lo
	}
	return int64(math.RoundToEven(x))
}

// back maps the mean of A·x and the deviations of its noise to the values' space.
func (w whitened) back(m whitening, y estimator.Estimate, shift uint) estimator.Estimate {
	d := w.p.Dim
	unit := math.Ldexp(1/scalar.Scale(w.p.Grid, 1), int(shift))
	x, sigma := make([]float64, d), make([]float64, d)
	multiply(x, m.inverse, y.Values)
	for j := range d {
		x[j] *= unit
		for k, v := range m.inverse.RawRowView(j) {
			sigma[j] = math.Hypot(sigma[j], v*y.StdErr[k]*unit)
		}
	}
	e := w.p.estimate(group{shift: shift}, x, sigma)
	e.Error.Tied = true
	return e
}
