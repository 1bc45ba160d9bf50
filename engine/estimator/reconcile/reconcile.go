// Package reconcile makes released totals agree with the released numbers that they sum up, by
// weighted least squares: post-processing of released numbers, with the sizes of their noise.
//
// In go the nodes of a forest, each a released number with its error. Out come numbers that add up:
// each total is the sum of the nodes under it, to the last digit that is shown, where all of them
// are there and the difference is what noise and clips explain. Source of the two passes: [HRMS10],
// for noise of one size; docs/proofs/totals.md has that of any sizes, and what holds of intervals.
package reconcile

import (
	"cmp"
	"math"
	"slices"

	"scrim/engine/estimator"
)

// Node is one released number.
type Node struct {
	Parent int // the node that sums up this one with its siblings; -1: none
	Value  float64
	Noise  float64       // standard deviation of the noise
	Cut    estimator.Cut // what a clip takes away
	Absent bool          // there is no number: it takes no part, and what sums it up stays as it is

	NonNegative bool
	Digits      int // after the point, of the number as it is shown; -1: all of a DOUBLE
}

// Result is a node that agrees with the others.
type Result struct {
	Changed bool    // false: it stays as it was released
	Shown   float64 // adds up, not under 0 where that is wanted, rounded to the digits shown
	Value   float64 // before it was brought to 0 or rounded: what an interval is about
	Noise   float64 // standard deviation of the noise in Value
	Cut     estimator.Cut
}

// Apart says why a total stays as it was released.
type Apart struct {
	Absent int // totals of which a number is absent, or is so itself
	Off    int // totals off by more than noise and clips explain
}

// offRisk is the probability with which noise alone takes a total for one that is off. cutRisk is
// that at which what clips take away is allowed for besides, of the total or of all its parts. It
// is large, for two reasons. Ends at small risks are many times the numbers, so that a total of
// three times the rows of its parts would be held against them, and pulled to them. And a total
// that is taken for off wrongly is shown as it was released, which does no harm.
const (
	offRisk = 1e-4
	cutRisk = 0.5
)

// Nodes returns the nodes that agree, in the order given. Parents are indexes into nodes, and no
// node is under itself. The noises of the nodes are independent.
func Nodes(nodes []Node) ([]Result, Apart) {
	f := newForest(nodes)
	apart := f.link()
	out := make([]Result, len(nodes))
	for _, v := range f.order { // parents first
		if f.top(v) {
			f.up(v)
			f.down(v, 1, guess{})
			f.show(v, out)
		}
	}
	return out, apart
}

// forest is the work of one reconciliation.
type forest struct {
	nodes    []Node
	children [][]int
	order    []int // parents before their children
	linked   []bool
	cuts     bool
	least    float64   // variance of an exact number: it weighs as much as can be computed with
	below    []guess   // of a node, by it and what is under it
	own      []float64 // share of the node's own number in below; the sum of its parts has the rest
	final    []guess   // by all that is connected with it
}

func newForest(nodes []Node) *forest {
	n := len(nodes)
	f := &forest{nodes: nodes, children: make([][]int, n), linked: make([]bool, n), below: make([]guess, n), own: make([]float64, n), final: make([]guess, n)}
	most := 0.0
	for i, v := range nodes {
		if v.Parent >= 0 {
			f.children[v.Parent] = append(f.children[v.Parent], i)
		} else {
			f.order = append(f.order, i)
		}
		f.cuts = f.cuts || v.Cut.Up != nil || v.Cut.Down != nil
		most = max(most, v.Noise*v.Noise+spread(v.Cut))
	}
	for i := 0; i < len(f.order); i++ {
		f.order = append(f.order, f.children[f.order[i]]...)
	}
	f.least = max(1e-12*most, 1e-290)
	return f
}

// spread is the mean square of what a clip takes away, about what was added for it.
func spread(c estimator.Cut) float64 {
	s := 0.0
	c = c.OfSeen()
	for _, p := range c.Up {
		s += p.Weight * (p.StdDev*p.StdDev + (p.Mean-c.Added)*(p.Mean-c.Added))
	}
	for _, p := range c.Down {
		s += p.Weight * (p.StdDev*p.StdDev + p.Mean*p.Mean)
	}
	return s
}

// top reports whether a node has no total that it is held against.
func (f *forest) top(v int) bool {
	p := f.nodes[v].Parent
	return f.linked[v] && (p < 0 || !f.linked[p])
}

// link decides which totals are held against what they sum up: where all numbers are there, and
// where the difference is one that noise and clips explain.
func (f *forest) link() Apart {
	var apart Apart
	z := math.Sqrt2 * math.Erfcinv(offRisk)
	for v, under := range f.children {
		if len(under) == 0 {
			continue
		}
		if f.nodes[v].Absent || slices.ContainsFunc(under, func(c int) bool { return f.nodes[c].Absent }) {
			apart.Absent++
			continue
		}
		n, cut := f.nodes[v], f.nodes[v].Cut.OfSeen()
		off, noise := n.Value-n.Cut.Added, n.Noise*n.Noise
		over, less := cut.Below(cutRisk), cut.Above(cutRisk)
		for _, c := range under {
			n, cut := f.nodes[c], f.nodes[c].Cut.OfSeen()
			off -= n.Value - n.Cut.Added
			noise += n.Noise * n.Noise
			over, less = over+cut.Above(cutRisk), less+cut.Below(cutRisk)
		}
		// A number that is shown at 0 was released under it; rounding is within a half.
		room := z*math.Sqrt(noise) + rounding(n)*float64(1+len(under))
		if f.linked[v] = off <= room+over && off >= -room-less; !f.linked[v] {
			apart.Off++
		}
	}
	return apart
}

// rounding is how far a number that is shown may be from one that is not rounded.
func rounding(n Node) float64 {
	if n.Digits < 0 {
		return 1e-12 * math.Abs(n.Value)
	}
	return math.Pow10(-n.Digits) / 2
}

// up fills below for a node and what is under it: of an inner node the mean of its own number and
// the sum of its parts, each weighed by the other's variance.
func (f *forest) up(v int) {
	f.below[v], f.own[v] = f.alone(v), 1
	if !f.linked[v] {
		return
	}
	sum := f.sumUp(v, f.up)
	a := sum.total() / (f.below[v].total() + sum.total())
	f.below[v], f.own[v] = f.below[v].times(a).plus(sum.times(1-a)), a
}

// sumUp adds up below of the parts of a node, after f has been called with each.
func (f *forest) sumUp(v int, first func(int)) guess {
	sum := guess{}
	for _, c := range f.children[v] {
		first(c)
		sum = sum.plus(f.below[c])
	}
	return sum
}

// down fills final for what is under a top. A part takes from the difference of its total and the
// sum of the parts in proportion to its covariance with that sum.
//
// final of a node is share·below + others, where others has nothing of what is under the node. So
// the terms that are added up here are made of different released numbers.
func (f *forest) down(v int, share float64, others guess) {
	f.final[v] = f.below[v].times(share).plus(others)
	if !f.linked[v] {
		return
	}
	sum := f.sumUp(v, func(int) {})
	left := 1 - share*(1-f.own[v]) // of the sum of the parts, what the total does not follow
	rest := f.alone(v).times(share * f.own[v]).plus(others)
	for _, c := range f.children[v] {
		b := f.below[c]
		beta := (b.variance + b.cut*sum.cut) / sum.total()
		f.down(c, 1-beta*left, rest.minus(sum.without(b).times(left)).times(beta))
	}
}

// alone is what a node says of itself.
func (f *forest) alone(v int) guess {
	n := f.nodes[v]
	g := guess{value: n.Value, variance: max(n.Noise*n.Noise, f.least), cut: math.Sqrt(spread(n.Cut)), noise: n.Noise * n.Noise, added: n.Cut.Added}
	if f.cuts {
		g.above, g.under = new(ends), new(ends)
		for k, alpha := range risks {
			g.above[k], g.under[k] = n.Cut.Above(alpha), n.Cut.Below(alpha)
		}
	}
	return g
}

// show rounds the numbers under a node, and the node's own where it is a top, so that they add up.
func (f *forest) show(v int, out []Result) {
	n, g := f.nodes[v], f.final[v]
	x := g.value
	if n.NonNegative {
		x = max(x, 0)
	}
	f.place(v, round(x, n.Digits), out)
}

func (f *forest) place(v int, shown float64, out []Result) {
	g := f.final[v]
	out[v] = Result{Changed: true, Shown: shown, Value: g.value, Noise: math.Sqrt(g.noise), Cut: g.law()}
	if !f.linked[v] {
		return
	}
	under := f.children[v]
	parts := make([]part, len(under))
	for i, c := range under {
		parts[i] = part{f.final[c].value, f.below[c].total(), f.nodes[c].NonNegative}
	}
	for i, x := range share(shown, parts, f.nodes[v].Digits) {
		f.place(under[i], x, out)
	}
}

// risks are those at which what clips take away is carried along, in falling order.
var risks = [...]float64{0.9, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.001, 1e-4, 1e-6, 1e-9}

type ends [len(risks)]float64

// guess is a linear combination of released numbers that estimates one exact number.
type guess struct {
	value    float64
	variance float64 // of noise, as it is weighed
	// root mean square of what clips take away, about what was added; of a sum, of all together
	cut   float64
	noise float64 // variance of the noise in it
	added float64 // of what was added for clips
	// how far the exact number may be above value − added, and under it, for what clips take away
	above, under *ends
}

// total is what a guess is weighed by. What clips take away is taken to be large together: a person
// with many rows is cut in many groups.
func (g guess) total() float64 { return g.variance + g.cut*g.cut }

// times multiplies by a factor that is not negative.
func (g guess) times(a float64) guess {
	return guess{a * g.value, a * a * g.variance, a * g.cut, a * a * g.noise, a * g.added, g.above.times(a), g.under.times(a)}
}

// plus is the sum with a guess of another number, made of different released numbers.
func (g guess) plus(h guess) guess {
	return guess{g.value + h.value, g.variance + h.variance, g.cut + h.cut, g.noise + h.noise, g.added + h.added, g.above.plus(h.above, 1), g.under.plus(h.under, 1)}
}

// minus is the difference: what lifts the one lowers the other.
func (g guess) minus(h guess) guess {
	return guess{g.value - h.value, g.variance + h.variance, g.cut + h.cut, g.noise + h.noise, g.added - h.added, g.above.plus(h.under, 1), g.under.plus(h.above, 1)}
}

// without takes one of the guesses that a sum is made of out of it again.
func (g guess) without(h guess) guess {
	return guess{g.value - h.value, max(0, g.variance-h.variance), max(0, g.cut-h.cut), max(0, g.noise-h.noise), g.added - h.added, g.above.plus(h.above, -1), g.under.plus(h.under, -1)}
}

func (e *ends) times(a float64) *ends {
	if e == nil {
		return nil
	}
	out := *e
	for k := range out {
		out[k] *= a
	}
	return &out
}

func (e *ends) plus(h *ends, sign float64) *ends {
	if e == nil && h == nil {
		return nil
	}
	out := ends{}
	if e != nil {
		out = *e
	}
	for k := range out {
		if h != nil {
			out[k] = max(0, out[k]+sign*h[k])
		}
	}
	return &out
}

// law is what clips take away as an estimate has it: at each of the risks, and between two of them
// the larger end.
func (g guess) law() estimator.Cut {
	return estimator.Cut{Added: g.added, Up: g.above.parts(), Down: g.under.parts()}
}

func (e *ends) parts() []estimator.CutPart {
	if e == nil {
		return nil
	}
	return estimator.CutOf(risks[:], e[:])
}

// part is one of the numbers that a total is shared among.
type part struct {
	value       float64
	weight      float64 // how far it gives way, beside the others; > 0
	nonNegative bool
}

// share returns numbers near the parts that add up to a total. They are those nearest to the parts,
// by the sum of squares over weights, of which none that may not is under 0; with digits, rounded
// so that the sum is exact. Where every part may not be under 0 and the total is, all are 0.
func share(total float64, parts []part, digits int) []float64 {
	out := project(total, parts)
	if digits < 0 {
		return out
	}
	unit := math.Pow10(digits)
	if math.Abs(total)*unit > 1<<52 || slices.ContainsFunc(out, func(x float64) bool { return math.Abs(x)*unit > 1<<52 }) {
		return out // no lattice that a DOUBLE has
	}
	left := math.RoundToEven(total * unit)
	rest := make([]int, len(out))
	for i, x := range out {
		out[i] = math.Floor(x * unit)
		left -= out[i]
		rest[i] = i
		parts[i].value = x*unit - out[i]
	}
	slices.SortStableFunc(rest, func(a, b int) int { return cmp.Compare(parts[b].value, parts[a].value) })
	for ; left > 0; left-- { // fewer than there are parts, but for the rounding of their sum
		out[rest[0]]++
		rest = append(rest[1:], rest[0])
	}
	for i := len(rest) - 1; left < 0; i = (i + len(rest) - 1) % len(rest) {
		if at := rest[i]; !parts[at].nonNegative || out[at] > 0 || total < 0 {
			out[at]--
			left++
		}
	}
	for i := range out {
		out[i] /= unit
	}
	return out
}

// NotUnder0 returns the numbers nearest to values, by squares over the variances of their noise, of
// which none is under 0, that add up to the same, rounded to digits; all are 0 where that is under
// 0. Of numbers that are not under 0, with noise, the sum is right then, which is too large where
// each of them is brought to 0 by itself.
func NotUnder0(values, noise []float64, digits int) []float64 {
	parts, total := make([]part, len(values)), 0.0
	for i, v := range values {
		parts[i] = part{v, max(noise[i]*noise[i], math.SmallestNonzeroFloat64), true}
		total += v
	}
	return share(round(max(0, total), digits), parts, digits)
}

// project is share before rounding: max(0, x − λw) for the λ at which the sum is right.
func project(total float64, parts []part) []float64 {
	at := func(lambda float64) ([]float64, float64) {
		out, sum := make([]float64, len(parts)), 0.0
		for i, p := range parts {
			if out[i] = p.value - lambda*p.weight; p.nonNegative {
				out[i] = max(out[i], 0)
			}
			sum += out[i]
		}
		return out, sum
	}
	values, weights := 0.0, 0.0
	for _, p := range parts {
		values, weights = values+p.value, weights+p.weight
	}
	lambda := (values - total) / weights
	out, sum := at(lambda)
	// Numbers that are held at 0 leave the others more to give: λ grows, at most as often as there
	// are parts.
	for range parts {
		free := 0.0
		for i, p := range parts {
			if !p.nonNegative || out[i] > 0 {
				free += p.weight
			}
		}
		if free == 0 || sum <= total+1e-12*math.Abs(total) {
			break
		}
		lambda += (sum - total) / free
		out, sum = at(lambda)
	}
	return out
}

// round brings a number to digits after the point, as far as a DOUBLE has them.
func round(x float64, digits int) float64 {
	if digits < 0 {
		return x
	}
	unit := math.Pow10(digits)
	if math.Abs(x)*unit > 1<<52 {
		return x
	}
	return math.RoundToEven(x*unit) / unit
}
