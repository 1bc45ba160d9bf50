package cube

import (
	"fmt"
	"math"
)

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
