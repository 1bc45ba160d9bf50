package mean

import (
	"fmt"
	"math"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/internal/sized"
	"scrim/engine/estimator/noise"
)

// rowMean is the mean over rows, from one clipped 2-vector a person.
type rowMean struct {
	p        estimator.Params
	n        scalar.Persons
	centred  scalar.Centred // the search for c and κ
	coarse   scalar.Coarse  // the same with fewer persons
	declared scalar.Centred // those of declared bounds, Bounded where there are any
	whole    firstLook      // with all of the loss that is left
	first    firstLook      // with a part of it, the other being that of second
	second   secondLook
	fixed    float64 // bound of the norm in units of the declared κ, 0 where there is none
}

// rowWeight is the weight of a person's number of rows beside the sum of their centred values: the
// number of rows enters the centred mean only to second order, so it may be noisier. With s =
// (mean−c)/κ the variance is in proportion to (1+w²)(1+s²/w²), least at w² = |s|; w = 1/2 suits the
// usual s near 1/4.
const rowWeight = 0.5

// The error of the answer, over κ, is noiseOfRatio times the noise of a coordinate over the length
// of the vectors that is left, since the number of rows has some 7 tenths of that; and unlike is
// how far the mean of the rows that a clip takes is from that of all, over κ, when a radius is
// chosen.
const (
	noiseOfRatio = rowWeight / 0.7
	unlike       = 0.3
)

// maxFixedRows is the largest declared number of rows for which the norm's bound is used as the
// clip.
const maxFixedRows = 4

// vectorNormLimit bounds the clip of a vector's norm.
const vectorNormLimit = 1 << 61

// NewRowMean returns the private mean over rows. Columns: Rows, Sum.
//
// Person i with mᵢ rows that sum to Tᵢ gives the vector uᵢ = (Tᵢ − c·mᵢ, wκmᵢ), w = 1/2, where c is
// a centre and κ a radius of one row; it is shortened to norm C by one factor for both coordinates,
// so that a person with many rows loses weight above and below alike, and the answer is c +
// wκ·S₁/S₂ with S the noisy sums.
//
// Sensitivity: a person's clipped vector has ℓ2 norm at most C (scalar.Ball checks it in integers
// on a lattice of C·2^-30), so adding or removing a person moves (S₁,S₂) by at most C, however many
// rows the person has, and exchanging one by at most 2C. σ² = ⌈Δ²·2^60/(2ρ₃)⌉ lattice units on each
// coordinate, Δ in units of C, costs ρ₃. c, κ and C are public or released before.
//
// Where n̂ says that persons are enough there is a second look about the first answer (secondLook),
// and the answer is both looks' mean by their variances.
//
//	add-remove    bounds declared   n̂ 0.05, c 0.12, κ 0.09, C 0.11, sum 0.22, second C 0.11, sum 0.30
//	              otherwise         n̂ 0.05, c 0.17 (median of the persons' means), κ 0.13 (histogram of |x̄ᵢ−c|),
//	                                C 0.13, sum 0.16, second C 0.12, sum 0.24
//	replace-one   bounds declared   c 0.13, κ 0.10, C 0.11, sum 0.23, second C 0.11, sum 0.32
//	              otherwise         c 0.19, κ 0.14, C 0.13, sum 0.17, second C 0.12, sum 0.25
//	                                n̂ is public or covered (scalar.Shares)
//
// Without a second look the first has what both have, C and sum each, so that the steps have the
// same loss together either way.
//
// With so few persons that these searches may miss (scalar.Centred.Sure), c and κ are read off one
// histogram of the signed octaves of the means, at the loss of both (scalar.Coarse). Which it is
// follows from n̂, which is released or public. Under replace-one one person more or less costs the
// histogram half of its loss, so that n̂ has no more than what half of each search's loss leaves.
//
// With declared bounds c and κ are searched for within them. Where n̂ is too small for that, or the
// κ found is not well under (U−L)/2, they are c = (L+U)/2 and κ = (U−L)/2; with p.MaxRows = M ≤ 4
// then C = Mκ√(1+w²) takes the place of the search. All steps are charged in either case, so that a
// wide declaration costs nothing beside none. There |uᵢ₁| ≤ uᵢ₂/w = 2uᵢ₂, kept in integers too: the
// vectors are in a sector of half-angle θ = arctan 2, whose diameter is the longer of its radius
// and its chord 2C·sin θ = (4/√5)·C, which takes the place of 2C. Which of both is noised follows
// from n̂ and κ, which are released.
//
// Pure: the same with ℓ1 norms, ε and Laplace noise Lap_Z(Δ·2^30/ε₃) on each coordinate, which
// costs ε₃ for both. Δ is 1, and 2 where a person is exchanged; about declared bounds the vectors
// are in the set |u₁| ≤ 2u₂, |u₁| + u₂ ≤ 1 with the corners (0, 0), (0, 1) and (±⅔, ⅓), whose ℓ1
// diameter is 4/3. C = Mκ(1+w) where M ≤ 4 is declared.
//
// Where no distance stands out from the histogram but 0, or the least one, others may hide in the
// noise: then the interval has no ends (of declared bounds, these are taken). An answer of a centre
// that is far beyond all values (scalar.Missed), of a κ that is a guess, or of octaves on one side
// of 0, is NULL where it does not stand out from its noise: an octave far out that only noise lifts
// makes the answer wide.
//
// With p.MaxRows = 1 rows are persons and the answer is that of NewMean. TooFew when n̂ is under
// MinPersons, when no norm stands out from the noise, or when the noisy number of rows S₂ is under
// three times its noise.
func NewRowMean(p estimator.Params) (estimator.Estimator, error) {
	if err := scalar.CheckPure(p, true); err != nil {
		return nil, err
	}
	if p.MaxRows == 1 {
		return newPersons(p), nil
	}
	e := rowMean{p: p}
	var parts []float64
	e.n, parts = e.shares().Of(p, 1)
	open := scalar.Open(p)
	e.centred = scalar.NewCentred(open, parts[0], parts[1])
	e.coarse = scalar.NewCoarse(open, e.centred.Means, (parts[0]+parts[1])*(1-1e-12))
	e.whole, e.first = e.look(parts[2]+parts[4], parts[3]+parts[5]), e.look(parts[2], parts[3])
	e.second = secondLook{p, parts[4], parts[5]}
	if p.Bounded() {
		e.declared = scalar.NewCentred(p, 0, 0)
		if p.MaxRows > 0 && p.MaxRows <= maxFixedRows {
			e.fixed = float64(p.MaxRows) * norm(p.Pure(), 1, rowWeight)
		}
	}
	return e, nil
}

// norm is the norm in which vectors are clipped: ℓ2, and ℓ1 where the noise is Laplace noise.
func norm(pure bool, d, w float64) float64 {
	if pure {
		return math.Abs(d) + math.Abs(w)
	}
	return math.Sqrt(float64(d*d) + float64(w*w))
}

// rowWidth is the sensitivity of the vectors' sum in radii: that of a ball, or about declared
// bounds of the sector of half-angle arctan(1/w).
func rowWidth(p estimator.Params) scalar.Width {
	if p.Bounded() {
		return scalar.NewWidth(p.Relation, 16, 5)
	}
	return scalar.BallWidth(p.Relation)
}

// rowCross is the same in ℓ1.
func rowCross(p estimator.Params) scalar.CrossWidth {
	if p.Bounded() {
		return scalar.NewCrossWidth(p.Relation, 4, 3)
	}
	return scalar.NewCrossWidth(p.Relation, 2, 1)
}

// shares are of c, κ, the first look's clip and sum, and the second's. Without a second look the
// first has both clips' and both sums'. What n̂ costs under replace-one is reckoned with a second
// look, which leaves the least. They are the same about declared bounds as otherwise: one person
// more or less has at most the part of a loss that it has there, where the vectors' set is
// narrower.
func (e rowMean) shares() scalar.Shares {
	last := rowWidth(e.p).Joining()
	if e.p.Pure() {
		last = rowCross(e.p).Joining()
	}
	s := scalar.Shares{
		AddRemove: []float64{5, 17, 13, 13, 16, 12, 24}, ReplaceOne: []float64{19, 14, 13, 17, 12, 25},
		Joining: []float64{
			scalar.JoiningHistogram, scalar.JoiningHistogram, scalar.JoiningHistogram, last, scalar.JoiningHistogram, scalar.JoiningInterval,
		},
	}
	if e.p.Bounded() {
		s.AddRemove, s.ReplaceOne = []float64{5, 12, 9, 11, 22, 11, 30}, []float64{13, 10, 11, 23, 11, 32}
	}
	return s
}

// Exchange implements estimator.Exchanging.
func (e rowMean) Exchange() float64 {
	return e.shares().Exchange(scalar.ExchangeMedian, scalar.ExchangeHistogram,
		scalar.ExchangeHistogram, scalar.ExchangeBall, scalar.ExchangeHistogram, scalar.ExchangeBall)
}

func (rowMean) Columns() []estimator.Kind      { return []estimator.Kind{estimator.Rows, estimator.Sum} }
func (e rowMean) Loss() privacy.Loss           { return scalar.LossOf(e.p) }
func (rowMean) ExpectedError() (float64, bool) { return 0, false }

// MinPersons implements estimator.Estimator.
func (e rowMean) MinPersons() int64 {
	switch {
	case e.fixed > 0:
		return max(e.n.Enough(), int64(math.Ceil(4*e.whole.narrow.Sigma()*e.fixed/(rowWeight*(1<<scalar.BallBits)))))
	case e.p.Bounded():
		return e.least()
	}
	return max(e.least(), e.searched())
}

// least is the number of persons that the clip needs, and the number of persons itself: the answer
// depends on that only by what is chosen.
func (e rowMean) least() int64 {
	return max(int64(math.Ceil(countZ*e.n.Sigma())), int64(math.Ceil(spread*float64(e.whole.clip.Persons()))))
}

const (
	// countZ is the number of standard errors that the number of persons has to be.
	countZ = 3
	// spread is for persons whose vectors have lengths in more than one octave.
	spread = 1.6
	// two is for persons whose means are in two octaves, which hold some more than half of them.
	two = 1.3
)

// searched is the number of persons that a search for c and κ needs.
func (e rowMean) searched() int64 {
	return min(int64(math.Ceil(two*float64(e.coarse.Persons()))), e.centred.MinPersons())
}

// within is the number of persons from which on a search goes on within declared bounds.
func (e rowMean) within() int64 { return max(e.searched(), e.least()) }

// needed is the number of persons that the searches need.
func (e rowMean) needed() int64 { return max(e.centred.MinPersons(), e.whole.clip.Persons()) }

// AllowsForBias implements estimator.Allowing.
func (rowMean) AllowsForBias() bool { return true }

// Bias implements estimator.Biased.
func (rowMean) Bias() string {
	return "the lower weight of persons with many rows, or far-off ones"
}

// Reason implements estimator.Reasoned.
func (e rowMean) Reason() string {
	reason := fmt.Sprintf("under %d persons centre and clip are one histogram of octaves, at the loss of both; under %d there is one joint clip and sum, at the loss of two",
		e.centred.Sure(), e.leastTwice())
	if e.p.Bounded() {
		reason += fmt.Sprintf("; under %d the middle and half of the declared range stand for them", e.within())
	}
	return reason
}

// Steps implements estimator.Estimator.
func (e rowMean) Steps() []estimator.Step {
	steps := append(append(e.n.Steps(), e.centred.Steps()...), e.first.clip.Step("joint clip"))
	sum := estimator.Step{Name: "sum and rows", Sensitivity: rowWidth(scalar.Open(e.p)).String(), Queries: 2}
	if e.p.Pure() {
		sum.Sensitivity = rowCross(scalar.Open(e.p)).String()
	}
	return append(append(steps, e.first.noise.Step(sum)), e.second.Steps()...)
}

// frame is what persons' vectors are made and clipped by.
type frame struct {
	c, kappa  int64
	low, high float64 // the least and the most that a row may be beyond c
	declared  bool    // c and κ are the middle and half the width of declared bounds
	found             // how κ was
	fixed     float64 // bound of the norm, 0 where it is searched for
}

// found is how a search for κ went.
type found struct {
	guessed bool // no distance stands out, or an octave may be one too many
	alike   bool // none but 0 does
	none    bool // there is neither c nor κ
	octaves bool // by octaves: c is among the values
}

// tighter is how much less the κ found has to be than the declared one: the sector of vectors about
// declared bounds is narrower than a ball by 2/√5.
const tighter = 1.2

// frame returns what is found, or what is declared.
func (e rowMean) frame(n noise.Noiser, in estimator.Input, count float64) frame {
	if !e.p.Bounded() {
		c, kappa, found := e.search(n, in, count)
		return frame{c: c, kappa: kappa, found: found, low: math.Inf(-1), high: math.Inf(1)}
	}
	middle, most := e.declared.Middle()
	if count >= float64(e.within()) {
		if c, kappa, found := e.search(n, in, count); !found.alike && !found.none && float64(kappa)*tighter <= float64(most) {
			return frame{c: c, kappa: kappa, low: float64(e.centred.Lo - c), high: float64(e.centred.Hi - c)}
		}
	}
	return frame{c: middle, kappa: most, low: -float64(most), high: float64(most), declared: true, fixed: e.fixed * float64(most)}
}

// search releases c and κ.
func (e rowMean) search(n noise.Noiser, in estimator.Input, count float64) (c, kappa int64, how found) {
	if count < float64(e.centred.Sure()) {
		means := e.centred.All(in.Memory, in.Columns[0], in.Columns[1])
		defer estimator.Free(in.Memory, means)
		octaves, ok := e.coarse.Release(n, means)
		if !ok {
			return 0, 0, found{none: true}
		}
		c, kappa, how.alike = octaves.About()
		how.octaves, how.guessed = true, octaves.OneSign()
		return c, kappa, how
	}
	c, kappa, ok := e.centred.Found(n, in.Memory, in.Columns[0], in.Columns[1])
	return c, kappa, found{guessed: !ok, alike: ok && kappa == 1}
}

// Release implements estimator.Estimator.
func (e rowMean) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	in = sized.Columns(e.p, e.Columns(), in)
	count := e.n.Release(n, e.n.Of(in))
	if count < float64(e.MinPersons()) {
		return scalar.TooFew(1, e.MinPersons())
	}
	f := e.frame(n, in, count)
	if f.none {
		return scalar.TooFew(1, scalar.Twice(max(count, float64(e.MinPersons()))))
	}
	look, twice := e.whole, e.twice(f, count)
	if twice {
		look = e.first
	}
	a, ok := look.release(n, in, f, e)
	if !ok {
		return scalar.TooFew(1, scalar.Twice(max(count, float64(e.MinPersons()))))
	}
	if f.guessed && !scalar.Stands(a.value, a.noise) || !e.p.Bounded() && !f.octaves && scalar.Missed(float64(f.c), float64(f.kappa), a.value, a.noise) {
		return scalar.TooFew(1, scalar.Twice(count))
	}
	if twice {
		c := int64(min(max(math.RoundToEven(a.value), float64(e.centred.Lo)), float64(e.centred.Hi)))
		a.value = float64(c)
		a = e.second.release(n, in, a, e.about(f, c))
	}
	return e.estimate(a, look.noise.Law(), count)
}

// twice reports whether there is a second look. It follows from what is public or released.
func (e rowMean) twice(f frame, count float64) bool {
	return f.fixed == 0 && !f.guessed && !f.alike && count >= float64(e.leastTwice())
}

// leastTwice is the number of persons from which on there may be a second look.
func (e rowMean) leastTwice() int64 { return max(e.needed(), leastSecond*e.whole.clip.Persons()) }

// estimate is the answer in values of the argument, within the public range.
func (e rowMean) estimate(a answer, law estimator.Law, count float64) estimator.Estimate {
	v := min(max(a.value, float64(e.centred.Lo)), float64(e.centred.Hi))
	unit := e.centred.Value(1)
	var cut []estimator.Cut
	for _, c := range a.cut {
		cut = append(cut, c.Times(unit))
	}
	return scalar.Ratio(e.centred.Value(v), e.centred.Value(a.noise), estimator.Error{
		Law: law, Noise: []float64{e.centred.Value(a.size)}, Under: []float64{a.under},
		Centre: []float64{e.centred.Value(a.centre)}, Persons: count, Cut: cut,
	})
}

// about gives a person's rows counted from c in the place of f's centre.
func (e rowMean) about(f frame, c int64) func(m, total int64) float64 {
	f.low, f.high, f.c = f.low+float64(f.c-c), f.high+float64(f.c-c), c
	vector := e.vectors(f)
	return func(m, total int64) float64 {
		d, _ := vector.of(m, total)
		return d
	}
}
