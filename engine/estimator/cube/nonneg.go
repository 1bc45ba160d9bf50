package cube

import "math"

// Fit says how NonNegative ended.
type Fit struct {
	Rounds int
	// Converged says that what is left to do is far below the noise. Else there were too many cells
	// for the rounds that are made, or too few persons: a reader is better served by what was
	// released.
	Converged bool
	// Mixed is the share of the even table that was mixed in, at last, to lift what was still under
	// 0.
	Mixed float64
}

// Constants of NonNegative.
const (
	fitRounds = 3000
	fitWork   = 1 << 30 // cells in all rounds together: a minute or so
	fitCheck  = 10      // rounds from one look at what is left to the next
	fitMixed  = 1e-3
	fitMoved  = 0.02 // standard errors
	// fitStiff is what the variance of a residual is multiplied by for each dimension that it has
	// less than the largest table with it. Cells of large tables that are nearly empty are lifted
	// from under 0 more often than they are lowered, and what lifts them is taken from the full
	// ones. With the variances as they are, tables of one dimension, which add up hundreds of such
	// cells, had 2.8 times their error (30,000 persons in eight dimensions, three ways); with 0.3
	// they have 1.1 times that, and larger tables less than before. Below 0.1 the rounds become too
	// many.
	fitStiff = 0.3
	relaxed  = 1.7 // over-relaxation
)

// NonNegative returns the answer that is nearest to a of those with no cell under 0 in any table of
// the cube's tops, and so in none of their marginals. Tables still add up to each other, and to the
// total of a, or 0 where that is less. It is post-processing. Standard errors are those of a: cells
// that are lifted have less noise, and a bias.
//
// Nearest: least Σ over B of ‖r_B − released r_B‖²/g_B for the total as it was released, g_B the
// variance of r_B, the mean one along dimensions of ranges, times a power of fitStiff. It is solved
// by alternating directions: the tables are those of some residuals, and they are not negative, in
// turn. Each residual has a closed form, since those of different sets are orthogonal in every
// table, and spreading r_B over A multiplies its squared length by Π over A without B of 1/n_i.
//
// The multipliers λ ≥ 0 of the cells give residuals r_B = released + g_B·Σ_A E_ABᵀλ_A, E_AB the
// spreading. The rounds end where no cell of their tables is further from what the optimum asks, to
// be at least 0, and to be 0 where it has a multiplier, than a share of its table's mean cell. With
// that share of the even table mixed in no cell is under 0. It is a thousandth at most, and moves
// no cell of any table, of the total at most, by more than a fiftieth of a standard error.
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
	for most := min(fitRounds, fitWork/int(a.c.Cells())); fit.Rounds < most && !fit.Converged; fit.Rounds += fitCheck {
		for range fitCheck {
			f.step()
		}
		f.restore()
		fit.Converged = f.off() <= enough
	}
	fit.Mixed = f.lack()
	return f.lifted(fit.Mixed), fit
}

// fitting is the work of NonNegative.
type fitting struct {
	c         *Cube
	released  [][]float64
	give      []float64   // g_B by place
	length    []float64   // by place: Σ over tops A ⊇ B of Π over A without B of 1/n_i
	penalty   float64     // on tables apart from their residuals
	residuals [][]float64 // by place
	tables    [][]float64 // of the tops, from residuals
	// by top: where a cell is above 0 that is the table that is not negative; where it is under 0
	// the multiplier is −penalty times it
	state [][]float64
	total float64
}

func newFitting(a *Answer) *fitting {
	c := a.c
	f := &fitting{c: c, released: a.residuals, total: max(0, a.residuals[0][0])}
	least, most := math.Inf(1), 0.0
	for i, b := range c.sets {
		f.residuals = append(f.residuals, make([]float64, len(a.residuals[i])))
		length, above := c.spreads(b)
		f.length = append(f.length, length)
		f.give = append(f.give, c.variance[i]*c.p.each(b, (Dimension).widened)*math.Pow(fitStiff, float64(above)))
		if i > 0 {
			least, most = min(least, f.give[i]*length), max(most, f.give[i]*length)
		}
	}
	f.penalty = 1
	if most > 0 { // not the total alone
		f.penalty = 1 / math.Sqrt(least*most)
	}
	f.tables, f.state = make([][]float64, len(c.tops)), make([][]float64, len(c.tops))
	for i, s := range c.tops {
		f.state[i] = make([]float64, c.Size(s))
	}
	f.restore()
	for i, table := range f.tables {
		copy(f.state[i], table)
	}
	return f
}

// spreads returns Σ over tops A ⊇ B of Π over A without B of 1/n_i, and how many dimensions the
// largest of them has beyond B.
func (c *Cube) spreads(b Set) (length float64, above int) {
	for _, s := range c.tops {
		if b.Within(s) {
			length += c.p.product(s&^b, func(n float64) float64 { return 1 / n })
			above = max(above, s.Len()-b.Len())
		}
	}
	return length, above
}

// restore computes residuals and tables from the multipliers.
func (f *fitting) restore() {
	f.gather(func(x float64) float64 { return max(0, -x) })
	for i, r := range f.residuals {
		for j, x := range f.released[i] {
			r[j] = x + f.give[i]*f.penalty*r[j]
		}
	}
	f.rebuild()
}

// step computes residuals that are near the released ones and the tables that are not negative,
// then these from the residuals' tables.
func (f *fitting) step() {
	f.gather(math.Abs)
	for i, r := range f.residuals {
		own := 1 / (f.give[i] * f.penalty)
		for j, x := range f.released[i] {
			r[j] = (own*x + r[j]) / (own + f.length[i])
		}
	}
	f.rebuild()
	for i, table := range f.tables {
		for j, x := range table {
			s := &f.state[i][j]
			*s = relaxed*x + (1-relaxed)*max(0, *s) + min(0, *s)
		}
	}
}

// gather sets the residuals to Σ_A E_ABᵀ of a function of the state.
func (f *fitting) gather(of func(x float64) float64) {
	for _, r := range f.residuals {
		clear(r)
	}
	for i, s := range f.c.tops {
		weights := make([]float64, len(f.state[i]))
		for j, x := range f.state[i] {
			weights[j] = of(x)
		}
		f.c.split(weights, 0, s, func(b Set, g []float64) {
			r := f.residuals[f.c.place[b]]
			for j, x := range g {
				r[j] += x
			}
		})
	}
}

// rebuild sets the total, and computes the tables of the residuals.
func (f *fitting) rebuild() {
	f.residuals[0][0] = f.total
	for i, s := range f.c.tops {
		f.tables[i] = f.c.table(f.residuals, s)
	}
}

// off is how far a cell is from what the optimum asks at most, in mean cells: under 0, or above it
// while it has a multiplier.
func (f *fitting) off() float64 {
	most := 0.0
	for i, table := range f.tables {
		each := float64(len(table)) / f.total
		for j, x := range table {
			most = max(most, max(-x, min(x, -f.state[i][j]))*each)
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
