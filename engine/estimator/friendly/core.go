package friendly

import (
	"runtime"
	"sync"
	"sync/atomic"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/fork"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// Core keeps the persons who are near to most others, and says how much one person moves the mean
// of those kept [TCK22]. Two persons are friends if a symmetric function of the two, and of public
// and released numbers, says so; everyone is their own friend. Every kept person has, by the noisy
// number of friends, more than half of all persons as friends, so any two of them share a friend,
// but for a chance of the slack. The proof, for all three cases below, is docs/proofs/friendly.md.
//
//	c_i = number of i's friends, Z_i = 2c_i − n with n the number of persons
//	keep i iff Z_i + N_Z(0, σ²) ≥ margin + step + a       σ² = ⌈step²·n_u/(2ρ_f)⌉, P[N_Z ≥ a] ≤ δ_f/(n_u+1)
//	at least κ are kept: #kept + N_Z(0, σ_k²) − t          σ_k² = ⌈1/(2ρ_k)⌉, P[N_Z > t] ≤ δ_k
//
// n_u is a released number that is at least n, but for a chance of its own; n itself enters only
// inside Z_i.
//
//	add-remove    step = 1: one who comes or goes moves each Z_i by exactly 1, up or down. margin ≥ 0
//	replace-one   step = 2: one exchanged moves each Z_i by 2 at most; one who comes or goes as above. margin = 1
//
// The ℓ2 sensitivity of all Z but the person's own is step·√n, so all decisions but the person's
// own cost ρ_f. Those of persons who are near too few are "drop" but for a chance of δ_f, whatever
// the noise of the others.
type Core struct {
	relation  estimator.Relation
	filterRho float64
	keptRho   float64
	filter    float64 // δ_f
	kept      float64 // δ_k
}

// NewCore returns the step with the losses rho_f and rho_k, and slack for either, in total
// variation.
func NewCore(r estimator.Relation, filterRho, keptRho, filterSlack, keptSlack float64) Core {
	return Core{r, filterRho, keptRho, filterSlack, keptSlack}
}

// Kept is the outcome: Members is secret, the rest is released.
type Kept struct {
	Members []bool
	AtLeast int64 // κ: no more than are kept, counting a person who is added

	atMost int64 // n_u
	margin int64
	factor float64
}

// strangers is the share of persons who may be no friends of a person that is kept for sure nearly;
// the margin leaves room for them.
const strangers = 0.1

// sure is the number of standard deviations that a person of many friends should be above the
// threshold.
const sure = 4

// cut is the threshold for n_u persons.
type cut struct {
	sigma2 noise.Variance
	sigma  float64
	margin int64
	least  int64 // of the noisy Z
}

// cut returns the threshold from released numbers: n_u, and about how many persons there are.
func (c Core) cut(atMost int64, about float64) cut {
	step := c.step()
	v := scalar.Sigma2(scalar.Square(step), atMost, c.filterRho)
	k := cut{sigma2: scalar.ToVariance(v), sigma: scalar.Root(v), margin: step - 1}
	over := step + tail(k.sigma, c.filter/float64(atMost+1))
	if step == 1 { // a wider margin makes the mean less sensitive (Reach)
		room := (1-2*strangers)*about - float64(over) - sure*k.sigma
		k.margin = int64(max(0, min(room, float64(atMost))))
	}
	k.least = k.margin + over
	return k
}

func (c Core) step() int64 { return c.relation.Factor() }

// Choose releases which persons are kept. friends holds the number of friends of each, atMost is
// n_u >= 1 and about a guess of their number from released ones.
func (c Core) Choose(n noise.Noiser, friends []int32, atMost int64, about float64) Kept {
	k := c.cut(atMost, about)
	out := Kept{Members: make([]bool, len(friends)), atMost: atMost, margin: k.margin, factor: float64(c.step())}
	kept := int64(0)
	for i, f := range friends {
		if z := 2*int64(f) - int64(len(friends)); n.GaussianInt(z, k.sigma2) >= k.least {
			out.Members[i] = true
			kept++
		}
	}
	sigma2 := scalar.SmallSigma2(1, 1, c.keptRho)
	out.AtLeast = n.GaussianInt(kept, sigma2) - c.allowance()
	return out
}

// allowance is t, by which the noisy number of kept persons is brought down.
func (c Core) allowance() int64 {
	return tail(scalar.Root(scalar.SmallSigma2(1, 1, c.keptRho).Big()), c.kept)
}

// Reach is the sensitivity of the mean of those kept, in units of the greatest distance of two
// friends, at κ ≥ 2:
//
//	add-remove    (1 + min(1, (n_u − margin)/(2(κ−1)))) / κ
//	replace-one   2/κ
//
// A kept person is a friend of all persons but (n − margin)/2, and at most two such distances from
// those. One who comes moves the mean of s others by their average distance over s+1. One who is
// exchanged is moved by two distances over s+1.
func (k Kept) Reach() float64 {
	if k.factor > 1 {
		return 2 / float64(k.AtLeast)
	}
	return (1 + min(1, float64(k.atMost-k.margin)/float64(2*(k.AtLeast-1)))) / float64(k.AtLeast)
}

// Persons is the number of persons from which on five in six are kept if one in twenty is no friend
// of a person. above is n_u less the number.
func (c Core) Persons(above int64) int64 {
	enough := func(n int64) bool {
		k := c.cut(n+above, 0)
		return 0.9*float64(n) >= float64(k.least)+k.sigma && n >= leastKept+2*c.allowance()
	}
	lo, hi := int64(0), int64(1)
	for !enough(hi) && hi < 1<<40 {
		lo, hi = hi, 2*hi
	}
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; enough(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// leastKept is the least κ for which a mean is released.
const leastKept = 50

// Steps describes the step.
func (c Core) Steps() []estimator.Step {
	sensitivity := "l2=sqrt(persons)"
	if c.step() == 2 {
		sensitivity = "l2=2*sqrt(persons)"
	}
	return []estimator.Step{
		{Name: "friends", Mechanism: estimator.DiscreteGaussian, Use: "decision a person", Sensitivity: sensitivity, Queries: 1, Rho: c.filterRho},
		{Name: "number kept", Mechanism: estimator.DiscreteGaussian, Sensitivity: "l2=1", Queries: 1, Rho: c.keptRho},
	}
}

// side is the number of persons on either side of a tile: the vectors of two sides stay near to a
// core.
const side = 32

// counts returns how many friends everyone has, oneself included. Pairs are taken once, in tiles,
// on all cores; counts are whole numbers, so neither the order of persons nor the number of cores
// matters.
func (p *points) counts() []int32 {
	n := len(p.rows)
	total := make([]int32, n)
	tiles := (n + side - 1) / side
	var mu sync.Mutex
	spread(tiles*(tiles+1)/2, func(next func() (int, bool)) {
		own := make([]int32, n)
		for t, ok := next(); ok; t, ok = next() {
			row, column := place(t)
			p.tile(own, row*side, column*side)
		}
		mu.Lock()
		defer mu.Unlock()
		for i, c := range own {
			total[i] += c
		}
	})
	return total
}

// place returns the row and column ≤ row of tile t, counted row by row.
func place(t int) (row, column int) {
	for row = 0; t > row; row++ {
		t -= row + 1
	}
	return row, t
}

// tile counts the pairs of the persons from i on with those from k ≤ i on.
func (p *points) tile(own []int32, i, k int) {
	for a := i; a < min(i+side, len(p.rows)); a++ {
		for b := k; b < min(k+side, a); b++ {
			if p.friends(a, b) {
				own[a]++
				own[b]++
			}
		}
		if i == k {
			own[a]++
		}
	}
}

// spread calls work on every core with a source of the numbers under n, each given out once.
func spread(n int, work func(next func() (int, bool))) {
	var at atomic.Int64
	next := func() (int, bool) {
		i := int(at.Add(1) - 1)
		return i, i < n
	}
	var all fork.Group
	for range min(runtime.GOMAXPROCS(0), n) {
		all.Go(func() { work(next) })
	}
	all.Wait()
}

// each calls work for the numbers under n, several at a time.
func each(n int, work func(i int)) {
	spread(n, func(next func() (int, bool)) {
		for i, ok := next(); ok; i, ok = next() {
			work(i)
		}
	})
}
