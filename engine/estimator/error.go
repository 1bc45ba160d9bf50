package estimator

import (
	"cmp"
	"math"
	"slices"
)

// Error says how the values of an estimate came about, as far as error bars at any level need it:
// the noise and its law. All of it may be shown. Every slice has one entry a value, or one for all
// values, or none for 0. Package bars makes intervals of it.
//
// A quotient is Centre + S/n̂, with E the noise of S, e that of n̂, and r the exact S over the
// exact n̂:
//
//	value − exact = (E − r·e)/n̂
//
// which has a known law for every r: a sum or a count is a quotient with nothing under it.
type Error struct {
	Form Form
	Law  Law
	// Noise is the size of the noise of the numerator over n̂, in the units of the values; nil: the
	// standard errors, which then have that of n̂ in them, whatever Centre is.
	Noise []float64
	// of the lattice that numerator over n̂ is on; 0: as good as continuous. Of a Variance and a
	// Quantile that to which rows are rounded.
	Step   []float64
	Roomy  bool      // the interval has room for what rows are rounded by, however many there are
	Under  []float64 // size of the noise of n̂ over n̂; 0: n̂ is exact
	Centre []float64
	Raw    []float64 // the values before they were brought nearer to each other; nil: as shown
	// Common is 1 for a value that has too little of its own for an interval: value and interval
	// are what others' values and its own say together, as far as it is one of them.
	Common []float64
	// Rows is what Noise has of the noise of one number of rows that several values are made of,
	// with its sign: the rest of Noise is the value's own, and independent. nil: how the noises of
	// the values go together is not told.
	Rows []float64
	// Shift is the norm of what the noise of n̂ moves all values by together, at its size, and Tied
	// says that the noises of the values' numerators are not independent: both for the ℓ2 radius.
	Shift   float64
	Tied    bool
	Moments *Moments // of a Variance
	// of a Fraction, by value
	Fractions []FractionOf
	// of a Quantile, by value: the noisy ranks, but for those that tell no more than a nearer one
	// at any level
	Ranks  [][]Rank
	Rounds int // the most ranks that were asked for a value
	// of a Quantile that is an extreme: how many persons are aimed to be beyond it, and how many
	// are at most with probability 95 %
	Beyond, BeyondAtMost float64
	// of a Quotient and a Variance, by value: what a clip takes away, of a standard deviation that
	// of the variance; nil where it is not allowed for
	Cut []Cut
	// Persons is a released number of persons that the answer counts on; 0 where there is none.
	Persons float64
}

// IsSum reports whether a value is a count or a sum: a quotient with nothing under it.
func (x *Error) IsSum(at int) bool {
	return x.Form == Quotient && x.Moments == nil && Entry(x.Under, at) == 0 && Entry(x.Centre, at) == 0
}

// Form is how the values are made from noisy numbers.
type Form uint8

// Forms. No interval is known of values of the form Unknown.
const (
	Unknown Form = iota
	Quotient
	Variance
	Quantile
	Fraction
)

// Law is that of the noise, and what its size is.
type Law uint8

// Laws.
const (
	Gaussian Law = iota // size: standard deviation
	Laplace             // size: the scale t of e^{−|y|/t}
)

// Moments are what a variance is made from: Second + Offset − First², times n̂/(n̂−1) where Count
// is not 0. The noise of First is (E₁ − First·e)/n̂ and that of Second (E₂ − Second·e)/n̂, in the
// units of the values (of their squares).
type Moments struct {
	First, Second, Offset []float64
	Noise                 []float64 // size of E₁/n̂
	Noise2                []float64 // size of E₂/n̂
	Count                 float64   // n̂
	Root                  bool      // the standard deviation is shown
	As                    []As      // how each of several values is shown; nil: by Count and Root
}

// As is how one of several values of the same moments is shown: see Moments.
type As struct {
	Count float64
	Root  bool
}

// Shown is how value i is shown.
func (m *Moments) Shown(i int) As {
	if m.As == nil {
		return As{m.Count, m.Root}
	}
	return m.As[i]
}

// Rank is one noisy rank on the way to a quantile: where Z is positive the exact quantile is at
// most At, where it is negative at least At, each as surely as a standard normal number is under
// |Z|.
type Rank struct{ At, Z float64 }

// Entry returns entry i of a slice of Error.
func Entry(x []float64, i int) float64 {
	switch len(x) {
	case 0:
		return 0
	case 1:
		return x[0]
	}
	return x[i]
}

// Part returns the values from, from+1, …, to−1 of an estimate, as one that shares its memory.
func (e Estimate) Part(from, to int) Estimate {
	n := len(e.Values)
	cut := func(x []float64) []float64 {
		if len(x) != n || n == 1 {
			return x
		}
		return x[from:to:to]
	}
	out := e
	out.Values, out.StdErr = cut(e.Values), cut(e.StdErr)
	if e.Error == nil || e.Error.alike(n) {
		return out
	}
	x := *e.Error
	x.Noise, x.Step, x.Under, x.Centre, x.Raw, x.Common, x.Rows = cut(x.Noise), cut(x.Step), cut(x.Under), cut(x.Centre), cut(x.Raw), cut(x.Common), cut(x.Rows)
	if len(x.Ranks) == n {
		x.Ranks = x.Ranks[from:to:to]
	}
	if len(x.Cut) == n {
		x.Cut = x.Cut[from:to:to]
	}
	if len(x.Fractions) == n {
		x.Fractions = x.Fractions[from:to:to]
	}
	if m := x.Moments; m != nil {
		q := *m
		q.First, q.Second, q.Offset = cut(m.First), cut(m.Second), cut(m.Offset)
		q.Noise, q.Noise2 = cut(m.Noise), cut(m.Noise2)
		if len(q.As) == n {
			q.As = q.As[from:to:to]
		}
		x.Moments = &q
	}
	out.Error = &x
	return out
}

// Each returns an estimate of its own whose error has an entry for each value in Raw, Noise, Step,
// Under, Centre and, of a Quotient, Cut.
func (e Estimate) Each() Estimate {
	n := len(e.Values)
	e.Values, e.StdErr = slices.Clone(e.Values), slices.Clone(e.StdErr)
	if e.Error == nil {
		return e
	}
	x := *e.Error
	each := func(of []float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = Entry(of, i)
		}
		return out
	}
	if x.Raw == nil {
		x.Raw = e.Values
	}
	if x.Noise == nil {
		x.Noise = e.StdErr
	}
	x.Raw, x.Noise, x.Step, x.Under, x.Centre = slices.Clone(x.Raw), each(x.Noise), each(x.Step), each(x.Under), each(x.Centre)
	if x.Form == Quotient {
		cuts := make([]Cut, n)
		for i := range cuts {
			if len(x.Cut) > 0 {
				cuts[i] = x.Cut[min(i, len(x.Cut)-1)]
			}
		}
		x.Cut = cuts
	}
	e.Error = &x
	return e
}

// alike reports whether an error says the same of each of n values.
func (x *Error) alike(n int) bool {
	for _, s := range [][]float64{x.Noise, x.Step, x.Under, x.Centre, x.Raw, x.Common, x.Rows} {
		if len(s) == n {
			return false
		}
	}
	return x.Moments == nil && x.Ranks == nil && x.Cut == nil && x.Fractions == nil
}

// Times multiplies every value by a public factor f ≥ 0, with its error. It writes to the
// estimate's own values; a variance and a quantile are not multiplied.
func (e Estimate) Times(f float64) Estimate {
	scale := func(x []float64) {
		for i, v := range x {
			x[i] = min(max(v*f, -math.MaxFloat64), math.MaxFloat64)
		}
	}
	scale(e.Values)
	scale(e.StdErr)
	if e.Error == nil {
		return e
	}
	x := *e.Error
	scale(x.Noise)
	scale(x.Step)
	scale(x.Centre)
	scale(x.Raw)
	scale(x.Rows)
	x.Shift *= f
	if x.Cut != nil {
		x.Cut = slices.Clone(x.Cut)
		for i, c := range x.Cut {
			x.Cut[i] = c.Times(f)
		}
	}
	if x.Form == Variance || x.Form == Quantile || x.Form == Fraction {
		x = Error{}
	}
	e.Error = &x
	return e
}

// Cut is what a clip takes away from a value: what was added to it for that, and laws of what it
// may have been on either side.
type Cut struct {
	Added    float64 // to the value: Error's Noise is that of the value without it
	Up, Down []CutPart
	Radius   float64 // of the clip, in units of the value; 0 where it is not in such units
	Seen     float64 // the largest total of a person that Up and Down allow for, likewise
	Long     bool    // the laws are of a tail that may go on beyond what they allow for
}

// CutPart is one of several normal laws that what a clip takes away may follow: shapes of the tail
// that the released counts leave possible. The weights of all add up to 1.
type CutPart struct {
	Weight, Mean, StdDev float64
	// Unseen says that it is of persons whom the noise may hide: an interval allows for them, and
	// nothing else does.
	Unseen bool
}

// Endless reports whether nothing bounds what the clip takes from the upper side.
func (c Cut) Endless() bool { return len(c.Up) > 0 && math.IsInf(c.Up[0].Mean, 1) }

// OfSeen is the cut without what only intervals allow for.
func (c Cut) OfSeen() Cut {
	c.Up, c.Down = ofSeen(c.Up), ofSeen(c.Down)
	return c
}

func ofSeen(parts []CutPart) []CutPart {
	if !slices.ContainsFunc(parts, func(p CutPart) bool { return p.Unseen }) {
		return parts
	}
	var out []CutPart
	all := 0.0
	for _, p := range parts {
		if !p.Unseen {
			out, all = append(out, p), all+p.Weight
		}
	}
	for i := range out {
		out[i].Weight /= all
	}
	return out
}

// Above returns what the clip takes from the upper side at most, but with probability alpha, and
// Below the same for the lower side.
func (c Cut) Above(alpha float64) float64 { return cutAt(c.Up, alpha) }

// Expected returns what the laws expect that the clip takes, of both sides.
func (c Cut) Expected() float64 {
	sum := 0.0
	for _, parts := range [][]CutPart{ofSeen(c.Up), ofSeen(c.Down)} {
		for _, p := range parts {
			sum += p.Weight * math.Abs(p.Mean)
		}
	}
	return sum
}

// Doubt is how far what was added may be from what the laws say that the clip takes: the root of
// the mean square, of persons whom the counts show.
func (c Cut) Doubt() float64 {
	off, square := -c.Added, 0.0
	for i, parts := range [][]CutPart{ofSeen(c.Up), ofSeen(c.Down)} {
		mean, all := 0.0, 0.0
		for _, p := range parts {
			mean += p.Weight * math.Abs(p.Mean)
			all += p.Weight * (p.Mean*p.Mean + p.StdDev*p.StdDev)
		}
		square += all - mean*mean
		if i > 0 {
			mean = -mean
		}
		off += mean
	}
	return math.Sqrt(max(0, square) + off*off)
}

// Below is Above for the lower side.
func (c Cut) Below(alpha float64) float64 { return cutAt(c.Down, alpha) }

// tailRisk is the part of an interval's risk that is left to what a clip takes away. The laws are
// those of a library, so that it is less than the half that their own risk would be.
const tailRisk = 0.28

func cutAt(parts []CutPart, alpha float64) float64 {
	if len(parts) == 0 {
		return 0
	}
	alpha *= tailRisk
	z := math.Sqrt2 * math.Erfcinv(2*alpha)
	type end struct{ at, weight float64 }
	ends := make([]end, len(parts))
	for i, p := range parts {
		ends[i] = end{p.Mean + z*p.StdDev, p.Weight}
	}
	slices.SortFunc(ends, func(a, b end) int { return cmp.Compare(a.at, b.at) })
	left := 1 - alpha
	for _, e := range ends {
		if left -= e.weight; left <= 0 {
			return max(0, e.at)
		}
	}
	return max(0, ends[len(ends)-1].at)
}

// togetherRisk is the part of an interval's risk that noise and cut together may have on one side.
// It is less than half as the laws are those of a library: at more, sums in which one person in a
// hundred has most of what is beyond the clip hold in under .8 of releases at 95 %.
const togetherRisk = 0.1

// Ends returns how far below and above an answer, without what was added, the exact one may be at
// risk alpha, where noise alone may be low and high. Of normal noise an end is the lesser of two:
// of both added up, each at a risk of its own, and of the law of their sum, a mixture of normal
// laws, at togetherRisk. Where a tail is long the laws hold too seldom for the second: of means of
// Pareto's law of exponent 1.5, in .72 of 200 runs at 95 %, where the first holds in .96.
func (c Cut) Ends(law Law, low, high, alpha float64) (down, up float64) {
	if c.Long || law != Gaussian {
		return low + c.Below(alpha), high + c.Above(alpha)
	}
	return together(c.Down, low, alpha), together(c.Up, high, alpha)
}

func together(parts []CutPart, noise, alpha float64) float64 {
	end := noise + cutAt(parts, alpha)
	if !(end > noise) || math.IsInf(end, 1) {
		return end
	}
	sigma := noise / (math.Sqrt2 * math.Erfcinv(alpha))
	holds := func(x float64) bool {
		beyond := 0.0
		for _, p := range parts {
			beyond += p.Weight * math.Erfc((x-p.Mean)/(math.Sqrt2*max(math.Hypot(p.StdDev, sigma), 1e-300))) / 2
		}
		return beyond <= togetherRisk*alpha
	}
	if !holds(end) {
		return end
	}
	for from, i := noise, 0; i < 24; i++ {
		if x := from + (end-from)/2; holds(x) {
			end = x
		} else {
			from = x
		}
	}
	return end
}

// CutRisk is the part of an interval's risk that is what a clip takes away's own: where a law is
// known, CutOf's end for a risk is what it is beyond with CutRisk(risk).
func CutRisk(risk float64) float64 { return tailRisk * risk }

// CutOf is a law by the ends that it is beyond with the risks, which fall: between two of them it
// is at the farther end, and beyond the last one at the last end.
func CutOf(risks, ends []float64) []CutPart {
	out := make([]CutPart, len(ends))
	before := 1.0
	for k, end := range ends {
		out[k] = CutPart{Weight: before - tailRisk*risks[k], Mean: end}
		before = tailRisk * risks[k]
	}
	out[len(out)-1].Weight += before
	return out
}

// Times multiplies all of it by a public factor f ≥ 0.
func (c Cut) Times(f float64) Cut {
	scaled := func(parts []CutPart) []CutPart {
		out := make([]CutPart, len(parts))
		for i, p := range parts {
			out[i] = CutPart{p.Weight, p.Mean * f, p.StdDev * f, p.Unseen}
		}
		return out
	}
	return Cut{c.Added * f, scaled(c.Up), scaled(c.Down), c.Radius * f, c.Seen * f, c.Long}
}

// FractionOf is what a value of the form Fraction is made of: Offset + Num/Den, or the square of
// that, of two numbers whose noise is about normal, of no bias, and goes together.
type FractionOf struct {
	Offset, Num, Den     float64
	NumVar, Both, DenVar float64 // variances of the noise of Num and Den, and their covariance
	Cut                  Cut     // what a clip may move Offset + Num/Den by
	Square               bool    // the square is shown
	Low, High            float64 // the values that are possible
}

// Value is the value as shown: the nearest that is possible.
func (f FractionOf) Value() float64 {
	v := f.Offset + f.Num/f.Den
	if f.Square {
		v *= v
	}
	return min(max(v, f.Low), f.High)
}

// StdErr is the standard deviation of the value's noise by its linear part; NaN where the value is
// not known.
func (f FractionOf) StdErr(known bool) float64 {
	if !known {
		return math.NaN()
	}
	q := f.Num / f.Den
	s := math.Sqrt(max(0, f.NumVar-2*q*f.Both+q*q*f.DenVar)) / math.Abs(f.Den)
	if f.Square {
		s *= 2 * math.Abs(f.Offset+q)
	}
	return s
}
