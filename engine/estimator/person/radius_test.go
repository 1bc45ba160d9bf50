package person

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// lastOf is the last stage of a variant about 0, planned for so many persons, with the loss of its
// histogram.
func lastOf(t testing.TB, pure bool, relation estimator.Relation, loss, count float64) (mean, shape, clips) {
	t.Helper()
	m := variants()[0].at(t, 3, loss, pure, relation, relation == estimator.ReplaceOne)
	s := m.shapeOf(1000, 10)
	return m, s, m.plan(s, count, m.core)
}

// TestOnePersonMovesTheRadiusWithinItsShare: persons at distances from 0 to beyond P*, one of whom
// goes or is exchanged. The histogram alone loses what it has been given at most, and comes up to
// it; one that was built for the other relation, or for three times the loss, is noticed.
func TestOnePersonMovesTheRadiusWithinItsShare(t *testing.T) {
	for _, pure := range []bool{false, true} {
		loss := 0.5
		if pure {
			loss = 8
		}
		worst := func(built, relation estimator.Relation, times float64) float64 {
			m, s, p := lastOf(t, pure, built, loss, 5000)
			if p.norms == 0 {
				t.Fatal("no histogram")
			}
			declared := p.norms
			p.norms *= times
			r, most := rand.New(stattest.Source(t, "radius")), 0.0
			for range 200 {
				persons := 1 + r.IntN(5)
				b, k := small(r, persons, 3, true), r.IntN(persons)
				other := neighbour(b, nil, k)
				if relation == estimator.ReplaceOne {
					other = neighbour(b, small(r, persons, 3, true), k)
				}
				n := stattest.Noiser(t, "noise")
				run := func(rec *stattest.Recorder, b *estimator.Block) (*recorder, int64) {
					rs := &recorder{Recorder: rec}
					return rs, m.lastRadius(rs, batch{b, 5000}, make([]int64, 3), s, p)
				}
				one, radius := run(&stattest.Recorder{Answer: forced(r, n, 0, false)}, b)
				two, again := run(one.Replay(t), other)
				if radius != again {
					t.Fatalf("radii %d and %d from the same answers", radius, again)
				}
				if l, _ := one.loss(t, two).Float64(); l > most {
					most = l
				}
			}
			return most / declared
		}
		for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
			// the recorder rounds scales to 2^-40
			if x := worst(relation, relation, 1); x > 1+1e-9 || x < 0.9 {
				t.Errorf("pure=%v, %v: the histogram uses %v of its loss", pure, relation, x)
			}
			if x := worst(relation, relation, 3); x <= 1 {
				t.Errorf("pure=%v, %v: a third of the noise passed with %v", pure, relation, x)
			}
		}
		if x := worst(estimator.AddRemove, estimator.ReplaceOne, 1); x <= 1 {
			t.Errorf("pure=%v: the noise of add-remove passed under replace-one with %v", pure, x)
		}
	}
}

// TestTheFoundRadiusIsThePapersOrLess: where all are near the centre it is much shorter and leaves
// out few; where many are beyond P*, it is P*; and with so few persons that noise would hide a
// tenth of them nothing is looked for.
func TestTheFoundRadiusIsThePapersOrLess(t *testing.T) {
	const count = 5000
	r := rand.New(stattest.Source(t, "found"))
	for _, pure := range []bool{false, true} {
		loss := 0.5
		if pure {
			loss = 8
		}
		m, s, p := lastOf(t, pure, estimator.ReplaceOne, loss, count)
		paper := integer(m.paperRadius(s, count, p.last))
		find := func(spread float64) (radius int64, beyond int) {
			b := blockOf(3, count, nil, func(int, int) int64 { return int64(spread * r.NormFloat64()) })
			radius = m.lastRadius(stattest.Noiser(t, "found"), batch{b, count}, make([]int64, 3), s, p)
			for _, x := range m.law.distances(b, make([]int64, 3)) {
				if x > float64(radius) {
					beyond++
				}
			}
			return radius, beyond
		}
		if got, beyond := find(s.tau / 8); got > paper/4 || float64(beyond) > mostHidden*count {
			t.Errorf("pure=%v: radius %d of %d for persons within an eighth, with %d beyond", pure, got, paper, beyond)
		}
		if got, _ := find(40 * s.tau); got != paper {
			t.Errorf("pure=%v: radius %d where most are beyond %d", pure, got, paper)
		}
		if norms, last := m.ending(60, p.last); norms != 0 || last != p.last {
			t.Errorf("pure=%v: a histogram of 60 persons", pure)
		}
		norms, last := m.ending(count, 1)
		if sum := new(big.Rat).Add(new(big.Rat).SetFloat64(norms), new(big.Rat).SetFloat64(last)); sum.Cmp(big.NewRat(1, 1)) > 0 {
			t.Errorf("pure=%v: losses %v and %v for 1", pure, norms, last)
		}
	}
}

// TestDistancesAreThoseOfTheClip: a person within the radius is not shortened by it.
func TestDistancesAreThoseOfTheClip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	b := small(r, 500, 4, true)
	for _, ch := range b.Chunks {
		for i, v := range ch.Dense {
			ch.Dense[i] = min(max(v, -farEnd/2), farEnd/2)
		}
	}
	centre := []int64{3, -1 << 20, 0, 1 << 40}
	ball, boxes := (law{dim: 4}).distances(b, centre), (law{dim: 4, pure: true}).distances(b, centre)
	for i := range ball {
		largest, squares := 0.0, 0.0
		for j, v := range b.Chunks[0].Dense[4*i : 4*i+4] {
			d := math.Abs(float64(v) - float64(centre[j]))
			largest, squares = max(largest, d), squares+d*d
		}
		if math.Abs(boxes[i]-largest) > 1e-9*largest || ball[i] < math.Sqrt(squares)*(1-1e-9) || ball[i] > math.Sqrt(squares)*(1+1e-9) {
			t.Fatalf("person %d: %v and %v, want %v and %v", i, boxes[i], ball[i], largest, math.Sqrt(squares))
		}
	}
}
