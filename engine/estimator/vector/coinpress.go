package vector

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// coinpress is the multivariate mean of [BDKU20] (MVMRec): from a public ball that holds the mean,
// each round clips to a ball about the last answer and so finds a smaller one. For data whose
// spread is declared: every coordinate sub-Gaussian with standard deviation at most σ_j, along
// every direction as if the coordinates were independent. No spread is looked for, so it needs
// fewer persons than a centre found by medians; a spread that is declared too small gives a biased
// answer without a sign of it.
//
// Weighted by w_j = σ_j^{-4/(p+2)} as PLAN ([ALP24] Lemma C.2), with A = Σ_j σ_j²w_j, b² = max_j
// σ_j²w_j and ℓ = ln 100, a person is beyond γ = √(A + 2√(A·b²·ℓ) + 2b²ℓ) of the mean with
// probability at most 1 %. Round i, from a centre c within r of the mean:
//
//	C = min(√(r² + 6br + γ²), r + γ)              6 = 2·3: a normal variable is beyond 3 with probability 0.3 %
//	S = Σ clip(x − c, C) + noise of loss ρ_i      (block.ClipSum, addNoise)
//	c = c + S/n̂, rounded to the lattice
//	r = √(A/n̂ + dτ²) + √(2ℓ(b²/n̂ + τ²)) + ½√Σw   τ = fC/(n̂√(2ρ_i)), f² = factor2; the last term is the lattice's
//
// The rounds before the last share a quarter of the loss. C and r come from n̂ and public facts
// alone, so the rounds are an adaptive composition of releases of the clipped sum's sensitivity: C
// for one person more or less, 2C for one exchanged. Sums are of x − c, not of x as in the paper,
// whose sensitivity under add-remove would be ‖c‖ + C.
type coinpress struct {
	p       Params
	rhos    []float64 // of each round
	factor2 int64
	count   persons // whose noise is told with the answer's
}

// Constants of coinpress: the share of the loss of all rounds before the last, the default number
// of rounds, ℓ.
const (
	earlyShare      = 0.25
	coinpressRounds = 4
	maxRounds       = 64
)

var tailLog = math.Log(100)

var errNoSpread = errors.New("vector: method=coinpress needs declared spreads (sigma, or sigma_max)")

// newCoinpress returns the core at loss rho.
func newCoinpress(p Params, rho float64) (coinpress, error) {
	rounds := cmp.Or(p.Rounds, coinpressRounds)
	if rounds < 1 || rounds > maxRounds {
		return coinpress{}, fmt.Errorf("vector: want 1 to %d rounds, have %d", maxRounds, rounds)
	}
	if len(p.Sigma) == 0 && p.SigmaMax == 0 {
		return coinpress{}, errNoSpread
	}
	return coinpress{p: p, rhos: refining(rho, rounds), factor2: block.Factor2(p.Relation, false)}, nil
}

// counted is c with the number of persons that it is told.
func (c coinpress) counted(by persons) coinpress { c.count = by; return c }

// refining splits a loss over rounds: the last gets three quarters, or all of it if it is the only
// one.
func refining(rho float64, rounds int) []float64 {
	b, out := newBudget(rho), make([]float64, rounds)
	for i := range rounds - 1 {
		out[i] = b.take(earlyShare / float64(rounds-1))
	}
	out[rounds-1] = b.rest()
	return out
}

// needs implements core. While r is large a round multiplies it by q = f(√d + √(2ℓ))/(n̂√(2ρ₁));
// more than ½ is too slow.
func (c coinpress) needs() int64 {
	q := math.Sqrt(float64(c.factor2)/(2*c.rhos[0])) * (math.Sqrt(float64(c.p.Dim)) + math.Sqrt(2*tailLog))
	return int64(math.Ceil(min(2*q, 1<<62)))
}

// steps implements core.
func (c coinpress) steps() []estimator.Step {
	steps := make([]estimator.Step, len(c.rhos))
	for i, rho := range c.rhos {
		steps[i] = estimator.Step{
			Name: fmt.Sprintf("clipped sum, round %d", i+1), Mechanism: estimator.DiscreteGaussian,
			Sensitivity: sumSensitivity(c.factor2), Queries: c.p.Dim, Rho: rho,
		}
	}
	return steps
}

// sumSensitivity names the ℓ2 sensitivity of a clipped sum.
func sumSensitivity(factor2 int64) string {
	switch factor2 {
	case 4:
		return "l2=2·clip"
	case 2:
		return "l2=√2·clip"
	}
	return "l2=clip"
}

// release implements core.
func (c coinpress) release(n noise.Noiser, g group, count float64) estimator.Estimate {
	b := c.ball(g.shift)
	var mean, sigma []float64
	moved := 0.0
	for i, rho := range c.rhos {
		if i > 0 {
			b.centre = c.lattice(mean, g.shift)
		}
		clip := b.clip()
		norms := block.Norms(g.Block, b.centre, b.weights)
		mean, sigma = addNoise(n, block.ClipSum(g.Block, b.centre, norms, clip), b.weights, clip, c.factor2, rho)
		moved = 0
		for j, m := range b.centre {
			s := mean[j] / count
			mean[j] = float64(m) + s
			sigma[j] = math.Hypot(sigma[j], s*c.count.sigma()) / count
			moved = math.Hypot(moved, s)
		}
		b.shrink(math.Sqrt(float64(c.factor2)/(2*rho))*clip/count, count)
	}
	return c.count.told(c.p.estimate(g, mean, sigma), count, scalar.Scale(c.p.Grid, math.Ldexp(moved, -int(g.shift))))
}

// lattice rounds a centre and brings it into the public range, where the mean is.
func (c coinpress) lattice(mean []float64, shift uint) []int64 {
	lo, hi := scalar.Range(c.p.Params)
	out := make([]int64, len(mean))
	for j, m := range mean {
		// |ends| ≤ 2^60
		out[j] = int64(math.RoundToEven(min(max(m, float64(lo<<shift)), float64(hi<<shift))))
		out[j] = min(max(out[j], lo<<shift), hi<<shift)
	}
	return out
}

// ball is where the mean is known to be, in the weighted norm and units of the group.
type ball struct {
	centre      []int64
	r           float64
	weights     []float64
	trace, most float64 // A, b
	lattice     float64 // ½√Σw
}

// ball returns the public ball: about the middle of the range, or about 0 with the declared radius
// if that is smaller.
func (c coinpress) ball(shift uint) *ball {
	lo, hi := scalar.Range(c.p.Params)
	units := math.Ldexp(1/scalar.Scale(c.p.Grid, 1), int(shift))
	b := &ball{weights: make([]float64, c.p.Dim)}
	sum, largest := 0.0, 0.0
	for j := range b.weights {
		s := min(max(c.sigma(j)*units, 0x1p-40), 0x1p62)
		w := math.Pow(s, -4/(c.norm()+2))
		b.weights[j] = w
		b.trace += s * s * w
		b.most = max(b.most, s*math.Sqrt(w))
		sum, largest = sum+w, max(largest, w)
	}
	b.lattice = math.Sqrt(sum) / 2
	middle := lo + (hi-lo)/2
	b.r = math.Ldexp(float64(max(hi-middle, middle-lo)), int(shift)) * math.Sqrt(sum)
	if r := c.p.Radius * units * math.Sqrt(largest); r > 0 && r < b.r && lo <= 0 && hi >= 0 {
		b.r, middle = r, 0
	}
	b.centre = make([]int64, c.p.Dim)
	for j := range b.centre {
		b.centre[j] = middle << shift
	}
	return b
}

// sigma is the declared spread of coordinate j.
func (c coinpress) sigma(j int) float64 {
	switch len(c.p.Sigma) {
	case 0:
		return c.p.SigmaMax
	case 1:
		return c.p.Sigma[0]
	}
	return c.p.Sigma[j]
}

// norm is the p of the error's norm.
func (c coinpress) norm() float64 {
	if c.p.P == 0 {
		return 2
	}
	return c.p.P
}

// clip is the radius for persons of whom the mean is within the ball.
func (b *ball) clip() float64 {
	gamma2 := b.trace + 2*math.Sqrt(b.trace*tailLog)*b.most + 2*b.most*b.most*tailLog
	return min(math.Sqrt(b.r*b.r+6*b.most*b.r+gamma2), b.r+math.Sqrt(gamma2))
}

// shrink sets the radius about the mean of count persons that was released with noise τ/√w_j on
// coordinate j.
func (b *ball) shrink(tau, count float64) {
	d := float64(len(b.weights))
	b.r = math.Sqrt(b.trace/count+d*tau*tau) + math.Sqrt(2*tailLog*(b.most*b.most/count+tau*tau)) + b.lattice
}
