package skellam

import (
	"math"
	"slices"

	"scrim/engine/collect/internal/strict"
)

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
	for _, w := range merged {
		s.spans = append(s.spans, span{w[0], make([]float64, w[1]-w[0]+1)})
	}
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
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
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
