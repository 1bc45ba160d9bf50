package reconcile

import (
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
