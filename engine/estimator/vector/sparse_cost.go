package vector

import (
	"math"

	"scrim/engine/estimator/internal/firstpass"
)

// cost is what the error of a sum of clipped vectors is made of, by coordinate: noise in proportion
// to the radius C, and a bias in proportion to what clipping takes away. Vectors of numbers >= 0
// are all shortened to the same side, so that the bias does not cancel: in the norm p = 1 it is all
// of the lost mass, and much less than its worst case in others, since it is spread over the
// coordinates as the mass is.
//
// Per unit of C the rule of [HLY21] Theorem 2, K* persons beyond the radius, equates noise and bias
// in the ℓ2 norm of the worst case, where all lost parts point the same way. For baskets with a
// Zipf law of items that is a twelfth of the persons that should be shortened.
type cost struct {
	p     float64   // the error's norm
	noise []float64 // root of the p-th absolute moment of the noise, per unit of C
	bias  []float64 // per unit of Σ_i (1 − a_i)·‖x_i − c‖_w²
}

// noiseLeft is the share of the noise that is left after clamping and shrinking, roughly, over the
// sets that were tried.
const noiseLeft = 0.7

// of returns the p-th power of the error: E|N(l, s²)|^p is taken as (s_p² + l²)^(p/2), right at
// both ends.
func (c cost) of(radius, lost float64) float64 {
	e := 0.0
	for j, s := range c.noise {
		s, l := s*radius, c.bias[j]*lost
		switch q := s*s + l*l; c.p {
		case 1:
			e += math.Sqrt(q)
		case 2:
			e += q
		default:
			e += math.Pow(q, c.p/2)
		}
	}
	return e
}

// balanced returns the radius of the least cost, in units of least, by the noisy counts of norms in
// the same units.
func balanced(h firstpass.Histogram, noisy []float64, least float64, c cost) float64 {
	top, ok := h.Top(noisy)
	if !ok {
		return h.Edge(float64(top)) // too few persons for any choice
	}
	best, lowest := top, math.Inf(1)
	try := func(i int) {
		if i < 0 || i > top {
			return
		}
		radius := h.Edge(float64(i))
		if e := c.of(least*radius, least*least*lost(h, noisy[:top+1], radius)); e < lowest {
			best, lowest = i, e
		}
	}
	for i := top; i > top-8*h.Per; i -= h.Per / 4 {
		try(i)
	}
	for i, middle := 1-h.Per/4, best; i < h.Per/4; i++ {
		try(middle + i)
	}
	return h.Edge(float64(best))
}

// lost returns Σ (1 − C/v)·v² over the numbers v > C.
func lost(h firstpass.Histogram, noisy []float64, radius float64) float64 {
	sum := 0.0
	for i, count := range noisy {
		if v := h.Edge(float64(i) - 0.5); v > radius {
			sum += count * (v - radius) * v
		}
	}
	return max(0, sum)
}

// kept returns the share of Σ ‖x_i‖² that is left after clipping, by the noisy counts: 1/4 at
// least. Vectors of numbers >= 0 lose about that share of each coordinate, so that dividing by it
// leaves only what heavy persons have in more or less than proportion. The cost still counts all of
// the loss: the share is a guess.
func kept(h firstpass.Histogram, noisy []float64, radius float64) float64 {
	top, ok := h.Top(noisy)
	all := lost(h, noisy[:top+1], 0)
	if !ok || !(all > 0) {
		return 1
	}
	return min(max(0.25, 1-lost(h, noisy[:top+1], radius)/all), 1)
}

// lostEvenly is the cost of a sum in a ball where coordinate j has the second moment
// moments[j]·end² about the centre and contributes to the lost mass in proportion to it.
func (s sparse) lostEvenly(b clipping, moments []float64, end, rho float64) cost {
	c := cost{p: s.p.P, noise: make([]float64, len(moments)), bias: make([]float64, len(moments))}
	sum := 0.0
	for j, m := range moments {
		sum += b.weights[j] * m
	}
	g, _ := math.Lgamma((c.p + 1) / 2)
	moment := math.Sqrt2 * math.Pow(math.Exp(g)/math.Sqrt(math.Pi), 1/c.p)
	for j, m := range moments {
		c.noise[j] = noiseLeft * moment * math.Sqrt(float64(b.factor2)/(2*rho*b.weights[j]))
		c.bias[j] = m / (sum * end)
	}
	return c
}
