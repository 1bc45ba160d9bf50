package everyday

import (
	"math"
	"slices"
)

// reply is what a server answered.
type reply struct {
	rows     [][]*string // keys, then the columns of each aggregate
	warnings []string
}

// answer is one number with what was told of it; NaN for NULL.
type answer struct {
	value, deviation float64
	low, high        [len4]float64
}

// answers returns an aggregate's answers by key.
func (r reply) answers(st Statement, aggregate int) map[string]answer {
	out := map[string]answer{}
	for _, row := range r.rows {
		cells := row[len(st.Keys)+aggregate*width:]
		a := answer{value: reading(cells[0]), deviation: reading(cells[1])}
		for l := range levels {
			a.low[l], a.high[l] = reading(cells[2+2*l]), reading(cells[3+2*l])
		}
		out[keyOf(row[:len(st.Keys)])] = a
	}
	return out
}

// scores gathers the sums of a cell over its runs.
type scores struct {
	cell     *Cell
	best     []float64 // squared errors of hindsight by group; nil: none
	ms       []float64 // m of each group
	sq       float64
	bestSq   float64
	sizeSq   float64
	measured int // runs with a size
}

// judge adds one run's answers to a cell.
func (s *scores) judge(t *truth, st Statement, aggregate int, r reply) {
	c := s.cell
	got := r.answers(st, aggregate)
	of := st.Aggregates[aggregate].kind
	quotient := of == mean
	nulls, hidden, sq, best, size := 0, 0, 0.0, 0.0, 0.0
	for g, key := range t.keys {
		exact := t.exact[aggregate][g]
		a, shown := got[key]
		delete(got, key)
		if math.IsNaN(exact) {
			continue
		}
		c.Values++
		in := &c.ByM[classOf(s.ms[g])]
		in.Values++
		none := !shown || math.IsNaN(a.value)
		e := exact
		if none {
			in.Missing++
			if shown {
				nulls++
			} else {
				hidden++
			}
		} else {
			s.answered(a, exact)
			if e = a.value - exact; quotient {
				e = min(math.Abs(e), math.Abs(exact))
			}
		}
		if s.best != nil && !(none && quotient && s.ms[g] < ends[1]) {
			sq, best, size = sq+e*e, best+s.best[g], size+exact*exact
		}
	}
	if of < mean { // groups of nobody: counts and sums of 0
		for _, a := range got {
			if !math.IsNaN(a.value) {
				c.Values++
				c.ByM[0].Values++
				s.answered(a, 0)
				sq += a.value * a.value
			}
		}
	}
	c.Null, c.Hidden, c.Runs = c.Null+nulls, c.Hidden+hidden, c.Runs+1
	if len(r.warnings) > 0 {
		c.Warned++
	} else {
		if nulls > 0 || len(r.rows) == 0 {
			c.Silent++
		}
		if hidden > 0 {
			c.SilentHidden++
		}
	}
	if s.best != nil {
		s.sq, s.bestSq, s.sizeSq = s.sq+min(sq, size), s.bestSq+best, s.sizeSq+size
		s.measured++
	}
}

// answered judges one answer by itself.
func (s *scores) answered(a answer, exact float64) {
	c := s.cell
	if exact != 0 {
		c.Relative = append(c.Relative, math.Abs(a.value-exact)/math.Abs(exact))
	}
	low, high := a.low[usual], a.high[usual]
	if math.IsNaN(low) && math.IsNaN(high) {
		return
	}
	c.Intervals++
	slack := 1e-9 * max(1, math.Abs(exact)) // what printing decimals takes away
	for l := range levels {
		if !(a.low[l] > exact+slack) && !(a.high[l] < exact-slack) {
			c.Covered[l]++
		}
	}
	if w := high - low; exact != 0 && !math.IsNaN(w) {
		c.Widths = append(c.Widths, w/math.Abs(exact))
	}
	if exact < 0 {
		return // no statement has negative totals
	}
	switch {
	case a.value < exact/3 && high < exact-slack:
		c.WildLow++
	case a.value > 3*exact && low > exact+slack:
		c.WildHigh++
	}
	if a.deviation > 0 {
		c.Chance += beyond(max(1.96, 2*exact/a.deviation))
		if exact > 0 {
			c.Chance += beyond(max(1.96, 2*exact/(3*a.deviation)))
		}
	}
}

// beyond is the probability that a standard normal number is above z.
func beyond(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// finish writes the means over the runs.
func (s *scores) finish() {
	if s.measured > 0 {
		n := float64(s.measured)
		s.cell.RMS, s.cell.Hindsight, s.cell.Size = math.Sqrt(s.sq/n), math.Sqrt(s.bestSq/n), math.Sqrt(s.sizeSq/n)
	}
}

// middle is the median, NaN of nothing.
func middle(x []float64) float64 { return quantile(x, 0.5) }

// quantile is the q-quantile of a list, NaN of nothing.
func quantile(x []float64, q float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	x = slices.Sorted(slices.Values(x))
	return x[int(math.Round(q*float64(len(x)-1)))]
}
