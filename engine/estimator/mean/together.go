package mean

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/count"
	"scrim/engine/estimator/internal/clipping"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// Asked is one of the answers of a release of several: the number of rows, or the sum or the mean
// of an argument.
type Asked struct {
	Argument int // of the sums, from 0; −1: the number of rows
	Mean     bool
}

// together answers the number of rows, and sums and means over the same rows.
type together struct {
	p     estimator.Params
	rows  estimator.Estimator
	sums  []centredSum
	asked []Asked
}

// NewTogether returns the number of rows, and sums and means over rows of several arguments that
// are on all of these rows, as one release. p has the loss and the bound on a person's rows, sums
// the grid and the declared bounds of each argument. Columns: Rows, and Sum of each argument.
// There is no pure form, and none for a public number of persons.
//
// With M̂ the released number of rows, c a centre and D̂ the released sum of the differences from
// it,
//
//	SUM = c·M̂ + D̂     AVG = c + D̂/M̂ = SUM/COUNT
//
// so k arguments cost k+1 sums, however many of sums, means and number are asked for. The number of
// rows (package count) and each argument have the same part of the loss. Shares of an argument's:
//
//	one row a person    octaves of the values 0.15, and, where these are spread (Counts.Spread),
//	                    c = 0, D 0.85; else c 0.14 (median), C 0.16 (octaves), D 0.55
//	otherwise           n̂ 0.02, c 0.18 (median of the persons' means), C 0.20, D 0.60
//
// About values that are spread over octaves 0 is a centre as good as the median, and M̂ has next to
// no noise beside theirs; with several rows a person it has, and a centre keeps it out of the mean.
//
// Person i with mᵢ rows that sum to Tᵢ gives the one number Tᵢ − c·mᵢ, within mᵢ times the public
// range about c and within ±2^60, and clipped to [−A, C].
//
// Sensitivity: given c, which is released before, a person has one number, however many rows it
// has. So it is in one bucket of a histogram (package clipping), and moves D by max(A, C) where it
// comes or goes, by A + C where it is exchanged; n̂ moves by 1 at most in either relation, and the
// median's ranks as in scalar.Bisection. A person who has no row, or every row of the group, is no
// exception. Which steps there are follows from released numbers, and in either case they cost no
// more than the argument's loss, by adaptive composition; that of M̂ is added. SUM and AVG are
// post-processing. Ties and empty groups have no part in it: who has no row adds nothing, and every
// step draws its noise whatever the number of persons. No person's number is NaN: it is made of
// integers.
//
// Where n̂, or M̂ with one row a person, says that persons may be too few for a centre, c is 0.
// Where no number stands out from the noise, SUM and AVG are NaN; AVG is where M̂ is under three
// times its noise, or where D about 0 does not stand out, of few persons; and all are where the
// number of rows has no answer.
//
// The error of SUM is that of c·M̂ + D̂, whose noises are independent; that of AVG is of a quotient
// about c. What both clips take is allowed for in both.
//
// Source: docs/proofs/together.md.
func NewTogether(p estimator.Params, sums []estimator.Params, asked []Asked) (estimator.Estimator, error) {
	e := together{p: p, asked: asked}
	part := p.Rho / float64(len(sums)+1) * (1 - 1e-12)
	for _, q := range sums {
		q.Rho, q.Epsilon, q.Relation, q.Sized, q.MaxRows = p.Rho, p.Epsilon, p.Relation, p.Sized, p.MaxRows
		if err := scalar.Check(q, true); err != nil {
			return nil, err
		}
		q.Rho = part
		e.sums = append(e.sums, newCentredSum(q))
	}
	if p.Sized {
		return nil, errors.New("mean: want a private number of persons")
	}
	var err error
	e.rows, err = count.NewRows(estimator.Params{Rho: part, Relation: p.Relation, MaxRows: p.MaxRows}, true)
	return e, err
}

// centredSum is the sum of one number a person, that of the differences of its rows from a centre.
type centredSum struct {
	p       estimator.Params
	n       scalar.Persons  // with several rows a person
	sums    clipping.Search // of the values, with one row a person
	centred scalar.Centred
	clip    clipping.Search // of the differences
	share   float64         // loss of the sum
	whole   float64         // of the sum about 0, with one row a person
	off     float64         // how far the number of persons may be off
}

// mostOff bounds a person's number. safely is how many times the persons that a median needs there
// have to be, by offZ standard deviations: a centre that is missed takes all answers with it.
const (
	mostOff = 1 << 60
	safely  = 1.5
	offZ    = 3
)

func newCentredSum(p estimator.Params) centredSum {
	e := centredSum{p: p}
	limit := int64(mostOff)
	if p.MaxRows == 1 {
		parts := scalar.Split(p.Loss(), 15, 14, 16, 55)
		e.centred, e.share, e.whole = scalar.NewCentre(scalar.Open(p), parts[1]), parts[3], (p.Loss()-parts[0])*(1-1e-12)
		limit = e.centred.Hi - e.centred.Lo
		e.sums, e.clip = clipping.NewSearch(p, parts[0], -limit, limit), clipping.NewSearch(p, parts[2], -limit, limit)
	} else {
		parts := scalar.Split(p.Loss(), 2, 18, 20, 60)
		e.n, e.centred, e.share = scalar.CountOf(p, parts[0], 1), scalar.NewCentre(scalar.Open(p), parts[1]), parts[3]
		e.clip, e.off = clipping.NewSearch(p, parts[2], -limit, limit), offZ*e.n.Sigma()
	}
	return e
}

// difference is a released sum of differences from a centre, in units of the person means.
type difference struct {
	centre, sum float64
	noise       scalar.Noise
	added       float64 // to the sum, for what the clip takes
	choice      clipping.Choice
	persons     float64 // released number
	few         bool    // they are too few for a centre, which is 0
}

// hidden is the noise of the sum of numbers of an interval.
func (e centredSum) hidden(clip interval) scalar.Noise {
	return scalar.Single(e.p, clip.moves(e.p.Relation), e.share)
}

// release returns the sum of the differences; ok is false where none stands out.
func (e centredSum) release(n noise.Noiser, in estimator.Input, persons float64) (d difference, ok bool) {
	var counts clipping.Counts
	c, centred := int64(0), true
	if d.persons = persons; e.p.MaxRows == 1 {
		counts = e.sums.Release(n, e.histogram(in, 0), in.Groups)
		centred = !counts.Spread()
	} else {
		d.persons = e.n.Release(n, e.n.Of(in))
	}
	few := d.persons-e.off < safely*float64(e.centred.MinPersons())
	if centred = centred && !few; centred {
		c, _ = e.centred.Search(n, in.Memory, in.Columns[0], in.Columns[1])
	}
	switch {
	case centred:
		counts = e.clip.Release(n, e.histogram(in, c), in.Groups).About()
	case e.p.MaxRows == 1:
		e.share = e.whole
	default:
		counts = e.clip.Release(n, e.histogram(in, c), in.Groups)
	}
	unit := e.hidden(interval{0, far}).Sigma() / far
	if d.choice, ok = counts.Choose(func(low, high int64) float64 {
		return unit * float64(interval{-low, high}.moves(e.p.Relation))
	}, e.centred.Value(1)); !ok {
		return d, false
	}
	if !centred && d.choice.TooWild() { // as of a sum by itself
		return d, false
	}
	if k := e.p.MaxRows; k > 0 {
		d.choice = d.choice.Within(scalar.Times(c-e.centred.Lo, k), scalar.Times(e.centred.Hi-c, k))
	}
	clip := interval{-d.choice.Low, d.choice.High}
	var sum scalar.Sum
	for i, m := range in.Columns[0] {
		if m > 0 {
			sum.Add(clip.of(e.number(m, in.Columns[1][i], c)))
		}
	}
	d.noise, d.centre, d.few = e.hidden(clip), float64(c), few
	d.sum = d.noise.Of(n, sum)
	if d.added = clipping.Added(d.choice.Cut, d.noise.Sigma()); !centred || d.choice.Long {
		d.added = clipping.AddedToSum(d.choice.Cut, d.sum)
	}
	return d, true
}

// number is that of a person with m rows.
func (e centredSum) number(m, total, c int64) int64 {
	x := scalar.Deviation(m, total, c, e.centred.Shift)
	x = min(max(x, float64(m)*float64(e.centred.Lo-c)), float64(m)*float64(e.centred.Hi-c))
	return int64(min(max(x, -mostOff), mostOff))
}

// histogram counts the persons by their number.
func (e centredSum) histogram(in estimator.Input, c int64) *clipping.Histogram {
	h := new(clipping.Histogram)
	for i, m := range in.Columns[0] {
		if m > 0 {
			h.Add(awayFromZero(e.number(m, in.Columns[1][i], c)))
		}
	}
	return h
}

// Release implements estimator.Estimator.
func (e together) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	columns := in.Columns
	in.Columns = columns[:1]
	rows, count, persons := e.rows.Release(n, in), 0.0, 0.0
	if rows.Status == estimator.OK {
		rows = rows.Each()
		count = rows.Error.Raw[0]
	}
	sums, seen, needed := make([]difference, len(e.sums)), make([]bool, len(e.sums)), max(1, rows.Needed)
	for k, s := range e.sums {
		in.Columns = [][]int64{columns[0], columns[k+1]}
		sums[k], seen[k] = s.release(n, in, count)
		if persons = max(persons, sums[k].persons); !seen[k] {
			needed = max(needed, scalar.Twice(max(1, sums[k].persons, float64(s.least()))))
		}
	}
	size := len(e.asked)
	each := func() []float64 { return make([]float64, size) }
	out := estimator.Estimate{Values: each(), StdErr: each(), Error: &estimator.Error{
		Form: estimator.Quotient, Noise: each(), Step: each(), Under: each(), Centre: each(), Raw: each(), Rows: each(), Cut: make([]estimator.Cut, size), Persons: persons,
	}}
	known := false
	for i, a := range e.asked {
		ok := rows.Status == estimator.OK && (a.Argument < 0 || seen[a.Argument])
		switch {
		case ok && a.Argument < 0:
			x := rows.Error
			out.Values[i], out.StdErr[i] = rows.Values[0], rows.StdErr[0]
			out.Error.Raw[i], out.Error.Noise[i], out.Error.Step[i], out.Error.Cut[i] = x.Raw[0], x.Noise[0], x.Step[0], x.Cut[0]
			out.Error.Rows[i] = x.Noise[0]
		case ok:
			ok = sums[a.Argument].answer(out, i, a, rows, e.sums[a.Argument].centred.Value)
		}
		if !ok {
			out.Values[i], out.StdErr[i], out.Needed = math.NaN(), math.NaN(), needed
		}
		known = known || ok
	}
	if !known {
		return scalar.TooFew(size, needed)
	}
	return out
}

// answer sets answer i; it is false of a mean of hardly any rows, and of a centre that is missed.
func (d difference) answer(out estimator.Estimate, i int, a Asked, rows estimator.Estimate, value func(float64) float64) bool {
	x, m, sigma := out.Error, rows.Error.Raw[0], rows.Error.Noise[0]
	c, sum, hidden, added := value(d.centre), value(d.sum+d.added), value(d.noise.Sigma()), value(d.added)
	cut := estimator.Cut{Added: added, Up: d.choice.Up, Down: d.choice.Down, Long: d.choice.Tailed}
	// numbers on one side of a centre, about as far off as 0: it is rather missed
	if missed := d.choice.OneSided() && math.Abs(c*m+sum) < math.Abs(c*m)/2 && !scalar.Stands(c*m+sum, math.Hypot(c*sigma, hidden)); missed || a.Mean && (m < 3*sigma || m < 1 || d.few && !scalar.Stands(sum, hidden)) {
		return false
	}
	if !a.Mean {
		x.Noise[i], x.Rows[i] = math.Hypot(c*sigma, hidden), c*sigma
		x.Step[i] = value(1)
		x.Cut[i] = clipping.Sum(cut, clipping.Signed(rows.Error.Cut[0], c))
		if c == 0 {
			x.Cut[i].Radius, x.Cut[i].Seen = value(float64(max(d.choice.Low, d.choice.High))), value(d.choice.Seen)
		}
		x.Raw[i], out.Values[i], out.StdErr[i] = c*m+sum, c*m+sum, x.Noise[i]
		return true
	}
	v := sum / m
	x.Noise[i], x.Under[i], x.Centre[i], x.Step[i] = hidden/m, sigma/m, c, value(1)/m
	x.Cut[i] = clipping.Sum(cut.Times(1/m), clipping.Signed(rows.Error.Cut[0], -v/m))
	x.Raw[i], out.Values[i], out.StdErr[i] = c+v, c+v, math.Hypot(hidden, v*sigma)/m
	return true
}

// Columns implements estimator.Estimator.
func (e together) Columns() []estimator.Kind {
	kinds := []estimator.Kind{estimator.Rows}
	for range e.sums {
		kinds = append(kinds, estimator.Sum)
	}
	return kinds
}

// Loss implements estimator.Estimator.
func (e together) Loss() privacy.Loss { return scalar.Loss(e.p.Rho) }

// MinPersons implements estimator.Estimator.
func (e together) MinPersons() int64 {
	least := e.rows.MinPersons()
	if !slices.ContainsFunc(e.asked, func(a Asked) bool { return a.Argument < 0 }) {
		least = max(least, e.AllPersons())
	}
	return least
}

// AllPersons implements estimator.Partial.
func (e together) AllPersons() int64 {
	most := e.rows.MinPersons()
	for _, s := range e.sums {
		most = max(most, s.least())
	}
	return most
}

// least is the number of persons of one octave that stands out in the first search.
func (e centredSum) least() int64 {
	if e.p.MaxRows == 1 {
		return e.sums.Persons()
	}
	return e.clip.Persons()
}

// Alone implements estimator.Composed.
func (e together) Alone(i int) estimator.Estimator {
	a := e.asked[i]
	if a.Argument < 0 {
		return e.rows
	}
	alone := NewSum
	if a.Mean {
		alone = NewRowMean
	}
	of, _ := alone(e.sums[a.Argument].p) // checked
	return of
}

// ExpectedError implements estimator.Estimator.
func (together) ExpectedError() (float64, bool) { return 0, false }

// AllowsForBias implements estimator.Allowing.
func (together) AllowsForBias() bool { return true }

// Bias implements estimator.Biased.
func (together) Bias() string { return "the clip about the centre" }

// Exchange implements estimator.Exchanging: each part of the loss has a cost of its own. Of a sum
// that is of all its steps, about the centre or about 0, whichever costs more.
func (e together) Exchange() float64 {
	cost := 4.0
	if x, ok := e.rows.(estimator.Exchanging); ok {
		cost = x.Exchange()
	}
	for _, s := range e.sums {
		if s.p.MaxRows == 1 {
			cost += 0.15*scalar.ExchangeHistogram + 0.85*scalar.ExchangeBall
		} else {
			cost += 0.2*scalar.ExchangeHistogram + 0.18*scalar.ExchangeMedian + 0.62*scalar.ExchangeBall
		}
	}
	return cost / float64(len(e.sums)+1) * (1 + 1e-9)
}

// Steps implements estimator.Estimator.
func (e together) Steps() []estimator.Step {
	steps := slices.Clone(e.rows.Steps())
	for k, s := range e.sums {
		of := fmt.Sprintf(" of argument %d", k+1)
		if len(e.sums) == 1 {
			of = ""
		}
		sum := estimator.Step{Name: "sum about the centre" + of, Sensitivity: "l2=clip"}
		if s.p.Relation == estimator.ReplaceOne {
			sum.Sensitivity = lengthOfClip
		}
		if s.p.MaxRows == 1 {
			steps = append(steps, s.sums.Step("values"+of))
		} else {
			steps = append(steps, s.n.Steps()...)
		}
		centre := s.centred.Steps()[0]
		centre.Name += of
		steps = append(steps, centre, s.clip.Step("clip"+of), s.hidden(interval{0, 1}).Step(sum))
	}
	return steps
}
