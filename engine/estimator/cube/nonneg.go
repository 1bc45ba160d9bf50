package cube

import "math"

// Fit says how NonNegative ended.
type Fit struct {
	Rounds int
	// Converged says that what is left to do is far below the noise.
	Converged bool
	// Mixed is the share of the even table that was mixed in, at last, to lift what was still under
	// 0.
	Mixed float64
}

// Constants of NonNegative.
const (
	fitRounds = 5000
	fitMixed  = 1e-3
	fitMoved  = 0.02 // standard errors
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
// The rounds end where no cell is further from what the optimum asks, to be at least 0, and to be 0
// where it has a price, than a share of its table's mean cell. With that share of the even table
// mixed in no cell is under 0. It is a thousandth at most, and moves no cell of any table, of the
// total at most, by more than a fiftieth of a standard error.
func (a *Answer) NonNegative() (*Answer, Fit) {
	f := newFitting(a)
	if f.total == 0 {
		return f.lifted(1), Fit{Converged: true, Mixed: 1}
	}
	enough := fitMixed
	for _, s := range a.c.sets[1:] {
		enough = min(enough, fitMoved*a.c.StdErr(s)/f.total)
	}
	fit := Fit{Converged: f.off() <= enough}
	for ; fit.Rounds < fitRounds && !fit.Converged; fit.Rounds++ {
		f.step()
		fit.Converged = f.off() <= enough
	}
	fit.Mixed = f.lack()
	return f.lifted(fit.Mixed), fit
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
			f.prices[i][j], f.ahead[i][j] = now, max(0, now+push*(now-old))
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

// off is how far a cell is from what the optimum asks at most, in mean cells: under 0, or above it
// while it has a price that a step would not take away.
func (f *fitting) off() float64 {
	most := 0.0
	for i, table := range f.tables {
		each := float64(len(table)) / f.total
		for j, x := range table {
			most = max(most, max(-x, min(x, f.ahead[i][j]/f.rate))*each)
		}
	}
	return most
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

// lifted mixes in a share of the even table, of which all residuals but the total are 0.
func (f *fitting) lifted(share float64) *Answer {
	for _, r := range f.residuals[1:] {
		for j := range r {
			r[j] *= 1 - share
		}
	}
	return &Answer{f.c, f.residuals, true}
}
