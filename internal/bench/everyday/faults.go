package everyday

import (
	"fmt"

	"gonum.org/v1/gonum/stat/distuv"
)

// Faults says what no answer may be: not had, wild more often than noise of the stated size makes
// it, or silent. alpha is the probability with which a cell of honest answers is called wild. Cells
// out of reach may be wild, not silent.
func (r Report) Faults(alpha float64) []string {
	var out []string
	for _, c := range r.Cells {
		name := fmt.Sprintf("%s %s at ε = %g, %v", c.Statement, c.Aggregate, c.Epsilon, c.Relation)
		switch {
		case c.Problem != "":
			out = append(out, name+": "+c.Problem)
		case c.Silent > 0:
			out = append(out, fmt.Sprintf("%s: %d of %d answers are empty or NULL without a warning", name, c.Silent, c.Runs))
		case !c.Far && c.wild(alpha):
			out = append(out, fmt.Sprintf("%s: %d of %d answers are wild, %.1g by chance", name, c.Wild(), c.Values, c.Chance))
		}
	}
	return out
}

// wild says that a cell has more wild answers than noise of the stated sizes brings with
// probability alpha.
func (c *Cell) wild(alpha float64) bool {
	n := c.Wild()
	if n == 0 {
		return false
	}
	return !(c.Chance > 0) || distuv.Poisson{Lambda: c.Chance}.Survival(float64(n-1)) < alpha
}
