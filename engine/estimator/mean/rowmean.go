package mean

import (
	"math"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/clipping"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/internal/sized"
	"scrim/engine/estimator/noise"
)

// rowMean is the mean over rows, from one clipped 2-vector a person.
type rowMean struct {
	p       estimator.Params
	n       scalar.Persons
	centred scalar.Centred
	clip    clipping.Search // of the vectors' norms; not used when fixed
	fixed   float64         // norm bound in units of κ, 0 when it is searched for
	width   scalar.Width    // sensitivity of the vectors' sum in radii
	cross   scalar.CrossWidth
	wedge   bool // with declared bounds under replace-one: see width
	noise   scalar.Noise
	sigma   float64
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
// rows the person has, and exchanging one by at most 2C. With declared bounds |uᵢ₁| ≤ uᵢ₂/w = 2uᵢ₂,
// kept in integers too: the vectors are in a sector of half-angle θ = arctan 2, whose diameter is
// the longer of its radius and its chord 2C·sin θ = (4/√5)·C. σ² = ⌈Δ²·2^60/(2ρ₃)⌉ lattice units on
// each coordinate, Δ in units of C, costs ρ₃. c, κ and C are public or released before.
//
//	add-remove    bounds declared   c = (L+U)/2, κ = (U−L)/2, no search for them; n̂ 0.05, C 0.20, sum 0.75
//	                                with p.MaxRows = M ≤ 4 also C = Mκ√(1+w²): n̂ 0.05, sum 0.95
//	              otherwise         n̂ 0.05, c 0.17 (median of the persons' means), κ 0.13 (histogram of |x̄ᵢ−c|), C 0.25, sum 0.40
//	replace-one   bounds declared   C 0.20, sum 0.80; with M ≤ 4 sum 1; n̂ is public or covered (scalar.Shares)
//	              otherwise         c 0.19, κ 0.14, C 0.25, sum 0.42
//
// Pure: the same with ℓ1 norms, ε and Laplace noise Lap_Z(Δ·2^30/ε₃) on each coordinate, which
// costs ε₃ for both. Δ is 1, and 2 where a person is exchanged; with declared bounds the vectors
// are in the set |u₁| ≤ 2u₂, |u₁| + u₂ ≤ 1 with the corners (0, 0), (0, 1) and (±⅔, ⅓), whose ℓ1
// diameter is 4/3. C = Mκ(1+w) where M ≤ 4 is declared.
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
	e := rowMean{p: p, width: rowWidth(p), cross: rowCross(p), wedge: p.Bounded() && p.Relation == estimator.ReplaceOne}
	var parts []float64
	e.n, parts = e.shares().Of(p, 1)
	last := len(parts) - 1
	if p.Bounded() {
		e.centred = scalar.NewCentred(p, 0, 0)
	} else {
		e.centred = scalar.NewCentred(p, parts[0], parts[1])
	}
	if rowsFixed(p) {
		e.fixed = float64(p.MaxRows) * e.norm(1, rowWeight)
	} else {
		e.clip = clipping.NewSearch(p, parts[last-1], 0, vectorNormLimit)
	}
	e.noise = scalar.NewNoise(p, e.width.Square(), e.cross.Units(), parts[last])
	e.sigma = e.noise.Sigma()
	return e, nil
}

// norm is the norm in which vectors are clipped: ℓ2, and ℓ1 where the noise is Laplace noise.
func (e rowMean) norm(d, w float64) float64 {
	if e.p.Pure() {
		return math.Abs(d) + math.Abs(w)
	}
	return math.Sqrt(float64(d*d) + float64(w*w))
}

// rowsFixed reports whether the bound of the norm is declared.
func rowsFixed(p estimator.Params) bool {
	return p.Bounded() && p.MaxRows > 0 && p.MaxRows <= maxFixedRows
}

// rowWidth is the sensitivity of the vectors' sum in radii: that of a ball, or of the sector of
// half-angle arctan(1/w).
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

func (e rowMean) shares() scalar.Shares {
	p, last := e.p, e.width.Joining()
	if p.Pure() {
		last = e.cross.Joining()
	}
	s := scalar.Shares{
		AddRemove: []float64{5, 17, 13, 25, 40}, ReplaceOne: []float64{19, 14, 25, 42},
		Joining: []float64{scalar.JoiningMedian, scalar.JoiningHistogram, scalar.JoiningHistogram, last},
	}
	switch {
	case rowsFixed(p):
		s.AddRemove, s.ReplaceOne, s.Joining = []float64{5, 95}, []float64{1}, s.Joining[3:]
	case p.Bounded():
		s.AddRemove, s.ReplaceOne, s.Joining = []float64{5, 20, 75}, []float64{20, 80}, s.Joining[2:]
	}
	return s
}

// Exchange implements estimator.Exchanging.
func (e rowMean) Exchange() float64 {
	steps := []float64{scalar.ExchangeMedian, scalar.ExchangeHistogram, scalar.ExchangeHistogram, scalar.ExchangeBall}
	s := e.shares()
	return s.Exchange(steps[len(steps)-len(s.AddRemove)+1:]...)
}

func (rowMean) Columns() []estimator.Kind      { return []estimator.Kind{estimator.Rows, estimator.Sum} }
func (e rowMean) Loss() privacy.Loss           { return scalar.LossOf(e.p) }
func (rowMean) ExpectedError() (float64, bool) { return 0, false }

// MinPersons implements estimator.Estimator.
func (e rowMean) MinPersons() int64 {
	least := max(e.n.Enough(), e.centred.MinPersons())
	if e.fixed == 0 {
		return max(least, e.clip.Persons())
	}
	return max(least, int64(math.Ceil(4*e.sigma*e.fixed/(rowWeight*(1<<scalar.BallBits)))))
}

// AllowsForBias implements estimator.Allowing.
func (rowMean) AllowsForBias() bool { return true }

// Bias implements estimator.Biased.
func (e rowMean) Bias() string {
	if e.fixed > 0 {
		return ""
	}
	return "the lower weight of persons with many rows, or far-off ones"
}

// Steps implements estimator.Estimator.
func (e rowMean) Steps() []estimator.Step {
	steps := append(e.n.Steps(), e.centred.Steps()...)
	if e.fixed == 0 {
		steps = append(steps, e.clip.Step("joint clip"))
	}
	sum := estimator.Step{Name: "sum and rows", Sensitivity: e.width.String(), Queries: 2}
	if e.p.Pure() {
		sum.Sensitivity = e.cross.String()
	}
	return append(steps, e.noise.Step(sum))
}

// Release implements estimator.Estimator.
func (e rowMean) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	in = sized.Columns(e.p, e.Columns(), in)
	rows, totals := in.Columns[0], in.Columns[1]
	count := e.n.Release(n, e.n.Of(in))
	if count < float64(e.MinPersons()) {
		return scalar.TooFew(1, e.MinPersons())
	}
	c, kappa := e.centred.Search(n, in.Memory, rows, totals)
	vector := e.vectors(c, kappa)
	radius, losses := e.fixed*float64(kappa), []clipping.Loss(nil)
	if e.fixed == 0 {
		var h clipping.Histogram
		for i, m := range rows {
			if m > 0 {
				d, w := vector.of(m, totals[i])
				h.Add(int64(min(scalar.Ceil(e.norm(d, w)), vectorNormLimit)))
			}
		}
		lengths, ok := e.clip.Release(n, &h).Lengths()
		if !ok {
			return scalar.TooFew(1, scalar.Twice(max(count, float64(e.MinPersons()))))
		}
		radius = math.Floor(lengths.RadiusOfRatio(noiseOfRatio*e.sigma/(1<<scalar.BallBits), unlike))
		losses = lengths.Losses(radius)
	}
	ball, cross, pure := scalar.NewBall(radius), scalar.NewCross(radius), e.p.Pure()
	var s0, s1 scalar.Sum
	for i, m := range rows {
		if m > 0 {
			d, w := int64(0), int64(0)
			if pure {
				d, w = cross.Clip2(vector.of(m, totals[i]))
			} else {
				d, w = ball.Clip2(vector.of(m, totals[i]))
			}
			if e.wedge { // true but for rounding
				d = min(max(d, -2*w), 2*w)
			}
			s0.Add(d)
			s1.Add(w)
		}
	}
	values, weights := e.noise.Of(n, s0), e.noise.Of(n, s1)
	if weights < 3*e.sigma {
		return scalar.TooFew(1, scalar.Twice(max(count, float64(e.MinPersons()))))
	}
	ratio := values / weights
	scale := rowWeight * float64(kappa)
	v := min(max(float64(c)+scale*ratio, float64(e.centred.Lo)), float64(e.centred.Hi))
	stdErr := scale * e.sigma * math.Hypot(1, ratio) / weights
	return scalar.Ratio(e.centred.Value(v), e.centred.Value(stdErr), estimator.Error{
		Law:     e.noise.Law(),
		Noise:   []float64{e.centred.Value(scale * e.noise.Size() / weights)},
		Under:   []float64{e.noise.Size() / weights},
		Centre:  []float64{e.centred.Value(float64(c))},
		Persons: count,
		Cut:     clipping.CutOfMean(losses, e.centred.Value(float64(kappa))),
	})
}

// vectors makes the vectors of persons; it is small, as it is used once or twice a person.
type vectors struct {
	centre int64
	shift  uint
	weight float64 // wκ
	reach  float64 // how far a row is from the centre at most, +Inf where that is not declared
}

func (e rowMean) vectors(c, kappa int64) vectors {
	v := vectors{centre: c, shift: e.centred.Shift, weight: rowWeight * float64(kappa), reach: math.Inf(1)}
	if e.centred.Bounded() {
		v.reach = float64(kappa)
	}
	return v
}

// of returns (T − c·m, wκm) in units of the person means, for m > 0. With declared bounds a row is
// within κ of c, so |T − c·m| ≤ κm is enforced: a person who breaks the promise is pulled back to
// it.
func (v vectors) of(m, total int64) (difference, weight float64) {
	d, reach := scalar.Deviation(m, total, v.centre, v.shift), v.reach*float64(m)
	return min(max(d, -reach), reach), v.weight * float64(m)
}
