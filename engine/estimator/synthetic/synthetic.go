package synthetic

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/cube"
	"scrim/engine/estimator/internal/exponential"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// Shares and constants of the rounds.
const (
	reportShare = 0.05 // of the loss: the errors of all pairs, see report
	// measureShare is the part of a round's loss that the noise has; the choice has the rest.
	measureShare = 0.9
	// roundsEach is how many rounds a column the loss would be divided evenly among: most are left
	// out, since the noise is halved whenever a round tells little.
	roundsEach = 16
	sweeps     = 3 // over the rows after a round
	lastSweeps = 5 // after the last one
)

// synthetic is a release with its parameters fixed.
type synthetic struct {
	p     Params
	sizes []int
	cand  []table
	pairs []table // those of cand with two columns
}

// New returns the release of a synthetic table. Columns: Vector, one of codes a person. The answer
// is read by ResultOf. It refuses too many cells with a cube.TooLarge. It always answers: of few
// persons the rows are mostly noise.
func New(p Params) (estimator.Estimator, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	s := synthetic{p: p}
	for _, c := range p.Columns {
		s.sizes = append(s.sizes, c.Size)
	}
	var err error
	if s.cand, err = p.candidates(); err != nil {
		return nil, err
	}
	d := len(p.Columns)
	s.pairs = s.cand[d : d+d*(d-1)/2]
	return s, nil
}

func (synthetic) Columns() []estimator.Kind      { return []estimator.Kind{estimator.Vector} }
func (s synthetic) Loss() privacy.Loss           { return scalar.Loss(s.p.Rho) }
func (synthetic) MinPersons() int64              { return 0 }
func (synthetic) ExpectedError() (float64, bool) { return 0, false }

// Steps implements estimator.Estimator. The parts of the loss are fixed; among how many rounds the
// first two are divided follows from what is released.
func (s synthetic) Steps() []estimator.Step {
	r := s.begin()
	alone := float64(len(s.sizes)) * r.each * measureShare
	steps := []estimator.Step{
		{Name: "tables", Mechanism: estimator.DiscreteGaussian, Use: fmt.Sprintf("counts of 1 to %d columns", s.p.Ways), Sensitivity: "l2=1", Queries: len(s.sizes) + s.rounds(), Rho: alone + (r.left-alone)*measureShare},
		{Name: "choices", Mechanism: estimator.Exponential, Sensitivity: fmt.Sprintf("range=%d", s.span()), Queries: s.rounds(), Rho: (r.left - alone) * (1 - measureShare)},
	}
	if s.p.Relation == estimator.ReplaceOne {
		steps[0].Sensitivity = "l2=sqrt(2)"
	}
	if len(s.pairs) > 0 {
		x := s.reportNoise()
		steps = append(steps, x.Step(estimator.Step{Name: "report", Use: "errors of pairs", Sensitivity: fmt.Sprintf("l2=%d*sqrt(%d)", s.p.Relation.Factor(), len(s.pairs)), Queries: len(s.pairs)}))
	}
	return steps
}

// rounds is the most rounds that there may be.
func (s synthetic) rounds() int { return roundsEach * len(s.sizes) }

// Release implements estimator.Estimator.
func (s synthetic) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	r := s.start(n, in)
	r.columns()
	for r.round() {
	}
	for range lastSweeps {
		r.fit.exchange()
		r.fit.sweep()
	}
	r.repeat()
	return r.answer()
}

// repeat makes as many rows as there are to be, of fewer: each is there as often as others, or once
// more.
func (r *run) repeat() {
	rows, scale := r.size(mostCodes)
	if rows == r.fit.count() {
		return
	}
	out := make([]uint16, 0, rows*r.fit.width)
	order := r.fit.order()
	for k := range rows {
		out = append(out, r.fit.row(order[k*len(order)/rows])...)
	}
	r.fit.rows, r.fit.scale = out, scale
}

// Memory implements estimator.Large.
func (s synthetic) Memory() int64 {
	cells := int64(0)
	for _, t := range s.cand {
		cells += int64(t.cells)
	}
	return cells*CellBytes + int64(s.p.mostRows())*int64(len(s.sizes))*CodeBytes
}

// run is a release on its way.
type run struct {
	synthetic
	n     noise.Noiser
	exact [][]int64 // of the candidates
	fit   *fit
	budget
	total mean // of persons
	done  []Round
}

// Round is one measurement.
type Round struct {
	Columns []int
	Rho     float64 // of the choice and the noise
	StdErr  float64 // of a cell's noise
}

func (s synthetic) start(n noise.Noiser, in estimator.Input) *run {
	r := &run{synthetic: s, n: n, exact: persons(s.p.Columns, s.cand, in.Vectors)}
	r.budget = s.begin()
	return r
}

// budget is what is left for rounds.
type budget struct {
	left float64 // of the loss
	each float64 // what the next round takes
}

// begin is the budget before anything is read, without what the report has.
func (s synthetic) begin() budget {
	b := budget{left: s.p.Rho * (1 - 1e-9)} // far more than what the sums of shares are off
	if len(s.pairs) > 0 {
		b.left -= reportShare * s.p.Rho
	}
	b.each = b.left / float64(s.rounds())
	return b
}

// sensitivity2 is the squared length by which one person moves a table.
func (s synthetic) sensitivity2() int64 { return s.p.Relation.Factor() }

// noise is that of a table at a loss.
func (s synthetic) noise(rho float64) scalar.Noise {
	return scalar.NewNoise(estimator.Params{Rho: rho}, big.NewInt(s.sensitivity2()), 1, rho)
}

// measured is a candidate's table with noise.
func (r *run) measured(at int, x scalar.Noise) []float64 {
	out := make([]float64, len(r.exact[at]))
	for c, v := range r.exact[at] {
		out[c] = float64(x.Add(r.n, v))
	}
	return out
}

// columns measures each column alone, at what the noise of a round has, and makes the first rows.
func (r *run) columns() {
	rho := r.each * measureShare
	x := r.noise(rho)
	var all [][]float64
	for i := range r.sizes {
		y := r.measured(i, x)
		all = append(all, y)
		r.total.add(y, x.Sigma())
		r.done = append(r.done, Round{Columns: r.cand[i].columns, Rho: rho, StdErr: x.Sigma()})
		r.left -= rho
	}
	rows, scale := r.size(fitCodes)
	r.fit = newFit(r.sizes, all, rows, rand.New(rand.NewPCG(r.n.Uniform(), r.n.Uniform())))
	r.fit.scale = scale
	for i, y := range all {
		r.fit.add(r.cand[i], y, x.Sigma())
	}
	r.fit.sweep()
}

// mean is one of noisy totals, weighed by their precision.
type mean struct{ sum, weight float64 }

// add takes in the total of a noisy table.
func (m *mean) add(y []float64, sigma float64) {
	w := 1 / (float64(len(y)) * sigma * sigma)
	for _, v := range y {
		m.sum += w * v
	}
	m.weight += w
}

// persons is the noisy number of persons, at least 1.
func (m *mean) persons() float64 { return max(1, math.Round(m.sum/m.weight)) }

// size is how many rows of at most so many codes together there are, and how many persons one
// stands for.
func (r *run) size(codes int) (rows int, scale float64) {
	total := r.total.persons()
	rows = int(min(total, float64(r.p.mostRows()), float64(codes/len(r.sizes))))
	return rows, total / float64(rows)
}

// made is a candidate's table of the rows, in whole persons.
func (r *run) made(t *table) []int64 {
	out := t.count(r.fit.rows, r.fit.width)
	if r.fit.scale != 1 {
		for c, x := range out {
			out[c] = int64(math.Round(float64(x) * r.fit.scale))
		}
	}
	return out
}

// round chooses a table in which the rows are far off, measures it, and moves the rows. It returns
// false where the loss is used up.
func (r *run) round() bool {
	if r.left < 2*r.each {
		r.each = r.left
	}
	return r.take(r.choose(r.noise(r.each * measureShare).Sigma()))
}

// take is a round with its choice, which made are the counts of the rows for.
func (r *run) take(at int, made []int64) bool {
	x := r.noise(r.each * measureShare)
	y := r.measured(at, x)
	r.total.add(y, x.Sigma())
	r.fit.resize(r.size(fitCodes))
	r.fit.add(r.cand[at], y, x.Sigma())
	r.done = append(r.done, Round{Columns: r.cand[at].columns, Rho: r.each, StdErr: x.Sigma()})
	if r.left -= r.each; r.left <= 0 {
		return false
	}
	for range sweeps {
		r.fit.exchange()
		r.fit.sweep()
	}
	after := r.made(&r.cand[at])
	if float64(distance(made, after)) <= meanSize*x.Sigma()*float64(len(after)) {
		r.each *= 4 // half of the noise
	}
	return true
}

// span is the length of the interval that one person's moves of the candidates' scores are in.
func (s synthetic) span() int64 { return 2 * s.p.Relation.Factor() * int64(s.p.Ways) }

// meanSize is E|Z| of a standard normal variable.
var meanSize = math.Sqrt(2 / math.Pi)

// choose draws a candidate, with its table of the rows.
func (r *run) choose(sigma float64) (at int, made []int64) {
	least, err := exponential.NewLeast(estimator.Params{Rho: r.p.Rho}, float64(r.span()), r.each*(1-measureShare))
	if err != nil {
		return 0, r.made(&r.cand[0]) // the loss is too small for a choice: a public one
	}
	speaks, tables := r.speaks(sigma)
	most := slices.Max(speaks)
	scores := make([]uint64, len(speaks))
	for i, s := range speaks {
		scores[i] = uint64(most - s)
	}
	at = least.Choose(r.n, scores)
	return at, tables[at]
}

// speaks is what speaks for each candidate, with its table of the rows,
//
//	w·(‖exact − made‖₁ − √(2/π)·σ·cells)
//
// w the number of its columns, which is in proportion to how many columns the tables of the
// workload share with it. The last term is how far its noise would be off, rounded, and public.
func (r *run) speaks(sigma float64) (out []int64, made [][]int64) {
	out, made = make([]int64, len(r.cand)), make([][]int64, len(r.cand))
	for i := range r.cand {
		t := &r.cand[i]
		made[i] = r.made(t)
		noise := int64(min(meanSize*sigma*float64(t.cells), 1<<56))
		out[i] = int64(len(t.columns)) * (distance(r.exact[i], made[i]) - noise)
	}
	return out, made
}

// Limits on what is public. More is refused by New.
const (
	MaxColumns = 32
	MaxValues  = 1 << 12 // of a column
	MaxWays    = 3
	// MaxCells is the number of cells of all tables that may be measured together beyond which a
	// release is refused, where Params.Cells does not say less.
	MaxCells = 1 << 25
	// CellBytes is about what a cell takes: exact, of the rows, twice, and where it is measured its
	// target and how far the rows are off.
	CellBytes = 40
	// CodeBytes is about what a code of a row takes: itself, as a number of the answer, as that is
	// kept, and as a value of a row of a table, twice.
	CodeBytes = 2 + 8 + 16 + 2*40
	// MostRows is the most rows that are made, and mostCodes the most values in them.
	MostRows  = 1 << 20
	mostCodes = 1 << 23
	// fitCodes is the most values in the rows that are moved; where more rows are made each of
	// these is repeated. With sweepWork it bounds the time of a round, by a second or two.
	fitCodes = 1 << 20
	// mostCells is the number of cells beyond which a table of three columns is never measured: a
	// count in it is nearly all noise, and finding out takes longer than it is worth.
	mostCells = 1 << 14
)

// Params are the public facts under which a table is made. The input is a dense block of one vector
// a person: the number of the person's value in each column.
type Params struct {
	Rho      float64
	Relation estimator.Relation
	Columns  []cube.Dimension
	// Ways is the most columns of a table that may be measured, 2 or MaxWays; the workload is all
	// tables of so many columns.
	Ways int
	// Rows is the most rows that are made; 0: as many as the limits allow. Where the noisy number
	// of persons is larger each row stands for more than one.
	Rows  int
	Cells int64 // the most cells of the tables that may be measured; 0: MaxCells
}

// check names the first parameter that is bad.
func (p Params) check() error {
	if err := scalar.CheckPure(estimator.Params{Rho: p.Rho, Relation: p.Relation}, false); err != nil {
		return err
	}
	switch {
	case len(p.Columns) == 0 || len(p.Columns) > MaxColumns:
		return fmt.Errorf("synthetic: want 1 to %d columns, have %d", MaxColumns, len(p.Columns))
	case p.Ways < 2 || p.Ways > MaxWays:
		return fmt.Errorf("synthetic: want tables of 2 to %d columns, have %d", MaxWays, p.Ways)
	case p.Rows < 0 || p.Rows > MostRows:
		return fmt.Errorf("synthetic: want 0 to %d rows, have %d", MostRows, p.Rows)
	case p.Cells < 0 || p.Cells > MaxCells:
		return fmt.Errorf("synthetic: want a limit of 0 to %d cells, have %d", MaxCells, p.Cells)
	}
	for _, c := range p.Columns {
		if c.Size < 1 || c.Size > MaxValues {
			return fmt.Errorf("synthetic: want 1 to %d values of %s, have %d", MaxValues, c.Name, c.Size)
		}
	}
	return nil
}

// mostRows is the most rows that are made.
func (p Params) mostRows() int {
	most := min(MostRows, mostCodes/len(p.Columns))
	if p.Rows > 0 {
		most = min(most, p.Rows)
	}
	return most
}

// candidates are the tables that may be measured, those of fewer columns first.
func (p Params) candidates() ([]table, error) {
	var out []table
	total, by := 0.0, make([]float64, len(p.Columns))
	add := func(columns ...int) {
		t := newTable(p.Columns, columns)
		if len(columns) > 2 && t.cells > mostCells {
			return
		}
		total += float64(t.cells)
		for _, i := range columns {
			by[i] += float64(t.cells)
		}
		out = append(out, t)
	}
	each(len(p.Columns), p.Ways, add)
	limit := float64(p.Cells)
	if limit == 0 {
		limit = MaxCells
	}
	if total <= limit {
		return out, nil
	}
	worst := 0
	for i, n := range by {
		if n > by[worst] {
			worst = i
		}
	}
	return nil, &cube.TooLarge{Cells: total, Limit: limit, Coarsen: p.Columns[worst].Name}
}

// each calls f with all sets of one up to ways of n columns, smaller ones first; ways is 2 or 3.
func each(n, ways int, f func(columns ...int)) {
	for i := range n {
		f(i)
	}
	for i := 0; i < n; i++ {
		for j := i + 1; j < n; j++ {
			f(i, j)
		}
	}
	for i := 0; i < n && ways > 2; i++ {
		for j := i + 1; j < n; j++ {
			for k := j + 1; k < n; k++ {
				f(i, j, k)
			}
		}
	}
}
