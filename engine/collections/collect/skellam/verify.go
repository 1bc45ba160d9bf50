package skellam

import (
	"fmt"
	"math"
	"slices"

	"scrim/engine/collections/collect/internal/strict"
	"scrim/internal/lists"
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

// steps has what a Skellam variable's probabilities fall by from one value to the next,
//
//	step(i) = ln(P[X = i]/P[X = i+1]) = ln(I_i(μ)/I_{i+1}(μ)),  step(−1−i) = −step(i),
//
// for the i of some windows. I_i is the modified Bessel function.
type steps struct {
	spans []span // by rising index, apart from each other
	next  int    // the span that is filled
}

// span has the steps from index from on, from ≥ 0.
type span struct {
	from int
	step []float64
}

// mirrored returns the indices ≥ 0 whose steps are those of i … i+n−1 but for their signs.
func mirrored(i, n int) (from, to int) {
	switch last := i + n - 1; {
	case i >= 0:
		return i, last
	case last < 0:
		return -1 - last, -1 - i
	default:
		return 0, max(last, -1-i)
	}
}

// windows returns steps with room for n of them below every one of the points.
func windows(points []int, n int) *steps {
	var all [][2]int
	for _, k := range points {
		from, to := mirrored(k-n, n)
		all = append(all, [2]int{from, to})
	}
	slices.SortFunc(all, func(a, b [2]int) int { return a[0] - b[0] })
	merged := all[:1]
	for _, w := range all[1:] {
		if last := &merged[len(merged)-1]; w[0] <= last[1]+1 {
			last[1] = max(last[1], w[1])
		} else {
			merged = append(merged, w)
		}
	}
	s := &steps{}
	s.spans = append(s.spans, lists.Map(merged, func(w [2]int) span { return span{w[0], make([]float64, w[1]-w[0]+1)} })...)
	s.next = len(s.spans) - 1
	return s
}

// below returns the step of every index k−1, k−2, … k−n, for a point k and the n that s was made
// for, one at a call.
func (s *steps) below(k, n int) func() float64 {
	low, _ := mirrored(k-n, n)
	i, _ := slices.BinarySearchFunc(s.spans, low+1, func(sp span, at int) int { return sp.from - at })
	sp := s.spans[i-1] // the last that begins at low or before
	return func() float64 {
		k--
		if k >= 0 {
			return sp.step[k-sp.from]
		}
		return -sp.step[-1-k-sp.from]
	}
}

// fill computes the steps of the windows and returns ln(P[X = 0]/P[X = k]) of the points.
//
// I_{k−1} = I_{k+1} + (2k/μ)·I_k gives, with u_k = 1 − I_{k+1}/I_k,
//
//	I_{k−1}/I_k = 1 + d_k,  d_k = 2k/μ − u_k,  u_{k−1} = d_k/(1 + d_k)
//
// so no Bessel function is ever evaluated. Downwards this forgets where it began: an error of u_k
// arrives in u_{k−1} times (I_k/I_{k−1})² < 1, and from n to k that is (I_n/I_k)², about
// e^(−(n²−k²)/μ) while n is below μ and less beyond. With n² = k² + 50μ for the largest k that is
// used, and 50 more, nothing is left of it. The beginning is a bound by Amos, I_{n+1}/I_n ≥ μ/(n +
// ½ + √((n + 3/2)² + μ²)).
func (s *steps) fill(mu float64, points []int) []float64 {
	order := byDistance(points)
	top := distance(points[order[0]])
	for _, sp := range s.spans {
		top = max(top, sp.from+len(sp.step))
	}
	n := math.Ceil(math.Sqrt(float64(float64(top)*float64(top))+float64(50*mu))) + 50
	u := 1 - mu/(n+0.5+math.Sqrt(float64((n+1.5)*(n+1.5))+float64(mu*mu)))
	var height sum // ln(P[X = k]/P[X = top])
	heights := make([]float64, len(points))
	for k := int(n); k > 0; k-- {
		d := float64(2*k)/mu - u
		u = d / (1 + d)
		if k > top {
			continue
		}
		for ; len(order) > 0 && distance(points[order[0]]) == k; order = order[1:] {
			heights[order[0]] = height.total
		}
		step := strict.Log1p(d)
		height.add(step)
		s.put(k-1, step)
	}
	for _, i := range order { // a point at 0
		heights[i] = height.total
	}
	for i := range heights {
		heights[i] = height.total - heights[i]
	}
	return heights
}

// put keeps the step of index i if it is in a window. Indices come in falling order.
func (s *steps) put(i int, step float64) {
	for s.next >= 0 && i < s.spans[s.next].from {
		s.next--
	}
	if s.next >= 0 && i-s.spans[s.next].from < len(s.spans[s.next].step) {
		s.spans[s.next].step[i-s.spans[s.next].from] = step
	}
}

func distance(k int) int { return max(k, -k) }

// byDistance returns the indices of the points, those farthest from 0 first.
func byDistance(points []int) []int {
	order := lists.Make(len(points), func(i int) int { return i })
	slices.SortFunc(order, func(a, b int) int { return distance(points[b]) - distance(points[a]) })
	return order
}

// sum adds numbers with the rounding errors kept (Kahan).
type sum struct{ total, lost float64 }

func (s *sum) add(x float64) {
	y := x - s.lost
	t := s.total + y
	s.lost = (t - s.total) - y
	s.total = t
}
