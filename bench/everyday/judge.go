package everyday

import (
	"math"
	"slices"
	"strings"
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
	cell      *Cell
	best      []float64 // squared errors of hindsight by group; nil: none
	ms        []float64 // m of each group
	sq        float64
	bestSq    float64
	sizeSq    float64
	measured  int // runs with a size
	statement Statement
	aggregate int
	groups    []off
	together  off // all groups without totals of ROLLUP, of counts and sums
}

// of is the kind of the aggregate.
func (s *scores) of() kind { return s.statement.Aggregates[s.aggregate].kind }

// run is what one run adds.
type run struct {
	nulls, hidden  int
	sq, best, size float64
	deviations     []float64 // that were told
	unanswered     []float64 // exact answers that were not
	wild           int
	chance         float64
	total, exact   float64 // of all groups together: the sum of the answers, and the exact one
	partial        bool    // some group has no answer
}

// judge adds one run's answers to a cell.
func (s *scores) judge(t *truth, r reply) {
	got := r.answers(s.statement, s.aggregate)
	var this run
	if s.groups == nil {
		s.groups = make([]off, len(t.keys))
	}
	for g, key := range t.keys {
		a, shown := got[key]
		delete(got, key)
		if exact := t.exact[s.aggregate][g]; !math.IsNaN(exact) {
			if t.level[g] == 0 {
				this.total, this.exact = this.total+a.value, this.exact+exact
				this.partial = this.partial || !shown || math.IsNaN(a.value)
			}
			s.value(&this, g, exact, a, shown)
			s.sample(key, exact, a, shown, len(t.keys))
		}
	}
	if s.of() < mean { // groups of nobody: counts and sums of 0
		for _, a := range got {
			s.empty(&this, a)
		}
	}
	s.end(this, r)
}

// value judges the answer of a group that has one.
func (s *scores) value(this *run, g int, exact float64, a answer, shown bool) {
	c, quotient := s.cell, s.of() == mean
	c.Values++
	in := &c.ByM[classOf(s.ms[g])]
	in.Values++
	none := !shown || math.IsNaN(a.value)
	e := exact
	switch {
	case none:
		in.Missing++
		this.unanswered = append(this.unanswered, exact)
		if shown {
			this.nulls++
		} else {
			this.hidden++
		}
	default:
		s.answered(this, a, exact)
		s.groups[g].add(a, exact)
		if e = a.value - exact; quotient {
			e = min(math.Abs(e), math.Abs(exact))
		}
	}
	if s.best != nil && !(none && quotient && s.ms[g] < ends[1]) {
		this.sq, this.best, this.size = this.sq+e*e, this.best+s.best[g], this.size+exact*exact
	}
}

// empty judges the answer of a group in which nobody is: NULL is as good as 0.
func (s *scores) empty(this *run, a answer) {
	if math.IsNaN(a.value) {
		this.unanswered = append(this.unanswered, 0)
		return
	}
	s.cell.Values++
	s.cell.ByM[0].Values++
	s.answered(this, a, 0)
	this.total += a.value
	this.sq += a.value * a.value
}

// end adds up a run.
func (s *scores) end(this run, r reply) {
	c := s.cell
	if s.of() < mean && !this.partial {
		s.together.add(answer{value: this.total}, this.exact)
	}
	c.Null, c.Hidden, c.Runs = c.Null+this.nulls, c.Hidden+this.hidden, c.Runs+1
	switch silent := len(r.warnings) == 0; {
	case !silent:
		c.Warned++
		c.warn(r.warnings)
	default:
		if this.nulls > 0 || len(r.rows) == 0 {
			c.Silent++
		}
		if this.hidden > 0 {
			c.SilentHidden++
		}
	}
	// which might have been shown, had the noise been larger
	for _, exact := range this.unanswered {
		this.chance += chance(exact, middle(this.deviations))
	}
	c.Chance += this.chance
	if rare(this.wild, this.chance, 1e-3) {
		c.WildRuns++
	}
	if s.best != nil {
		s.sq, s.bestSq, s.sizeSq = s.sq+min(this.sq, this.size), s.bestSq+this.best, s.sizeSq+this.size
		s.measured++
	}
}

// answered judges one answer by itself.
func (s *scores) answered(this *run, a answer, exact float64) {
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
		this.wild++
	case a.value > 3*exact && low > exact+slack:
		c.WildHigh++
		this.wild++
	}
	if a.deviation > 0 {
		this.deviations = append(this.deviations, a.deviation)
		this.chance += chance(exact, a.deviation)
	}
}

// chance is the probability that normal noise of a deviation makes an answer wild.
func chance(exact, deviation float64) float64 {
	if !(deviation > 0) {
		return 0
	}
	p := beyond(max(1.96, 2*exact/deviation))
	if exact > 0 {
		p += beyond(max(1.96, 2*exact/(3*deviation)))
	}
	return p
}

// sample keeps the answers of cells with few groups.
func (s *scores) sample(key string, exact float64, a answer, shown bool, groups int) {
	if groups > few {
		return
	}
	if !shown {
		a.value, a.low[usual], a.high[usual] = math.NaN(), math.NaN(), math.NaN()
	}
	s.cell.Samples = append(s.cell.Samples, Sample{s.cell.Runs, strings.ReplaceAll(key, total, "*"), exact, a.value, a.low[usual], a.high[usual]})
}

// beyond is the probability that a standard normal number is above z.
func beyond(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// finish writes the means over the runs.
func (s *scores) finish() {
	s.finishBias()
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
