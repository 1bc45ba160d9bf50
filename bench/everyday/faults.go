package everyday

import (
	"fmt"

	"gonum.org/v1/gonum/stat/distuv"
)

// Faults says what no cell may be: not answered, silent, or wild in most runs. alpha is the
// probability with which a cell is called wild in whose runs an answer is wild now and then, one in
// a hundred. Cells out of reach may be wild, not silent.
func (r Report) Faults(alpha float64) []string {
	var out []string
	for _, c := range r.Cells {
		name := fmt.Sprintf("%s %s at ε = %g, %v", c.Statement, c.Aggregate, c.Epsilon, c.Relation)
		runs := distuv.Binomial{N: float64(max(1, c.Runs)), P: 0.01}
		switch {
		case c.Problem != "":
			out = append(out, name+": "+c.Problem)
		case c.Silent > 0:
			out = append(out, fmt.Sprintf("%s: %d of %d answers are empty or NULL without a warning", name, c.Silent, c.Runs))
		case !c.Far && c.WildRuns > 0 && runs.Survival(float64(c.WildRuns-1)) < alpha:
			out = append(out, fmt.Sprintf("%s: %d of %d runs are wild", name, c.WildRuns, c.Runs))
		}
	}
	return out
}

// wild says that a cell has more wild answers than noise of the stated sizes brings with
// probability alpha.
func (c *Cell) wild(alpha float64) bool { return rare(c.Wild(), c.Chance, alpha) }

// rare says that as many of something that happens mean times on average have a probability under
// alpha.
func rare(n int, mean, alpha float64) bool {
	return n > 0 && (!(mean > 0) || distuv.Poisson{Lambda: mean}.Survival(float64(n-1)) < alpha)
}
