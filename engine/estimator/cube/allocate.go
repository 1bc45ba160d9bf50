package cube

import (
	"fmt"
	"math"
	"slices"

	"scrim/engine/estimator"
)

// precision is w_B of every set, 0 of those that are not measured: the residual of B has noise of
// covariance (⊗ C_i)/(2·w_B). A person's vector y, by cell of all dimensions, then costs
//
//	Σ_B w_B·‖r_B(y)‖² = Σ_{a,b} y_a·y_b·K[S]     S: the dimensions in which cells a and b agree
//
// of ρ: see agreement.
type precision []float64

// share is the part of unit vectors that a residual keeps, Π (1−1/n_i) over B: the squared length
// of the residual of one person, and the variance of a cell of noise (⊗ C_i). Along dimensions of
// ranges it is what the dearest cell costs.
func (p Params) share(b Set) float64 {
	return p.each(b, (Dimension).top)
}

// agreement returns K[S] = Σ_B w_B·Π over i in B of ([i in S] − 1/n_i), one dimension at a time. K
// of all dimensions is what one person costs who comes or goes.
//
// Along a dimension of ranges the factor is an entry of G, top or less, and −low or more: with top
// and −low in the place of 1−1/n and −1/n K[all] is what the dearest cell costs, and since the sum
// is linear in each factor alone, no pair of cells has less than the least K.
func (p Params) agreement(w precision) []float64 {
	k := append([]float64(nil), w...)
	for i, d := range p.Dims {
		low, top := d.low(), d.top()
		for s := range k {
			if t := s | 1<<i; t != s {
				k[s], k[t] = k[s]-low*k[t], k[s]+top*k[t]
			}
		}
	}
	return k
}

// kernelOf returns K of the w_B of which q is all that B has of the dimensions of ranges, without
// the factors of these.
func (p Params) kernelOf(w precision, ranged, q Set) []float64 {
	k := make([]float64, len(w))
	for s := range k {
		k[s] = w[Set(s)&^ranged|q]
	}
	for i, d := range p.Dims {
		inv := 1 / float64(d.Size)
		for s := range k {
			if t := s | 1<<i; t != s && !ranged.Has(i) {
				k[s], k[t] = k[s]-inv*k[t], k[s]+(1-inv)*k[t]
			}
		}
	}
	return k
}

// squares returns c_S of every set S, for which what a vector y costs is Σ_S c_S·‖M_S y‖²:
//
//	c_S = Σ over B ⊇ S of w_B·Π over B without S of −1/n_i
//
// and the sum of their sizes, which is at least K[all]. Along dimensions of ranges, i in S, the
// square is by G_i, and there is no term for i outside of S.
func (p Params) squares(w precision) (c []float64, size float64) {
	c = append(c, w...)
	for i, d := range p.Dims {
		for s := range c {
			if t := s | 1<<i; t != s && d.strategy() == nil {
				c[s] -= c[t] / float64(d.Size)
			}
		}
	}
	for s, x := range c {
		size += math.Abs(x) * p.each(Set(s), (Dimension).excess)
	}
	return c, size
}

// spread is the transpose of agreement: what a weighted mean of K is as a function of w_B.
func (p Params) spread(k []float64) []float64 {
	c := append([]float64(nil), k...)
	for i, d := range p.Dims {
		low, top := d.low(), d.top()
		for s := range c {
			if t := s | 1<<i; t != s {
				c[s], c[t] = c[s]+c[t], top*c[t]-low*c[s]
			}
		}
	}
	return c
}

// allocation minimises Σ over the workload of weight·(variance of a cell) under a loss of ρ.
//
// A cell of A has the variance Σ over B ⊆ A of share(B)/(2·w_B)·Π over A without B of 1/n_i², so
// the aim is Σ_B v_B·share(B)/(2·w_B). Where one person comes or goes the cost is Σ_B w_B·share(B),
// and by Cauchy and Schwarz the best w_B is in proportion to √v_B. An exchange of persons whose
// cells agree in S costs 2·(K[all] − K[S]), for which the largest of all S counts: exchanged.
func (p Params) allocation(sets []Set) precision {
	aim, cost := p.aims(), make([]float64, 1<<len(p.Dims))
	for _, b := range sets {
		cost[b] = p.share(b)
	}
	w := best(sets, aim, cost)
	if p.Relation == estimator.ReplaceOne && p.Rows == 0 {
		w, _ = p.exchanged(sets, aim)
	}
	// far more than what rounding adds to the cost, so that the exact one is at most ρ
	scale := p.Rho * (1 - 1e-9) / p.cost(w)
	for b := range w {
		w[b] *= scale
	}
	return w
}

// aims is v_B·share(B) of every set: what 1/(2·w_B) adds to the weighted variance. Along dimensions
// of ranges that is the variance of an interval, the mean over all.
func (p Params) aims() []float64 {
	aim := make([]float64, 1<<len(p.Dims))
	for _, m := range p.Workload {
		own := p.varied(m.Set)
		for b := range own.Subsets() {
			aim[b] += m.Weight * p.each(b, (Dimension).spread) * p.each(own&^b, (Dimension).mean)
		}
	}
	return aim
}

// best minimises Σ aim/w under Σ cost·w = 1.
func best(sets []Set, aim, cost []float64) precision {
	w, total := make(precision, len(aim)), 0.0
	for _, b := range sets {
		total += math.Sqrt(aim[b] * cost[b])
	}
	for _, b := range sets {
		w[b] = math.Sqrt(aim[b]/cost[b]) / total
	}
	return w
}

// Constants of exchanged.
const (
	exchangeRounds = 1000
	exchangeGap    = 1e-3  // of the aim, above its least value
	leastCost      = 1e-12 // so that nothing is free on the way
)

// exchanged is best where the largest of several costs counts: those of persons who come or go, and
// of exchanges by the dimensions in which the cells agree. For a mixture of the costs best has the
// least aim, which is at most the least one under all of them; w divided by its largest cost has at
// least that one. The mixture is moved towards the costs that are large, and the loop ends where
// the two bounds are near each other. gap is their quotient. Any w is safe: allocation rescales it.
func (p Params) exchanged(sets []Set, aim []float64) (found precision, gap float64) {
	moves := slices.Collect(p.all().Subsets())
	mixture := make([]float64, len(moves))
	for m := range mixture {
		mixture[m] = 1 / float64(len(moves))
	}
	least, most := 0.0, math.Inf(1)
	for range exchangeRounds {
		w := best(sets, aim, p.mixed(moves, mixture))
		k, value := p.agreement(w), 0.0
		for _, b := range sets {
			value += aim[b] / w[b]
		}
		largest, total := 0.0, 0.0
		for m, s := range moves {
			c := moved(k, moves[0], s)
			largest = max(largest, c)
			mixture[m] *= c
			total += mixture[m]
		}
		least = max(least, value)
		if value*largest < most {
			most, found = value*largest, w
		}
		if gap = most / least; gap < 1+exchangeGap {
			break
		}
		for m := range mixture {
			mixture[m] /= total
		}
	}
	return found, gap
}

// mixed is the cost of each w_B under a mixture of moves.
func (p Params) mixed(moves []Set, mixture []float64) []float64 {
	k := make([]float64, 1<<len(p.Dims))
	for m, s := range moves {
		if s == moves[0] {
			k[s] += mixture[m]
			continue
		}
		k[moves[0]] += 2 * mixture[m]
		k[s] -= 2 * mixture[m]
	}
	cost := p.spread(k)
	for b := range cost {
		cost[b] = max(cost[b], leastCost)
	}
	return cost
}

// moved is the cost of a move under the agreement k: of an exchange of cells that agree in s, or
// where that is all, of a person who comes or goes.
func moved(k []float64, all, s Set) float64 {
	if s == all {
		return k[all]
	}
	return 2 * (k[all] - k[s])
}

// cost is the largest loss of one person at w.
//
// Persons with vectors y and y′ of several rows, of costs up to c = K[all], are exchanged at
// ‖y−y′‖² ≤ 2c − 2⟨y,y′⟩. Where no K is negative ⟨y,y′⟩ ≥ 0. Else, with |y| the number of rows,
// ⟨y,y′⟩ ≥ min K·|y|·|y′|, and c ≥ ‖y‖² ≥ w_∅·|y|², so that ⟨y,y′⟩ ≥ c·min K/w_∅; it is at least −c
// in any case, which is what counts where entries may be under 0.
func (p Params) cost(w precision) float64 {
	k, all := p.agreement(w), p.all()
	least, worst := 0.0, k[all]
	for s := range all.Subsets() {
		least, worst = min(least, k[s]), max(worst, moved(k, all, s))
	}
	switch {
	case p.Relation == estimator.AddRemove:
		return k[all]
	case p.Signed:
		return 4 * k[all]
	case p.Rows > 0:
		return 2 * k[all] * (1 + min(1, -least/w[0]))
	}
	return worst
}

// all is the set of the dimensions of two values or more.
func (p Params) all() Set { return p.varied(Of(upTo(len(p.Dims))...)) }

// TooLarge refuses a cube of too many cells.
type TooLarge struct {
	Cells, Limit float64
	Coarsen      string // the dimension that most cells depend on
	// To is the number of values of Coarsen with which the cube would do; 0: no number alone would
	To int
}

// Error implements error.
func (e *TooLarge) Error() string {
	remedy := fmt.Sprintf("bring %s to %d values or fewer", e.Coarsen, e.To)
	if e.To == 0 {
		remedy = fmt.Sprintf("coarsen %s and others, or ask for marginals of fewer dimensions", e.Coarsen)
	}
	return fmt.Sprintf("cube: %.0f cells, of which at most %.0f are kept: %s", e.Cells, e.Limit, remedy)
}

// TooLong refuses a table whose residual's whole numbers might pass what Release computes with.
type TooLong struct {
	Of      string  // the names of its dimensions
	Product float64 // over them of 2(n−1), or of more where they are measured for ranges
}

// Error implements error.
func (e *TooLong) Error() string {
	return fmt.Sprintf("cube: the marginal by (%s) has too many dimensions: the product of 2(n−1) over their sizes, more for ranges, is at most 2^30, not %.3g", e.Of, e.Product)
}

// closure returns the sets whose residuals the workload needs, those of fewer dimensions first.
// Residuals along a dimension of one value are 0 and left out.
func (p Params) closure() []Set {
	needed := make([]bool, 1<<len(p.Dims))
	for _, m := range p.Workload {
		for b := range p.varied(m.Set).Subsets() {
			needed[b] = true
		}
	}
	var sets []Set
	for s, is := range needed {
		if is {
			sets = append(sets, Set(s))
		}
	}
	return sets
}

// varied is the part of a set whose dimensions have two values or more.
func (p Params) varied(s Set) Set {
	for i := range s.Dims() {
		if p.Dims[i].Size == 1 {
			s &^= 1 << i
		}
	}
	return s
}

// checkSize refuses more cells than the limit.
func (p Params) checkSize(sets []Set) error {
	limit := float64(p.Cells)
	if limit == 0 {
		limit = MaxCells
	}
	total, by := 0.0, make([]float64, len(p.Dims))
	for _, s := range sets {
		n := p.product(s, func(n float64) float64 { return n })
		total += n
		for i := range s.Dims() {
			by[i] += n
		}
	}
	if total > limit {
		return p.tooLarge(total, limit, by)
	}
	for _, s := range sets {
		if most := p.each(s, (Dimension).reach); most > 1<<30 {
			return &TooLong{Of: s.names(p.Dims), Product: most}
		}
	}
	return nil
}

// tooLarge names the dimension that most cells depend on. Cells are a linear function of its size.
func (p Params) tooLarge(total, limit float64, by []float64) error {
	worst := 0
	for i, n := range by {
		if n > by[worst] {
			worst = i
		}
	}
	e := &TooLarge{Cells: total, Limit: limit, Coarsen: p.Dims[worst].Name}
	each := by[worst] / float64(p.Dims[worst].Size)
	if to := math.Floor((limit - (total - by[worst])) / each); to >= 2 {
		e.To = int(to)
	}
	return e
}

// each multiplies a function of a set's dimensions.
func (p Params) each(s Set, f func(Dimension) float64) float64 {
	x := 1.0
	for i := range s.Dims() {
		x *= f(p.Dims[i])
	}
	return x
}

// product multiplies a function of the sizes of a set's dimensions.
func (p Params) product(s Set, f func(n float64) float64) float64 {
	x := 1.0
	for i := range s.Dims() {
		x *= f(float64(p.Dims[i].Size))
	}
	return x
}
