package skellam

import (
	"fmt"
	"math"

	"scrim/engine/collect/internal/strict"
)

// Verify computes the Rényi divergence of order alpha of scalar Skellam noise of variance mu under
// a shift by each of 1, 2, … delta2, and reports ErrBound if one is above RDP for that shift. If
// none is, RDP holds at this order for vectors of any dimension with ℓ2 sensitivity up to delta2,
// whatever is known otherwise. mu is at most MaxMu, and a whole number as Variance returns it; the
// outcome is the same on every machine. Other errors: ErrParameter, ErrUnresolved.
//
// Source: the package documentation, which also says what remains of numerical error.
func Verify(mu float64, alpha int, delta2 uint64) error {
	switch {
	case !(mu >= 1 && mu <= MaxMu):
		return fmt.Errorf("%w: want a variance from 1 to 2^40, have %g", ErrParameter, mu)
	case alpha < MinAlpha || alpha > MaxAlpha:
		return fmt.Errorf("%w: want an order from %d to %d, have %d", ErrParameter, MinAlpha, MaxAlpha, alpha)
	case delta2 < 1 || delta2 > MaxDelta2:
		return fmt.Errorf("%w: want a sensitivity from 1 to 2^20, have %d", ErrParameter, delta2)
	case float64(float64(alpha)*float64(delta2)) > float64(farthest*math.Sqrt(mu)):
		return fmt.Errorf("%w: order %d and sensitivity %d reach too far for variance %g", ErrUnresolved, alpha, delta2, mu)
	}
	exact, err := divergences(mu, alpha, int(delta2), samples(mu, alpha, int(delta2), strideFor(mu)))
	if err != nil {
		return err
	}
	return compare(exact, mu, alpha)
}

// compare holds the divergences of shifts 1, 2, … against their bounds.
func compare(exact []float64, mu float64, alpha int) error {
	for i, e := range exact {
		shift := uint64(i + 1)
		if bound := RDP(alpha, mu, shift, shift); !(float64(e*(1+tolerance)) <= bound) {
			return fmt.Errorf("%w: shift %d at order %d and variance %g has %g, allowed %g", ErrBound, shift, alpha, mu, e, bound)
		}
	}
	return nil
}

const (
	// tolerance is what an exact divergence may be off by, relative.
	tolerance = 0x1p-43
	// apart is what the sums over even and odd samples may differ by, relative, and ends what the
	// outermost samples may hold of a sum.
	apart = 0x1p-36
	ends  = 0x1p-45
	// wholeBelow is the variance below which every integer is summed.
	wholeBelow = 4096
	// farthest is what order times sensitivity may be in standard deviations: beyond 22 the terms
	// pass the range of a float64. Whatever gives an ε up to 8 at a δ from 1e-16 on is below 18.
	farthest = 22
)

// strideFor returns the distance of the samples: a third of a standard deviation, or 1.
func strideFor(mu float64) int {
	if mu <= wholeBelow {
		return 1
	}
	return int(math.Floor(math.Sqrt(mu) / 3))
}

// samples returns integers with a stride over all that counts for shifts from 1 to most: P[X = k]
// times the ratio to the power α is largest near αΔ.
func samples(mu float64, alpha, most, stride int) []int {
	reach := int(math.Ceil(float64(10*math.Sqrt(mu)))) + 40
	var points []int
	for k := -reach; k <= alpha*most+reach; k += stride {
		points = append(points, k)
	}
	return points
}

// divergences returns the divergence of order alpha for every shift from 1 to most, by sums over
// rising points.
func divergences(mu float64, alpha, most int, points []int) ([]float64, error) {
	s := windows(points, most)
	heights := s.fill(mu, points)
	var parts [3]totals // of even samples, odd ones, and the outermost two
	for i := range parts {
		parts[i].excess = make([]float64, most)
	}
	for i, k := range points {
		part := i % 2
		if i == 0 || i == len(points)-1 {
			part = 2
		}
		parts[part].add(float64(alpha), strict.Exp(-heights[i]), s.below(k, most))
	}
	gaps := points[1]-points[0] > 1
	return combine(&parts, alpha, gaps)
}

// totals are sums over samples: of P[X = k], and for every shift of P[X = k] times what the
// likelihood ratio there adds; both but for a common factor.
type totals struct {
	weight float64
	excess []float64
}

// add adds a sample k. With the loss L = ln(P[X = k−Δ]/P[X = k]) of shift Δ, the sum of the steps
// k−Δ … k−1 which next gives from above, its part is
//
//	e^(αL) − 1 − α(e^L − 1) = rest(αL) − α·rest(L),  rest(x) = e^x − 1 − x.
//
// That is not negative, and nothing cancels where L is small. As E[e^L] = 1, these parts sum to
// E[e^(αL)] − 1.
func (t *totals) add(alpha, weight float64, next func() float64) {
	t.weight += weight
	loss := 0.0
	for i := range t.excess {
		loss += next()
		t.excess[i] += float64(weight * (strict.Rest(float64(alpha*loss)) - float64(alpha*strict.Rest(loss))))
	}
}

// combine returns ln(1 + excess)/(α−1) for every shift. The outermost samples may hold next to
// nothing, and even and odd samples, each a sum over a lattice twice as wide, have to agree if
// there are gaps between samples: otherwise a wider window or a closer lattice would give something
// else.
func combine(parts *[3]totals, alpha int, gaps bool) ([]float64, error) {
	even, odd, outer := &parts[0], &parts[1], &parts[2]
	out := make([]float64, len(even.excess))
	for i := range out {
		all := even.excess[i] + odd.excess[i]
		x := all / (even.weight + odd.weight)
		out[i] = strict.Log1p(x) / float64(alpha-1)
		differ := math.Abs(even.excess[i]/even.weight - odd.excess[i]/odd.weight)
		ok := x > 0 && !math.IsInf(x, 1) && outer.excess[i] <= float64(ends*all) && (!gaps || differ <= float64(apart*x))
		if !ok {
			return nil, fmt.Errorf("%w: shift %d at order %d", ErrUnresolved, i+1, alpha)
		}
	}
	return out, nil
}
