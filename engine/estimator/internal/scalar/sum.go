package scalar

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

// Sum is a signed 128-bit accumulator in two's complement. Its zero value is 0.
type Sum struct {
	hi int64
	lo uint64
}

// Add adds v.
func (s *Sum) Add(v int64) {
	lo, carry := bits.Add64(s.lo, uint64(v), 0)
	s.lo = lo
	s.hi += v>>63 + int64(carry)
}

// Big returns the sum as a big integer.
func (s Sum) Big() *big.Int {
	b := big.NewInt(s.hi)
	b.Lsh(b, 64)
	return b.Add(b, new(big.Int).SetUint64(s.lo))
}

// Release returns the noisy sum as a float64: noise is added to the exact integer, rounding comes
// after it.
func (s Sum) Release(n noise.Noiser, sigma2 *big.Int) float64 {
	f, _ := new(big.Float).SetInt(n.Gaussian(s.Big(), sigma2)).Float64()
	return f
}

// Within returns the sum of squares of m >= 1 numbers about their own mean, Q − T²/m, from their
// sum T, |T| <= 2^50, and the sum of their squares Q in two's complement 128 bits. It is at least
// 0; inconsistent (saturated) columns give some number of the same kind. Q and T² are exact, so
// that a small spread about a large mean is not lost: mQ − T² is formed in integers when m < 2^16
// and Q < 2^110, in floats otherwise.
func Within(m, t int64, hi int64, lo uint64) float64 {
	if hi < 0 {
		return 0
	}
	if m >= 1<<16 || hi >= 1<<46 {
		q := float64(hi)*(1<<64) + float64(lo)
		return max(0, q-float64(float64(t)*float64(t))/float64(m))
	}
	ph, pl := bits.Mul64(lo, uint64(m))
	ph += uint64(hi) * uint64(m)
	u := uint64(max(t, -t))
	th, tl := bits.Mul64(u, u)
	dl, borrow := bits.Sub64(pl, tl, 0)
	dh, borrow := bits.Sub64(ph, th, borrow)
	if borrow != 0 {
		return 0
	}
	return (float64(dh)*(1<<64) + float64(dl)) / float64(m)
}

// Between returns the sum of products of m >= 1 pairs of numbers about their own means, P − TU/m,
// from their sums T and U, within ±2^50, and the sum of their products P in two's complement 128
// bits. It is formed in integers when m < 2^16 and |P| < 2^110, in floats otherwise; inconsistent
// (saturated) columns give some number.
func Between(m, t, u int64, hi int64, lo uint64) float64 {
	if m >= 1<<16 || hi >= 1<<46 || hi < -1<<46 {
		p := float64(hi)*(1<<64) + float64(lo)
		return p - float64(float64(t)*float64(u))/float64(m)
	}
	ph, pl := bits.Mul64(lo, uint64(m))
	ph += uint64(hi) * uint64(m)
	th, tl := bits.Mul64(uint64(max(t, -t)), uint64(max(u, -u)))
	if t < 0 != (u < 0) {
		th, tl = negative(th, tl)
	}
	dl, borrow := bits.Sub64(pl, tl, 0)
	dh, _ := bits.Sub64(ph, th, borrow)
	sign := 1.0
	if int64(dh) < 0 {
		sign = -1
		dh, dl = negative(dh, dl)
	}
	return sign * (float64(dh)*(1<<64) + float64(dl)) / float64(m)
}

// negative is −x of a number of 128 bits in two's complement.
func negative(hi, lo uint64) (uint64, uint64) {
	lo, borrow := bits.Sub64(0, lo, 0)
	hi, _ = bits.Sub64(0, hi, borrow)
	return hi, lo
}

// Times returns x·rows within ±MaxUnits, for rows >= 1 and |x| <= MaxUnits.
func Times(x, rows int64) int64 {
	over, c := bits.Mul64(uint64(max(x, -x)), uint64(rows))
	if over > 0 || c > estimator.MaxUnits {
		c = estimator.MaxUnits
	}
	if x < 0 {
		return -int64(c)
	}
	return int64(c)
}

// Means turns the rows of one person into one number: the mean of the person's values, rounded
// once, half to even, to a public fraction 2^-Shift of a grid step, and clamped to the public
// range.
//
// The fraction, 2^-10 of a step, keeps the mean of small integers, such as a 0/1 column, from being
// rounded to a whole step; with one row a person it is 2^-1, so that the middle of an interval is a
// lattice point. Sums are at most 2^50 steps, so a mean is at most 2^60 units and a difference of
// two at most 2^61.
type Means struct {
	Shift  uint
	Lo, Hi int64 // public range in units of 2^-Shift steps
	Totals bool  // a person's number is the sum of the values, not their mean
	grid   estimator.Grid
}

// MeanBits is the largest Shift: the mean of several rows is rounded to 2^-10 of a step, so that
// one of small integers is not rounded to a whole step.
const MeanBits = 10

// NewMeans returns the person means of an argument.
func NewMeans(p estimator.Params) Means {
	lo, hi := Range(p)
	shift := uint(MeanBits)
	if p.MaxRows == 1 {
		shift = 1
	}
	return Means{Shift: shift, Lo: lo << shift, Hi: hi << shift, grid: p.Grid}
}

// VectorShift is the fraction 2^-shift of a step that the mean of a person's vectors is rounded to:
// none where a person has one row. A mean of small integers is so not rounded to a whole step.
func VectorShift(p estimator.Params) uint {
	if p.MaxRows == 1 {
		return 0
	}
	return MeanBits
}

// Of returns the mean (the total, with Totals) of rows >= 1 values with the given sum of steps,
// |sum| <= 2^50.
func (m Means) Of(rows, sum int64) int64 {
	sum = min(max(sum, -estimator.MaxUnits), estimator.MaxUnits) << m.Shift
	q, r := sum, int64(0)
	if rows > 1 && !m.Totals {
		q, r = sum/rows, sum%rows
		if r < 0 {
			q, r = q-1, r+rows
		}
		if rest := rows - r; r > rest || r == rest && q&1 == 1 {
			q++
		}
	}
	return min(max(q, m.Lo), m.Hi)
}

// Value turns a number in units of 2^-Shift steps into a value of the argument.
func (m Means) Value(x float64) float64 { return Scale(m.grid, x/float64(int64(1)<<m.Shift)) }

// Middle returns the middle of the range and the radius that reaches both of its ends.
func (m Means) Middle() (centre, radius int64) {
	centre = m.Lo + (m.Hi-m.Lo)/2
	return centre, max(m.Hi-centre, centre-m.Lo)
}

// All returns the means of the persons present, in the order of the input and in memory from space.
func (m Means) All(space estimator.Memory, rows, sums []int64) []int64 {
	out := estimator.Make[int64](space, len(rows))[:0]
	for i, r := range rows {
		if r > 0 {
			out = append(out, m.Of(r, sums[i]))
		}
	}
	return out
}

// Distances counts persons by the distance of their mean from centre.
func Distances(means []int64, centre int64) *Histogram {
	h := new(Histogram)
	for _, x := range means {
		d := x - centre
		h.Add(uint64(max(d, -d)))
	}
	return h
}

// Persons is the number of persons of a group: released with noise, or public.
//
// One person who comes, goes or is exchanged changes it by Δ = 1 at most, under both neighbour
// relations; where the entries counted are values of which a person has at most M, by Δ = M.
type Persons struct {
	per     int64
	noise   Noise
	public  bool // Params.Sized: known, at no loss
	covered bool // its loss is covered by that of the other steps (Shares)
}

// NewPersons returns the noisy number of persons at loss rho.
func NewPersons(rho float64) Persons { return NewCount(rho, 1) }

// NewCount returns the noisy number of entries at loss rho, where a person has at most per of them:
// sensitivity per.
func NewCount(rho float64, per int64) Persons {
	return CountOf(estimator.Params{Rho: rho}, rho, per)
}

// CountOf returns the noisy number of entries of p's kind at a share of its loss.
func CountOf(p estimator.Params, share float64, per int64) Persons {
	return Persons{per: per, noise: Single(p, per, share)}
}

// Present returns the number of persons with at least one row.
func Present(rows []int64) int64 {
	n := int64(0)
	for _, m := range rows {
		if m > 0 {
			n++
		}
	}
	return n
}

// Of returns the number of persons of a group, not yet released: those present, or the public
// number, which does not follow from the columns. The first column is Rows.
func (p Persons) Of(in estimator.Input) int64 {
	if p.public {
		return in.Persons
	}
	return Present(in.Columns[0])
}

// Release returns max(1, n + noise), or max(1, n) where n is public.
func (p Persons) Release(n noise.Noiser, persons int64) float64 {
	if p.public {
		return float64(max(1, persons))
	}
	return float64(max(1, p.noise.Add(n, persons)))
}

// Sigma is the standard deviation of the noise, 0 where the number is public.
func (p Persons) Sigma() float64 { return p.noise.Sigma() }

// Enough is the number of persons that makes the noise at most a fifth of it.
func (p Persons) Enough() int64 { return int64(math.Ceil(5 * p.Sigma())) }

// Step describes the release.
func (p Persons) Step() estimator.Step {
	s := p.noise.Step(estimator.Step{Name: "number of persons", Sensitivity: fmt.Sprintf("l2=%d", p.per)})
	if p.covered {
		s.Sensitivity, s.Rho, s.Epsilon = s.Sensitivity+" (covered by the other steps)", 0, 0
	}
	return s
}

// Steps describes the release: none where the number is public.
func (p Persons) Steps() []estimator.Step {
	if p.public {
		return nil
	}
	return []estimator.Step{p.Step()}
}

// Shares says how an estimator splits its loss ρ between the number of persons n̂ and the steps
// after it, in proportion to weights.
//
//	add-remove    n̂ and the steps: AddRemove, n̂ first; together ρ
//	replace-one   the steps: ReplaceOne; together ρ. n̂ is public, or private with ρ_n = Σ (1−Joining_k)·ρ_k besides
//
// Why n̂ costs nothing under replace-one: fix a pair of neighbours. For this pair, losses of steps
// that are asked one after the other add up ([BS16] Lemma 2.3 is about one pair). If the person
// exchanged is in the group on both sides, n is the same and n̂ costs 0, and the steps ρ_k each:
// together ρ. If the person is in the group on one side only, n differs by one, which costs ρ_n;
// but then step k moves by no more than one person who comes or goes moves it, less than an
// exchange does, and costs Joining_k·ρ_k: together ρ again.
//
// Pure: the same with ε for ρ. Sensitivities enter once and not squared, so a step has at most
// √Joining_k·ε_k for one person more or less.
type Shares struct {
	AddRemove  []float64
	ReplaceOne []float64
	Joining    []float64
}

// Squared ratios of the sensitivities of steps to one person more or less and to one exchanged, for
// Shares.Joining.
const (
	JoiningMedian    = 1. / 4 // centred rank of the median: 1 and 2
	JoiningHistogram = 1. / 2 // one bucket a person: 1 and √2
	JoiningBall      = 1. / 4 // a vector of norm C: C and 2C
	// a number of an interval that holds 0: its longer end, and its length
	JoiningInterval = 1.
)

// What an exchange costs a step that is calibrated for one person more or less: the inverse.
const (
	ExchangeMedian    = 1 / JoiningMedian
	ExchangeHistogram = 1 / JoiningHistogram
	ExchangeBall      = 1 / JoiningBall
)

// CoveredPersons returns the number of persons under replace-one, as Shares has it, of a release
// whose other steps have a loss of rho together, none of which costs more than the part joining of
// its loss where one person comes or goes. These cost joining·rho at most then, however many of
// them a release comes to and however rho is divided among them; n̂ has the rest of rho besides,
// and costs nothing where a person is exchanged.
func CoveredPersons(rho, joining float64) Persons {
	n := NewPersons(rho * (1 - joining) * (1 - 1e-12))
	n.covered = true
	return n
}

// Exchange is what an exchange costs in terms of the loss under add-remove, where it costs step k
// so much in terms of its own. The person is present on both sides, so n̂ costs nothing. For
// estimator.Exchanging.
func (s Shares) Exchange(steps ...float64) float64 {
	if len(steps) != len(s.AddRemove)-1 {
		panic("scalar: steps of another number")
	}
	all, cost := s.AddRemove[0], 0.0
	for k, x := range steps {
		all += s.AddRemove[k+1]
		cost += s.AddRemove[k+1] * x
	}
	return cost / all
}

// Of splits the loss of p. Entries counted by n̂ are at most per a person.
func (s Shares) Of(p estimator.Params, per int64) (Persons, []float64) {
	if p.Relation != estimator.ReplaceOne {
		parts := Split(p.Loss(), s.AddRemove...)
		return CountOf(p, parts[0], per), parts[1:]
	}
	parts := Split(p.Loss(), s.ReplaceOne...)
	if p.Sized {
		return Persons{per: per, public: true}, parts
	}
	spare := 0.0
	for k, join := range s.Joining {
		if p.Pure() {
			join = math.Sqrt(join)
		}
		spare += parts[k] * (1 - join)
	}
	n := CountOf(p, spare*(1-1e-12), per)
	n.covered = true
	return n, parts
}

// MinLoss is the smallest loss that a scalar estimator accepts, ρ or ε: the account's own
// resolution.
const MinLoss = privacy.RhoUnit

// Check validates what all scalar estimators need. grid says whether the grid is used. A pure
// release is refused: for estimators that have one there is CheckPure.
func Check(p estimator.Params, grid bool) error {
	if p.Pure() {
		return estimator.ErrNotPure
	}
	return CheckPure(p, grid)
}

// CheckPure is Check for estimators with a pure form.
func CheckPure(p estimator.Params, grid bool) error {
	if err := p.Validate(); err != nil {
		return err
	}
	g := p.Grid
	switch {
	case p.Relation > estimator.ReplaceOne:
		return fmt.Errorf("estimator: unknown neighbour relation %d", p.Relation)
	case p.Loss() < MinLoss:
		return fmt.Errorf("estimator: want a loss >= %v, have %v", MinLoss, p.Loss())
	case !grid:
		return nil
	case g.Decimal && (g.Scale < 0 || g.Scale > 100):
		return fmt.Errorf("estimator: want a decimal scale from 0 to 100, have %d", g.Scale)
	case !g.Decimal && (!(g.Step > 0) || g.Step > 1e100 || g.Step < 1e-100):
		return fmt.Errorf("estimator: want 1e-100 <= grid step <= 1e100, have %v", g.Step)
	case g.Lo > g.Hi || g.Lo < -estimator.MaxUnits || g.Hi > estimator.MaxUnits:
		return fmt.Errorf("estimator: want -2^50 <= grid lo <= grid hi <= 2^50, have %d and %d", g.Lo, g.Hi)
	case p.Bounded() && (*p.Lower < -estimator.MaxUnits || *p.Upper > estimator.MaxUnits):
		return fmt.Errorf("estimator: want bounds within ±2^50 grid steps, have %d and %d", *p.Lower, *p.Upper)
	}
	return nil
}

// Range returns the public range of a row's value in steps: the declared bounds, else the grid's.
func Range(p estimator.Params) (lo, hi int64) {
	if p.Bounded() {
		return *p.Lower, *p.Upper
	}
	return p.Grid.Lo, p.Grid.Hi
}

// Scale turns a number of steps into a value. For a decimal grid it divides by a power of ten,
// which rounds once.
func Scale(g estimator.Grid, steps float64) float64 {
	if g.Decimal {
		return steps / math.Pow10(g.Scale)
	}
	return steps * g.Step
}

// Split divides a loss, ρ or ε, in proportion to weights. The exact sum of the parts is at most the
// loss: each part is a float64 rounded down by one part in 10^12, far more than its rounding error.
func Split(loss float64, weights ...float64) []float64 {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	parts := make([]float64, len(weights))
	for i, w := range weights {
		parts[i] = loss * (w / total) * (1 - 1e-12)
	}
	return parts
}

// Sigma2 returns ⌈queries·sensitivity²/(2ρ)⌉, the variance with which that many Gaussian answers of
// this ℓ2 sensitivity together cost ρ [CKS20, Theorem 14]. sensitivity2 is the squared sensitivity.
// The quotient is exact; rounding is up.
func Sigma2(sensitivity2 *big.Int, queries int64, rho float64) *big.Int {
	r := new(big.Rat).SetFloat64(rho) // finite: Check
	num := new(big.Int).Mul(sensitivity2, big.NewInt(queries))
	num.Mul(num, r.Denom())
	den := new(big.Int).Lsh(r.Num(), 1)
	return Variance(num, den)
}

// Variance returns ⌈num/den⌉, at least 1: with a sensitivity of 0 there is noise all the same. It
// changes num.
func Variance(num, den *big.Int) *big.Int {
	q, m := num.QuoRem(num, den, new(big.Int))
	if m.Sign() > 0 || q.Sign() == 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// SmallSigma2 is Sigma2 for an integer sensitivity, for use with GaussianInt.
func SmallSigma2(sensitivity, queries int64, rho float64) noise.Variance {
	return ToVariance(Sigma2(Square(sensitivity), queries, rho))
}

// ToVariance converts a variance below 2^128.
func ToVariance(b *big.Int) noise.Variance {
	return noise.Variance{Hi: new(big.Int).Rsh(b, 64).Uint64(), Lo: new(big.Int).And(b, maxWord).Uint64()}
}

var maxWord = new(big.Int).SetUint64(math.MaxUint64)

// Square returns x² as a big integer.
func Square(x int64) *big.Int { b := big.NewInt(x); return b.Mul(b, b) }

// Root returns √v as a float64, for reporting.
func Root(v *big.Int) float64 {
	f, _ := new(big.Float).SetInt(v).Float64()
	return math.Sqrt(f)
}

// Loss is the loss of a release with parameter rho.
func Loss(rho float64) privacy.Loss { return privacy.Loss{Rho: privacy.RhoOf(rho)} }

// TooFew is the answer of k values when the noisy number of persons is under the minimum.
func TooFew(k int, needed int64) estimator.Estimate {
	e := estimator.Estimate{Status: estimator.TooFew, Needed: needed, Values: make([]float64, k), StdErr: make([]float64, k)}
	for i := range e.StdErr {
		e.StdErr[i] = math.NaN()
	}
	return e
}

// One is the answer of one value with the standard deviation of its noise.
func One(value, stdErr float64) estimator.Estimate {
	return estimator.Estimate{Values: []float64{Finite(value)}, StdErr: []float64{stdErr}}
}

// Finite keeps a released number finite.
func Finite(x float64) float64 {
	switch {
	case x != x:
		return 0
	case x > math.MaxFloat64:
		return math.MaxFloat64
	case x < -math.MaxFloat64:
		return -math.MaxFloat64
	}
	return x
}
