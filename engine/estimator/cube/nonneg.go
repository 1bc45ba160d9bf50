package cube

import "math"

// Fit says how NonNegative ended.
type Fit struct {
	Rounds int
	// Mixed is the share of the even table that was mixed in, at last, to lift what was still under
	// 0: 0.001 at most where the rounds converged.
	Mixed float64
}

// Constants of NonNegative.
const (
	fitRounds = 5000
	fitMixed  = 1e-3
)

// NonNegative returns the answer that is nearest to a of those with no cell under 0 in any table of
// the cube's tops, and so in none of their marginals. Tables still add up to each other, and to the
// total of a, or 0 where that is less. It is post-processing. Standard errors are those of a: cells
// that are lifted have less noise, and a bias.
//
// Nearest: least Σ over B of ‖r_B − released r_B‖²/σ_B², the Gaussian likelihood, for the total as
// it was released. With prices λ_A ≥ 0 of the cells the best residuals are r_B = released + σ_B²·Σ_A
// E_ABᵀλ_A, E_AB the spreading of r_B over A; the prices rise against the cells under 0 by
// accelerated gradient steps with restarts. The step is exact: E_AB·E_ABᵀ is Π over A without B of
// 1/n_i times a projection, and the residuals' spaces are orthogonal, so the curvature is the
// largest over B of σ_B²·Σ over A ⊇ B of that.
//
// The rounds end where the mean cell of every table is 1,000 times what its least cell lacks.
func (a *Answer) NonNegative() (*Answer, Fit) {
	f := newFitting(a)
	if f.total == 0 {
		f.mix = 1
		f.lift()
		return &Answer{a.c, f.residuals, true}, Fit{Mixed: 1}
	}
	rounds := 0
	for f.mix = f.lack(); rounds < fitRounds && f.mix > fitMixed; rounds++ {
		f.step()
		f.mix = f.lack()
	}
	f.lift()
	return &Answer{a.c, f.residuals, true}, Fit{rounds, f.mix}
}

// fitting is the work of NonNegative.
type fitting struct {
	c         *Cube
	released  [][]float64
	residuals [][]float64 // at the prices ahead
	tables    [][]float64 // of the tops, from residuals
	prices    [][]float64 // of the cells of the tops
	ahead     [][]float64 // prices with momentum
	total     float64
	rate      float64 // of a step
	momentum  float64
	mix       float64
}

func newFitting(a *Answer) *fitting {
	c := a.c
	f := &fitting{c: c, released: a.residuals, total: max(0, a.residuals[0][0]), momentum: 1}
	for i, r := range a.residuals {
		f.residuals = append(f.residuals, make([]float64, len(r)))
		if i > 0 {
			f.rate = max(f.rate, f.curvature(c.sets[i]))
		}
	}
	f.rate = 1 / f.rate
	for _, s := range c.tops {
		f.prices = append(f.prices, make([]float64, c.Size(s)))
		f.ahead = append(f.ahead, make([]float64, c.Size(s)))
	}
	f.tables = make([][]float64, len(c.tops))
	f.reconstruct()
	return f
}

func (f *fitting) curvature(b Set) float64 {
	x := 0.0
	for _, s := range f.c.tops {
		if b.Within(s) {
			x += f.c.p.product(s&^b, func(n float64) float64 { return 1 / n })
		}
	}
	return x * f.c.variance[f.c.place[b]]
}

// reconstruct computes residuals and tables from the prices ahead.
func (f *fitting) reconstruct() {
	c := f.c
	for i, r := range f.released {
		copy(f.residuals[i], r)
	}
	for i, s := range c.tops {
		c.split(append([]float64(nil), f.ahead[i]...), 0, s, func(b Set, g []float64) {
			at := c.place[b]
			for j, x := range g {
				f.residuals[at][j] += c.variance[at] * x
			}
		})
	}
	f.residuals[0][0] = f.total
	for i, s := range c.tops {
		f.tables[i] = c.table(f.residuals, s)
	}
}

// step moves the prices. Momentum starts anew where it leads the wrong way.
func (f *fitting) step() {
	next := (1 + math.Sqrt(1+4*f.momentum*f.momentum)) / 2
	push, along := (f.momentum-1)/next, 0.0
	for i, table := range f.tables {
		for j, x := range table {
			old := f.prices[i][j]
			now := max(0, f.ahead[i][j]-f.rate*x)
			along += x * (now - old)
			f.prices[i][j], f.ahead[i][j] = now, now+push*(now-old)
		}
	}
	f.momentum = next
	if along > 0 {
		f.momentum = 1
		for i, p := range f.prices {
			copy(f.ahead[i], p)
		}
	}
	f.reconstruct()
}

// lack is the share of the even table that leaves no cell under 0 when it is mixed in.
func (f *fitting) lack() float64 {
	share := 0.0
	for _, table := range f.tables {
		least := 0.0
		for _, x := range table {
			least = min(least, x)
		}
		mean := f.total / float64(len(table))
		share = max(share, -least/(mean-least))
	}
	return share
}

// lift mixes in the even table, of which all residuals but the total are 0.
func (f *fitting) lift() {
	for _, r := range f.residuals[1:] {
		for j := range r {
			r[j] *= 1 - f.mix
		}
	}
}
