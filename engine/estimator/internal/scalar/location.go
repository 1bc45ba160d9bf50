package scalar

import (
	"fmt"
	"math"
	"math/bits"
	"sort"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/exponential"
	"scrim/engine/estimator/noise"
)

// Axis divides a public range of integers into at most 2^rounds cells, as fine as a floating-point
// number with a fixed number of bits: cells have width 1 near zero and relative width 2^-bits
// beyond, so a value anywhere in ±2^50 is found with the same relative precision, and a short range
// exactly.
//
// With 24 rounds: every integer up to 2^18 by itself, and 1 part in 2^18 beyond, on ±2^50.
type Axis struct {
	lo, hi int64 // public range
	bits   int
	first  int64 // cell of lo
	cells  int64
	rounds int
}

// NewAxis returns the finest axis of at most 2^rounds cells on [lo, hi].
func NewAxis(lo, hi int64, rounds int) Axis {
	a := Axis{lo: lo, hi: hi}
	for a.bits = 52; ; a.bits-- {
		a.first = a.cell(lo)
		if a.cells = a.cell(hi) - a.first + 1; a.cells <= 1<<rounds {
			break
		}
	}
	a.rounds = bits.Len64(uint64(a.cells - 1))
	return a
}

// cell returns the number of the cell of k, counted from the cell of 0.
func (a Axis) cell(k int64) int64 {
	if k < 0 {
		return -a.cell(-k)
	}
	e := bits.Len64(uint64(k)) - (a.bits + 1)
	if e <= 0 {
		return k
	}
	return int64(e)<<a.bits + k>>e
}

// Cell returns the number of k's cell, from 0; k outside the range counts as its nearest end.
func (a Axis) Cell(k int64) uint32 { return uint32(a.cell(min(max(k, a.lo), a.hi)) - a.first) }

// Cells returns the cell of each of several numbers, in memory from m.
func (a Axis) Cells(m estimator.Memory, of []int64) []uint32 {
	out := estimator.Make[uint32](m, len(of))
	for i, k := range of {
		out[i] = a.Cell(k)
	}
	return out
}

// Value returns the middle of a cell.
func (a Axis) Value(cell uint32) int64 {
	j := int64(cell) + a.first
	sign := int64(1)
	if j < 0 {
		j, sign = -j, -1
	}
	if e := j>>a.bits - 1; e > 0 {
		j = (j-e<<a.bits)<<e + (1<<e-1)/2
	}
	return min(max(sign*j, a.lo), a.hi)
}

// Ends returns the least and the largest number of a cell.
func (a Axis) Ends(cell uint32) (lo, hi float64) {
	j := int64(cell) + a.first
	sign := 1.0
	if j < 0 {
		j, sign = -j, -1
	}
	l, h := j, j
	if e := j>>a.bits - 1; e > 0 {
		l = (j - e<<a.bits) << e
		h = l + 1<<e - 1
	}
	lo, hi = sign*float64(l), sign*float64(h)
	return max(min(lo, hi), float64(a.lo)), min(max(lo, hi), float64(a.hi))
}

// Bisection searches an axis for the quantile num/den of one value a person.
//
// Each of at most T rounds asks Q = den·#{x ≤ mid} − num·n, whose sign says on which side of mid
// the quantile lies. Each value adds den−num or −num to Q, so a person with at most M values adds a
// number in [−M·num, M·(den−num)], and Q changes
//
//	add-remove    by at most Δ = M·max(num, den−num), a number of this interval
//	replace-one   by at most Δ = M·den, the length of the interval, which holds 0
//
// Each answer has σ² = ⌈TΔ²/(2ρ)⌉, together ρ. T is fixed by the axis before data are read. n
// enters only inside Q and need not be public.
//
// Rank error: with probability 1−β the answer's rank is within zσ/den values of the quantile's, z
// the two-sided normal point of β/T; that is at most (Δ/den)·√(T·ln(2T/β)/ρ) [HLY21, Theorem 1; the
// constant is that of the union bound, larger by √2 than printed].
type Bisection struct {
	axis     Axis
	num, den int64
	rho      float64
	delta    int64
	sigma2   noise.Variance
}

// NewBisection returns a search at loss rho for values of which a person has at most rows.
func NewBisection(relation estimator.Relation, a Axis, num, den, rows int64, rho float64) Bisection {
	b := Bisection{axis: a, num: num, den: den, rho: rho, delta: rows * max(num, den-num)}
	if relation == estimator.ReplaceOne {
		b.delta = rows * den
	}
	b.sigma2 = SmallSigma2(b.delta, int64(max(a.rounds, 1)), rho)
	return b
}

// Rounds is the most ranks that a search asks for.
func (b Bisection) Rounds() int { return b.axis.rounds }

// Sigma is the standard deviation of one round's noise, in values.
func (b Bisection) Sigma() float64 { return Root(b.sigma2.Big()) / float64(b.den) }

// RankError is the number of values by which the answer's rank is off at most with probability
// 1−beta: the point that a normal variable of each round's σ passes, on either side, with
// probability beta/T.
func (b Bisection) RankError(beta float64) float64 {
	return b.Sigma() * math.Sqrt2 * math.Erfcinv(beta/float64(max(b.axis.rounds, 1)))
}

// Persons is the number of values with which no round that compares the quantile with an empty part
// of the axis turns the wrong way, with probability 95 %: the margin of such a round is a share
// min(num, den−num)/den of the values, and the noise is beyond it on one side.
func (b Bisection) Persons() int64 {
	margin := float64(min(b.num, b.den-b.num)) / float64(b.den)
	z := math.Sqrt2 * math.Erfcinv(2*0.05/float64(max(b.axis.rounds, 1)))
	return int64(math.Ceil(b.Sigma() * z / margin))
}

// Step describes the search.
func (b Bisection) Step(name string) estimator.Step {
	return estimator.Step{
		Name: name, Mechanism: estimator.DiscreteGaussian, Use: "bisection", Sensitivity: fmt.Sprintf("l2=%d", b.delta),
		Queries: b.axis.rounds, Rho: b.rho,
	}
}

// Search returns a value at the quantile. cells holds the cell of each value; it is reordered.
func (b Bisection) Search(n noise.Noiser, cells []uint32) int64 {
	v, _ := b.Ranks(n, cells)
	return v
}

// Ranks is Search, which also returns the noisy ranks that it went by, at most Rounds. Each is paid
// for as a number, of which Search uses the sign alone. Rank.At is in the units of the axis: the
// upper end of the cells that the round asked about, or the lower end of those beyond.
func (b Bisection) Ranks(n noise.Noiser, cells []uint32) (int64, []estimator.Rank) {
	total, sigma := int64(len(cells)), Root(b.sigma2.Big())
	ranks := make([]estimator.Rank, 0, b.axis.rounds)
	lo, hi, below := uint32(0), uint32(b.axis.cells-1), int64(0)
	for lo < hi {
		mid := lo + (hi-lo)/2
		k := partition(cells, mid)
		noisy := n.GaussianInt(b.den*(below+int64(k))-b.num*total, b.sigma2)
		rank := estimator.Rank{Z: float64(noisy) / sigma}
		if noisy < 0 {
			rank.At, _ = b.axis.Ends(mid + 1)
			lo, below, cells = mid+1, below+int64(k), cells[k:]
		} else {
			_, rank.At = b.axis.Ends(mid)
			hi, cells = mid, cells[:k]
		}
		ranks = append(ranks, rank)
	}
	return b.axis.Value(lo), ranks
}

// partition moves the entries that are at most mid to the front and returns their number. Which way
// an entry goes cannot be foretold, so nothing branches on it.
func partition(cells []uint32, mid uint32) int {
	i := 0
	for j, x := range cells {
		cells[j] = cells[i]
		cells[i] = x
		below := 0
		if x <= mid {
			below = 1
		}
		i += below
	}
	return i
}

// Centred finds a centre and a radius for one number a person, or takes them from declared bounds.
//
//	bounds declared   centre = (L+U)/2, radius = (U−L)/2, no loss
//	otherwise         centre = the median (ρ_c), by the exponential mechanism or by bisection, whichever needs fewer
//	                  persons on the axis of the values; radius from a histogram of |x − centre| (ρ_r)
//	                  pure: the median by the exponential mechanism (ε_c), a histogram with Laplace noise (ε_r)
type Centred struct {
	Means
	bounded bool
	only    bool // no search for a radius
	axis    Axis
	drawn   bool                 // the median is drawn by the exponential mechanism
	chosen  exponential.Quantile // by which it is drawn
	median  Bisection            // by which it is searched otherwise
	radius  Radius
}

// centreRounds is the number of bisection rounds for a centre: it need only be precise compared
// with the spread, and 20 rounds find a number within ±2^50 to 1 part in 2^14.
const centreRounds = 20

// NewCentred returns the searches; the losses are not used when bounds are declared.
func NewCentred(p estimator.Params, centreLoss, radiusLoss float64) Centred {
	c := Centred{Means: NewMeans(p), bounded: p.Bounded()}
	if c.bounded {
		return c
	}
	c.axis = NewAxis(c.Lo, c.Hi, centreRounds)
	c.radius = RadiusOf(p, radiusLoss, c.Hi-c.Lo)
	if !p.Pure() {
		c.median = NewBisection(p.Relation, c.axis, 1, 2, 1, centreLoss)
		c.chosen = exponential.NewQuantile(1, 2, 1, centreLoss, p.Relation)
		c.drawn = c.chosen.Persons(float64(c.axis.cells)) < c.median.Persons()
		return c
	}
	c.drawn = true
	var err error
	if c.chosen, err = exponential.NewPureQuantile(1, 2, 1, centreLoss, p.Relation); err != nil {
		panic(err) // CheckPure: a share of the least loss is far above what a median needs
	}
	return c
}

// Open returns p with its declared bounds as the range of the grid alone: a search goes within it.
func Open(p estimator.Params) estimator.Params {
	if p.Bounded() {
		p.Grid.Lo, p.Grid.Hi = *p.Lower, *p.Upper
		p.Lower, p.Upper = nil, nil
	}
	return p
}

// NewCentre returns the search for a centre alone, at loss rho.
func NewCentre(p estimator.Params, rho float64) Centred {
	c := NewCentred(p, rho, rho)
	c.only = true
	return c
}

// Bounded reports whether the bounds are declared.
func (c Centred) Bounded() bool { return c.bounded }

// MinPersons is the number of persons that the searches need: the median must not leave the data by
// mistake, and the radius should leave at least half of the persons whole.
func (c Centred) MinPersons() int64 {
	if c.bounded {
		return 0
	}
	if c.only {
		return c.location()
	}
	return max(c.location(), 2*c.radius.Persons())
}

// Sure is the number of persons with which the searches hardly ever fail: the chance that the
// median leaves the data falls by its own power with their number, and twice as many persons are
// seen by the radius also where they are spread over several buckets.
func (c Centred) Sure() int64 {
	return max(c.location()+c.location()/5, 4*c.radius.Persons())
}

// location is the number of persons that the median needs.
func (c Centred) location() int64 {
	if c.drawn {
		return c.chosen.Persons(float64(c.axis.cells))
	}
	return c.median.Persons()
}

// Missed reports whether an answer v, with a standard error, is rather that of a centre far beyond
// all values: these are then at about the distance of 0 from it, all on one side, and v stands out
// neither from the noise nor from 0. All are released, in one unit. Values on both sides of 0 have
// a radius of several times a centre that is no better than this.
func Missed(centre, radius, v, stdErr float64) bool {
	centre, v = math.Abs(centre), math.Abs(v)
	return radius >= centre/2 && radius <= 3*centre && v <= centre/2 && !Stands(v, stdErr)
}

// Stands reports whether an answer stands out from its noise.
func Stands(v, stdErr float64) bool { return math.Abs(v) > leastNoises*stdErr }

// leastNoises is the least number of standard errors of an answer that stands out.
const leastNoises = 2.5

// centreStep describes the search for the centre.
func (c Centred) centreStep() estimator.Step {
	if c.drawn {
		return c.chosen.Step("centre", 1)
	}
	return c.median.Step("centre")
}

// find returns the median of the means.
func (c Centred) find(n noise.Noiser, m estimator.Memory, means []int64) int64 {
	cells := c.axis.Cells(m, means)
	defer estimator.Free(m, cells)
	if c.drawn {
		return c.axis.Value(c.chosen.Choose(n, m, cells, uint64(c.axis.cells)))
	}
	return c.median.Search(n, cells)
}

// Steps describes the searches.
func (c Centred) Steps() []estimator.Step {
	if c.bounded {
		return nil
	}
	if c.only {
		return []estimator.Step{c.centreStep()}
	}
	return []estimator.Step{c.centreStep(), c.radius.Step("clip")}
}

// Search returns centre and radius >= 1 in units of 2^-Shift steps; radius 1 after NewCentre. m is
// for what it makes of the columns.
func (c Centred) Search(n noise.Noiser, m estimator.Memory, rows, sums []int64) (centre, radius int64) {
	centre, radius, _ = c.Found(n, m, rows, sums)
	return centre, radius
}

// Found is Search, which also reports whether a distance stands out from the noise; otherwise the
// radius is a guess.
func (c Centred) Found(n noise.Noiser, m estimator.Memory, rows, sums []int64) (centre, radius int64, ok bool) {
	if c.bounded {
		centre, radius = c.Middle()
		return centre, radius, true
	}
	means := c.All(m, rows, sums)
	defer estimator.Free(m, means)
	centre = c.find(n, m, means)
	if c.only {
		return centre, 1, true
	}
	radius, ok = c.radius.Choose(n, Distances(means, centre))
	return centre, radius, ok
}

// Ladder asks noisy ranks on both sides of a released cell v, for an interval of the quantile
// num/den of values of which a person has at most rows.
//
// The rungs are cells at the distances 0, 1, 2, 3, 5, 7, 11, 15, … of v: 2^k − 1 and 3·2^k − 1.
// Below v, a rung asks Q = den·#{x < its first number} − num·n, which is negative exactly if the
// quantile is not under that number. Above v it asks Q = den·#{x ≤ its last number} − num·n, which
// is not negative exactly if the quantile is not over that number. Each side is searched by halving
// for the nearest rung of which its answer is sure: Rounds answers at most.
//
// Sensitivity: Q moves as in a Bisection, by Δ at most, whatever the rung. The rungs follow from v
// and from earlier answers, which are released. So the 2·Rounds answers, each at an equal part of
// the loss, cost all of it together, zCDP or pure.
//
// Coverage: v is drawn before the answers. Where v lies above the quantile, what the side above
// says is true, whatever its noise; where v lies below it, or on its cell, the same holds of the
// other side. So Rounds answers at most can be wrong, each on one side of its noise.
type Ladder struct {
	axis     Axis
	num, den int64
	delta    int64
	noise    Noise
	loss     float64
	rungs    []int64 // distances
	least    float64 // an answer is sure where Z is beyond it
}

// ladderRisk is the risk that the search takes into account for the nearest rung, over all rounds:
// intervals at 95 % are then hardly wider than one rung, and those at 99 % are mostly one rung
// wider.
const ladderRisk = 0.02

// NewLadder returns the ranks around a quantile at a share of p's loss.
func NewLadder(p estimator.Params, a Axis, num, den, rows int64, share float64) Ladder {
	l := Ladder{axis: a, num: num, den: den, delta: rows * max(num, den-num), loss: share}
	if p.Relation == estimator.ReplaceOne {
		l.delta = rows * den
	}
	for step := int64(1); step < 2*a.cells; step *= 2 {
		for _, d := range [2]int64{step - 1, step + step/2 - 1} {
			if n := len(l.rungs); d < a.cells && (n == 0 || d > l.rungs[n-1]) {
				l.rungs = append(l.rungs, d)
			}
		}
	}
	l.noise = Single(p, l.delta, share/float64(2*l.Rounds())*(1-1e-12))
	l.least = math.Sqrt2 * math.Erfcinv(2*ladderRisk/float64(l.Rounds()))
	return l
}

// Rounds is the most ranks that are asked on one side.
func (l Ladder) Rounds() int { return bits.Len(uint(len(l.rungs))) }

// Step describes the ranks.
func (l Ladder) Step(name string) estimator.Step {
	s := l.noise.Step(estimator.Step{Name: name, Use: "ranks", Sensitivity: fmt.Sprintf("l2=%d", l.delta), Queries: 2 * l.Rounds()})
	if s.Epsilon > 0 {
		s.Epsilon = l.loss
	} else {
		s.Rho = l.loss
	}
	return s
}

// Ranks returns what the answers around cell v say, in the units of the axis. cells holds the cell
// of each value.
func (l Ladder) Ranks(n noise.Noiser, cells []uint32, v uint32) []estimator.Rank {
	below := l.side(int64(v), func(d int64) (float64, float64) {
		at := uint32(int64(v) - d)
		lo, _ := l.axis.Ends(at)
		return lo, -l.ask(n, cells, int64(at)-1)
	})
	above := l.side(l.axis.cells-1-int64(v), func(d int64) (float64, float64) {
		at := int64(v) + d
		_, hi := l.axis.Ends(uint32(at))
		return hi, l.ask(n, cells, at)
	})
	for i := range below {
		below[i].Z = -below[i].Z
	}
	return append(below, above...)
}

// side searches one side with room cells beyond v; the last of them has nothing to tell. ask
// returns the number that a rung is about and how sure it is that the quantile is not beyond it.
// What is returned are the answers that say so.
func (l Ladder) side(room int64, ask func(d int64) (at, z float64)) []estimator.Rank {
	rungs := sort.Search(len(l.rungs), func(i int) bool { return l.rungs[i] >= room })
	var found []estimator.Rank
	for lo, hi := 0, rungs; lo < hi; {
		mid := lo + (hi-lo)/2
		at, z := ask(l.rungs[mid])
		if z > 0 {
			found = append(found, estimator.Rank{At: at, Z: z})
		}
		if z > l.least {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return found
}

// ask returns by how many standard errors, or as many for a normal law of one risk, the noisy rank
// of a cell is above the quantile's.
func (l Ladder) ask(n noise.Noiser, cells []uint32, cell int64) float64 {
	upTo := int64(0)
	for _, c := range cells {
		one := int64(0) // nothing branches on it
		if int64(c) <= cell {
			one = 1
		}
		upTo += one
	}
	return l.noise.Point(l.noise.Add(n, l.den*upTo-l.num*int64(len(cells))))
}
