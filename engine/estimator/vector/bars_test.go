package vector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/errorbar"
	"scrim/test/stattest"
)

var levels = []float64{0.5, 0.9, 0.95, 0.99}

// covers counts intervals of one coordinate, and balls, that cover, with half of the intervals and
// a third of the radii.
type covers struct {
	n                       int
	hits, half, balls, less [4]int
	wide, radii             [4]float64
}

// add takes an answer in with the exact values, clipped as it is; j is the coordinate that is
// looked at.
func (c *covers) add(e estimator.Estimate, exact []float64, j int) {
	c.n++
	distance, trace := 0.0, 0.0
	for k, v := range e.Values {
		distance, trace = math.Hypot(distance, v-exact[k]), math.Hypot(trace, e.StdErr[k])
	}
	for k, level := range levels {
		lo, hi := errorbar.Interval(e, j, level)
		v := e.Values[j]
		if lo <= exact[j] && exact[j] <= hi {
			c.hits[k]++
		}
		if (v+lo)/2 <= exact[j] && exact[j] <= (v+hi)/2 {
			c.half[k]++
		}
		c.wide[k] += (hi - lo) / (2 * math.Sqrt2 * math.Erfinv(level) * e.StdErr[j])
		r := errorbar.Radius(e, level)
		if distance <= r {
			c.balls[k]++
		}
		if distance <= r/3 {
			c.less[k]++
		}
		c.radii[k] += r / trace
	}
}

// check tests the coverage of intervals, and of radii where they are told; broken ones are found
// out from a level on.
func (c *covers) check(t *testing.T, name string, radius bool, from float64) {
	t.Helper()
	text := fmt.Sprintf("%-28s %5d", name, c.n)
	for k, level := range levels {
		stattest.Accept(t, stattest.Coverage(fmt.Sprintf("%s at %v", name, level), c.hits[k], c.n, level))
		if level >= from {
			stattest.Reject(t, stattest.Coverage(fmt.Sprintf("%s at %v, half", name, level), c.half[k], c.n, level))
		}
		text += fmt.Sprintf(" | %.1f %% ×%.2f", 100*float64(c.hits[k])/float64(c.n), c.wide[k]/float64(c.n))
		if !radius {
			continue
		}
		stattest.Accept(t, stattest.Coverage(fmt.Sprintf("%s at %v, radius", name, level), c.balls[k], c.n, level))
		stattest.Reject(t, stattest.Coverage(fmt.Sprintf("%s at %v, a third of the radius", name, level), c.less[k], c.n, level))
		text += fmt.Sprintf(" radius %.1f %% ×%.2f", 100*float64(c.balls[k])/float64(c.n), c.radii[k]/float64(c.n))
	}
	t.Log(text)
}

// again returns the answer that a release would have given without the noise of its last sums, and
// with the exact number of persons: about a centre, which comes out where the sums are 0, the
// answer is in proportion to what it is divided by.
func again(e estimator.Estimator, tape *stattest.Tape, in estimator.Input, last int, sized bool) []float64 {
	exact := e.Release(tape.Again(last, false), in).Values
	if sized {
		return exact
	}
	centre := e.Release(tape.Again(last, true), in).Values
	for j, c := range centre {
		exact[j] = c + (exact[j]-c)*tape.First()/float64(in.Vectors.Persons())
	}
	return exact
}

// TestIntervalsAndRadiiCover counts how often the error bars of dense means cover the exact mean of
// the vectors as they are clipped.
func TestIntervalsAndRadiiCover(t *testing.T) {
	for _, m := range denseMethods() {
		switch m.name {
		case "clipped", "shifted", "rotated", "plan", "plan relative", "plan declared", "auto", "auto positive":
		default:
			continue
		}
		c := new(covers)
		for _, rel := range relations {
			for _, dim := range []int{2, 24} {
				name := fmt.Sprintf("%s, d=%d, %v, sized=%v", m.name, dim, rel.relation, rel.sized)
				p := m.params(dim, 0.5, rel.relation, rel.sized)
				r := rand.New(stattest.Source(t, name))
				in := estimator.Input{Persons: 1000, Vectors: blockOf(dim, 1000, func(_, j int) int64 { return int64(1000*r.NormFloat64())*int64(1+j%3) + 40 })}
				e := m.at(t, p)
				for range 50 {
					tape := &stattest.Tape{Noiser: stattest.Noiser(t, fmt.Sprint(name, c.n))}
					if a := e.Release(tape, in); a.Status == estimator.OK {
						c.add(a, again(e, tape, in, dim, rel.sized), r.IntN(dim))
					}
				}
			}
		}
		c.check(t, m.name, true, 0.5)
	}
}

// TestVarianceIntervalsCover counts how often the error bars of vectors' variances cover those of
// the vectors as they are clipped.
func TestVarianceIntervalsCover(t *testing.T) {
	for _, stddev := range []bool{false, true} {
		c := new(covers)
		for _, rel := range relations {
			const dim = 5
			name := fmt.Sprintf("stddev=%v, %v, sized=%v", stddev, rel.relation, rel.sized)
			p := Params{Params: estimator.Params{Rho: 0.5, MaxRows: 1, Relation: rel.relation, Sized: rel.sized,
				Grid: estimator.Grid{Step: 0x1p-10, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}}, Dim: dim}
			e, err := NewVariance(p, stddev, false)
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(stattest.Source(t, name))
			in := estimator.Input{Persons: 3000, Vectors: blockOf(dim, 3000, func(_, j int) int64 { return int64(5000*r.NormFloat64())*int64(1+j%3) + 40 })}
			for range 70 {
				tape := &stattest.Tape{Noiser: stattest.Noiser(t, fmt.Sprint(name, c.n))}
				a := e.Release(tape, in)
				if a.Status != estimator.OK {
					continue
				}
				q := e.Release(tape.Again(2*dim, false), in).Error.Moments
				n, released := float64(in.Vectors.Persons()), 1.0
				if !rel.sized {
					released = tape.First() / n
				}
				exact := make([]float64, dim)
				for j := range exact {
					m := q.First[j] * released
					exact[j] = (q.Second[j]*released + q.Offset[j] - m*m) * n / (n - 1)
					if stddev {
						exact[j] = math.Sqrt(exact[j])
					}
				}
				c.add(a, exact, r.IntN(dim))
			}
		}
		c.check(t, fmt.Sprintf("variance of vectors, stddev=%v", stddev), false, 0.9)
	}
}

// TestSparseIntervalsCover counts how often the error bars of means of lists cover the exact means,
// and those of shrunk answers the same.
func TestSparseIntervalsCover(t *testing.T) {
	for _, dim := range []int{20, 200} {
		c := new(covers)
		for _, rel := range relations {
			name := fmt.Sprintf("d=%d, %v, sized=%v", dim, rel.relation, rel.sized)
			p := Params{Params: estimator.Params{Rho: 0.5, MaxRows: 1, Relation: rel.relation, Sized: rel.sized,
				Grid: estimator.Grid{Step: 1, Lo: 0, Hi: 1}}, Dim: dim, Sparse: true}
			e, err := NewMean(p)
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(stattest.Source(t, name))
			b := &estimator.Block{Dim: dim, Sparse: true}
			ch, exact := estimator.Chunk{Starts: []int{0}}, make([]float64, dim)
			const persons = 3000
			for range persons { // one item each: no norm is longer than another about 0
				j := min(r.IntN(dim), r.IntN(dim))
				ch.Index, exact[j] = append(ch.Index, int32(j)), exact[j]+1./persons
				ch.Persons++
				ch.Starts = append(ch.Starts, len(ch.Index))
			}
			b.Chunks = []estimator.Chunk{ch}
			for range 70 {
				a := e.Release(stattest.Noiser(t, fmt.Sprint(name, c.n)), estimator.Input{Persons: b.Persons(), Vectors: b})
				if a.Status == estimator.OK {
					c.add(a, exact, r.IntN(dim))
				}
			}
		}
		text := fmt.Sprintf("lists, d=%d, n=%d", dim, c.n)
		for k, level := range levels {
			stattest.Accept(t, stattest.Coverage(text, c.hits[k], c.n, level))
			stattest.Accept(t, stattest.Coverage(text+", radius", c.balls[k], c.n, level))
			text += fmt.Sprintf(" | %.1f %% ×%.2f radius %.1f %% ×%.2f", 100*float64(c.hits[k])/float64(c.n), c.wide[k]/float64(c.n),
				100*float64(c.balls[k])/float64(c.n), c.radii[k]/float64(c.n))
		}
		t.Log(text)
	}
}
