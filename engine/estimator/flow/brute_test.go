package flow

import (
	"math"
	"testing"

	"scrim/engine/estimator"
)

// world is a family of small graphs: all that have weights from 0 to most in its slots.
type world struct {
	name          string
	shape         Shape
	lefts, rights int
	slots         [][2]uint32
	most          int
}

// worlds are small enough to look at every graph, and large enough for every bound of flow.go to
// be reached.
func worlds() []world {
	grid := func(l, r int) (slots [][2]uint32) {
		for i := range l {
			for j := range r {
				slots = append(slots, [2]uint32{uint32(i), uint32(j)})
			}
		}
		return slots
	}
	triangle := func(n int) (slots [][2]uint32) {
		for i := range n {
			for j := range i + 1 {
				slots = append(slots, [2]uint32{uint32(i), uint32(j)})
			}
		}
		return slots
	}
	return []world{
		{"two, 2 by 2", Two, 2, 2, grid(2, 2), 3},
		{"two, 3 by 2", Two, 3, 2, grid(3, 2), 2},
		{"two, 3 by 3", Two, 3, 3, grid(3, 3), 1},
		{"two, 2 by 3", Two, 2, 3, grid(2, 3), 3},
		{"two, 4 by 2", Two, 4, 2, grid(4, 2), 1},
		{"self, 2", Self, 2, 2, triangle(2), 5},
		{"self, 3", Self, 3, 3, triangle(3), 3},
		{"self, 4", Self, 4, 4, triangle(4), 1},
		{"distinct, 3 by 3", Distinct, 3, 3, grid(3, 3), 1},
		{"distinct, 2 by 4", Distinct, 2, 4, grid(2, 4), 1},
		{"one, 3", One, 3, 1, grid(3, 1), 9},
	}
}

// smallCaps are those of all small graphs: 1 to 15, and 16.
const smallCaps = 8

// owns reports whether a slot is about a person; persons on the right come after those on the left.
func (w world) owns(person int, slot [2]uint32) bool {
	switch w.shape {
	case Self:
		return int(slot[0]) == person || int(slot[1]) == person
	case Two:
		return int(slot[0]) == person || w.lefts+int(slot[1]) == person
	}
	return int(slot[0]) == person
}

func (w world) persons() int {
	if w.shape == Two {
		return w.lefts + w.rights
	}
	return w.lefts
}

// graph is graph number i; for values an edge of weight 0 is none.
func (w world) graph(i int) *estimator.Pairs {
	p := &estimator.Pairs{Lefts: w.lefts, Rights: w.rights}
	for _, s := range w.slots {
		if x := i % (w.most + 1); x > 0 {
			p.Left, p.Right, p.Weights = append(p.Left, s[0]), append(p.Right, s[1]), append(p.Weights, int64(x))
		}
		i /= w.most + 1
	}
	return p
}

// without is the number of the graph that person p is taken out of.
func (w world) without(i, p int) int {
	out, place := 0, 1
	for _, s := range w.slots {
		if !w.owns(p, s) {
			out += i % (w.most + 1) * place
		}
		i /= w.most + 1
		place *= w.most + 1
	}
	return out
}

func (w world) graphs() int { return int(math.Pow(float64(w.most+1), float64(len(w.slots)))) }

// seen is what is looked at of one graph: Q by cap, and by candidate the excess and the score, in
// units of one person.
type seen struct{ q, excess, score []float64 }

func see(q *profile, candidates int) seen {
	var s seen
	for i, c := range q.caps {
		f, _ := q.all[i].Float64()
		s.q = append(s.q, f/float64(q.shape.parts()))
		if i < candidates {
			e, _ := q.excess(i).Float64()
			s.excess = append(s.excess, e/float64(c*q.shape.parts()))
			s.score = append(s.score, float64(q.score(i))/unit)
		}
	}
	return s
}

// worst is how far neighbours are apart in a world, of what the bounds of flow.go are about.
type worst struct {
	fallen, risen      float64 // of Q over τ when a person comes
	exchanged          float64 // the same for an exchange
	excess, score      change  // when a person comes
	moved              float64 // of an excess under an exchange
	span, exchangeSpan float64 // of one pair's changes of scores
}

// look compares all neighbours of a world.
func (w world) look(observe func(p *estimator.Pairs) *profile) worst {
	caps, candidates := capsUpTo(smallCaps)
	all := make([]seen, w.graphs())
	for i := range all {
		all[i] = see(observe(w.graph(i)), candidates)
	}
	out := worst{}
	for p := range w.persons() {
		groups := map[int][]int{}
		for i := range all {
			rest := w.without(i, p)
			groups[rest] = append(groups[rest], i)
		}
		for rest, members := range groups {
			for _, i := range members {
				a, b := all[rest], all[i]
				for k, c := range caps {
					d := (b.q[k] - a.q[k]) / float64(c)
					out.fallen, out.risen = max(out.fallen, -d), max(out.risen, d)
				}
				grow(&out.excess, a.excess, b.excess)
				out.span = max(out.span, grow(&out.score, a.score, b.score))
				for _, j := range members {
					a := all[j]
					for k, c := range caps {
						out.exchanged = max(out.exchanged, math.Abs(b.q[k]-a.q[k])/float64(c))
					}
					var x, y change
					grow(&x, a.excess, b.excess)
					out.moved = max(out.moved, x.down, x.up)
					out.exchangeSpan = max(out.exchangeSpan, grow(&y, a.score, b.score))
				}
			}
		}
	}
	return out
}

// grow makes c hold the changes from a to b, and returns the length of the interval of these.
func grow(c *change, a, b []float64) float64 {
	down, up := 0.0, 0.0
	for k := range a {
		down, up = max(down, a[k]-b[k]), max(up, b[k]-a[k])
	}
	c.down, c.up = max(c.down, down), max(c.up, up)
	return down + up
}

// within reports whether what was found is within the bounds that the shape declares.
func (x worst) within(s Shape) bool {
	const eps = 1e-9
	e, c := s.excess(), s.score()
	return x.fallen <= eps && x.risen <= 1+eps && x.exchanged <= 1+eps &&
		x.excess.down <= e.down+eps && x.excess.up <= e.up+eps && x.moved <= e.reach(estimator.ReplaceOne)+eps &&
		x.score.down <= c.down+eps && x.score.up <= c.up+eps &&
		x.span <= c.span(estimator.AddRemove)+eps && x.exchangeSpan <= c.span(estimator.ReplaceOne)+eps
}

// honest observes by the package's own curve.
func honest(s Shape) func(p *estimator.Pairs) *profile {
	return func(p *estimator.Pairs) *profile {
		caps, _ := capsUpTo(smallCaps)
		q := newProfile(s, false, caps, p)
		q.from(0)
		return q
	}
}

// TestOnePersonMovesEverySmallGraphWithinTheBounds looks at every graph, person, removal, exchange
// and cap.
func TestOnePersonMovesEverySmallGraphWithinTheBounds(t *testing.T) {
	reached := map[Shape]worst{}
	for _, w := range worlds() {
		x := w.look(honest(w.shape))
		t.Logf("%s: %d graphs, %+v", w.name, w.graphs(), x)
		if !x.within(w.shape) {
			t.Errorf("%s: beyond what %v declares: %+v", w.name, w.shape, x)
		}
		r := reached[w.shape]
		r.excess = change{max(r.excess.down, x.excess.down), max(r.excess.up, x.excess.up)}
		r.span = max(r.span, x.span)
		reached[w.shape] = r
	}
	for s, r := range reached {
		if math.Abs(r.excess.down-s.excess().down)+math.Abs(r.excess.up-s.excess().up) > 1e-9 {
			t.Errorf("%v: an excess of %+v was reached, of %+v: the bound is not tight, or the graphs are too small", s, r.excess, s.excess())
		}
	}
}

// broken observes a network that is wrong on purpose.
func broken(s Shape, fixed int64, in func(p *estimator.Pairs) entries) func(p *estimator.Pairs) *profile {
	return func(p *estimator.Pairs) *profile {
		caps, _ := capsUpTo(smallCaps)
		q := newProfile(s, false, caps, p)
		c := curve{newNetwork(nil, in(p), fixed), fixed}
		for i, cap := range caps {
			q.put(0, i, c.at(cap, func() {}))
			q.known[i] = true
		}
		return q
	}
}

// edges are the pairs as they are.
func edges(p *estimator.Pairs) entries {
	return entries{lefts: p.Lefts, rights: p.Rights, each: func(edge func(left, right uint32, w int64)) {
		for i, u := range p.Left {
			edge(u, p.Right[i], p.Weights[i])
		}
	}}
}

// cover is the double cover, with loops as arcs of it.
func cover(p *estimator.Pairs) entries {
	in := edges(p)
	in.each = func(edge func(left, right uint32, w int64)) {
		for i, u := range p.Left {
			edge(u, p.Right[i], p.Weights[i])
			edge(p.Right[i], u, p.Weights[i])
		}
	}
	return in
}

// TestBrokenFlowsMoveTooFar: the same look rejects a flow without the caps of one entity, one over
// ordered pairs, and weights cut one by one.
func TestBrokenFlowsMoveTooFar(t *testing.T) {
	for _, w := range worlds() {
		if w.shape == Two && passes(w, broken(Two, saturated, edges)) {
			t.Errorf("%s: a flow without the caps on the right passed", w.name)
		}
		if w.shape == Self && passes(w, broken(Two, 0, cover)) {
			t.Errorf("%s: a flow over ordered pairs, each person capped in each place, passed", w.name)
		}
	}
}

func passes(w world, observe func(p *estimator.Pairs) *profile) bool {
	return w.look(observe).within(w.shape)
}

// TestTheBoundsOfAddRemoveAreTooSmallForExchanges puts two graphs beside each other, in one of
// which a person lowers the excess at a cap as much as any does, in the other raises it: exchanging
// who is in the one for who is in the other needs the bound of replace-one.
func TestTheBoundsOfAddRemoveAreTooSmallForExchanges(t *testing.T) {
	needed := map[Shape]float64{}
	for _, w := range worlds() {
		caps, candidates := capsUpTo(smallCaps)
		for k := range candidates {
			low, high := w.extremes(k)
			excess := func(parts ...*estimator.Pairs) float64 {
				q := newProfile(w.shape, false, caps, beside(w.shape == Self, parts...))
				q.from(0)
				return see(q, candidates).excess[k]
			}
			rest := func(i int) *estimator.Pairs { return w.graph(w.without(i, 0)) }
			moved := math.Abs(excess(w.graph(low), rest(high)) - excess(rest(low), w.graph(high)))
			needed[w.shape] = max(needed[w.shape], moved)
		}
	}
	for s, moved := range needed {
		if math.Abs(moved-s.excess().reach(estimator.ReplaceOne)) > 1e-9 {
			t.Errorf("%v: an exchange moved an excess by %v, of %v", s, moved, s.excess().reach(estimator.ReplaceOne))
		}
	}
}

// extremes are the graphs in which person 0 lowers and raises the excess of a cap most.
func (w world) extremes(k int) (low, high int) {
	least, most := 0.0, 0.0
	caps, _ := capsUpTo(smallCaps)
	for i := range w.graphs() {
		var e [2]float64
		for j, g := range []int{w.without(i, 0), i} {
			q := newProfile(w.shape, false, caps, w.graph(g))
			q.fill([]int{k, double(k)})
			f, _ := q.excess(k).Float64()
			e[j] = f
		}
		if d := e[1] - e[0]; d < least {
			least, low = d, i
		} else if d > most {
			most, high = d, i
		}
	}
	return low, high
}

// beside is graphs beside each other that have person 0 in common.
func beside(self bool, parts ...*estimator.Pairs) *estimator.Pairs {
	out := &estimator.Pairs{Lefts: 1, Rights: 1}
	for _, p := range parts {
		for i := range p.Left {
			l, r := p.Left[i], p.Right[i]+uint32(out.Rights)
			if l > 0 {
				l += uint32(out.Lefts)
			}
			if self && p.Right[i] == 0 {
				r = 0
			}
			out.Left, out.Right, out.Weights = append(out.Left, l), append(out.Right, r), append(out.Weights, p.Weights[i])
		}
		out.Lefts += p.Lefts
		out.Rights += p.Rights
	}
	return out
}
