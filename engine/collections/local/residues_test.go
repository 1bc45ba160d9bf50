package local

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/test/stattest"
)

// randomResidues are the counts of levels, some empty, of no particular values.
func randomResidues(r *rand.Rand, levels int, span float64) residues {
	out := residues{keep: 0.4, other: 0.2, span: span}
	for j := range levels {
		l := residueLevel{width: math.Ldexp(1, j)}
		for a := range l.counts {
			l.counts[a] = float64(r.IntN(1000))
		}
		if r.IntN(5) == 0 {
			clear(l.counts[:])
		}
		out.levels = append(out.levels, l)
	}
	return out
}

func near12(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(a)+math.Abs(b)) }

func TestResidueShares(t *testing.T) {
	for _, mean := range []float64{0, -7.3, 0.125, 99.9, 1 << 20} {
		for _, sd := range []float64{1, 1.7, 32} {
			for j := range 22 {
				width := math.Ldexp(1, j)
				got, want := residueShares(mean, sd, width), gaussian(mean, sd).residues(width)
				sum := 0.0
				for a := range got {
					if sum += got[a]; math.Abs(got[a]-want[a]) > 1e-12 {
						t.Errorf("mean %v, sd %v, level %d: residue %d has %v, want %v", mean, sd, j, a, got[a], want[a])
					}
				}
				if math.Abs(sum-1) > 1e-14 {
					t.Errorf("mean %v, sd %v, level %d: probabilities sum to %v", mean, sd, j, sum)
				}
			}
		}
	}
}

// TestResidueSlopes compares derivatives with quotients of differences.
func TestResidueSlopes(t *testing.T) {
	const h = 1e-5
	for _, mean := range []float64{0.3, 5, 77.7} {
		for _, sd := range []float64{1, 3.1} {
			for j := range 8 {
				width := math.Ldexp(1, j)
				by := residueMoves(mean, sd, width)
				up, down := residueShares(mean+h, sd, width), residueShares(mean-h, sd, width)
				wide, slim := residueShares(mean, sd+h, width), residueShares(mean, sd-h, width)
				for a := range up {
					if d := (up[a] - down[a]) / (2 * h); math.Abs(d-by[a][0]) > 1e-8 {
						t.Errorf("mean %v, sd %v, level %d: slope by mean %v, want %v", mean, sd, j, by[a][0], d)
					}
					if d := (wide[a] - slim[a]) / (2 * h); math.Abs(d-by[a][1]) > 1e-8 {
						t.Errorf("mean %v, sd %v, level %d: slope by sd %v, want %v", mean, sd, j, by[a][1], d)
					}
				}
			}
		}
	}
}

// TestSidesShares compares the law of sides with the distribution function, and its slope with a
// quotient of differences.
func TestSidesShares(t *testing.T) {
	const h = 1e-5
	for offset := range 4 {
		c := side{coin{keep: 0.7}, float64(offset)}
		for _, mean := range []float64{-3, 0, 1.5, 2, 100.25} {
			y, slope := c.reported(mean)
			up, _ := c.reported(mean + h)
			down, _ := c.reported(mean - h)
			if want := 0.3 + 0.4*gaussian(mean, 1).above(c.offset); math.Abs(y-want) > 1e-12 || math.Abs((up-down)/(2*h)-slope) > 1e-8 {
				t.Errorf("offset %d, mean %v: %v and %v, want %v and %v", offset, mean, y, slope, want, (up-down)/(2*h))
			}
		}
	}
}

// TestSlicesAreTheLikelihood compares every point of the grid with the likelihood itself: narrow
// and wide cells, empty levels, deviations that are no power of √2.
func TestSlicesAreTheLikelihood(t *testing.T) {
	r := rand.New(stattest.Source(t, "slices"))
	for range 15 {
		in := randomResidues(r, 2+r.IntN(12), 1+r.Float64()*3000)
		for _, sd := range []float64{1, math.Sqrt2, 2.9, 5, 31.9, 32} {
			s := in.newSlice(sd)
			if s.step > sd/4 || s.step <= sd/8 || float64(s.points-1)*s.step > in.span || float64(s.points)*s.step <= in.span {
				t.Fatalf("sd %v: %d steps of %v for %v", sd, s.points, s.step, in.span)
			}
			from := r.IntN(s.points)
			got := make([]float64, min(s.points-from, 500+r.IntN(3000)))
			s.fill(got, from)
			for i, score := range got {
				if want := in.at(float64(from+i)*s.step, sd); !near12(score, want) {
					t.Fatalf("sd %v, point %d of %d: %v, want %v", sd, from+i, s.points, score, want)
				}
			}
		}
	}
}

// TestGridFindsTheBest compares the search over blocks with a plain loop, and the mass outside.
func TestGridFindsTheBest(t *testing.T) {
	r := rand.New(stattest.Source(t, "grid"))
	for i := range 8 {
		in := randomResidues(r, 2+r.IntN(10), 1+r.Float64()*600)
		if i == 0 {
			in.span = 3 * blockPoints / 4
		}
		sds := deviations(1 + 20*r.Float64())
		g := in.newGrid(sds)
		best := point{score: math.Inf(-1)}
		for _, s := range g.slices {
			for i := range s.points {
				if x := in.at(float64(i)*s.step, s.sd); x > best.score+1e-7 {
					best = point{float64(i) * s.step, s.sd, x}
				}
			}
		}
		if got := g.best(); !near12(got.score, best.score) {
			t.Errorf("best %+v, want %+v", got, best)
		}
		far, all := 0.0, 0.0
		for _, s := range g.slices {
			for i := range s.points {
				mass := s.step * math.Exp(in.at(float64(i)*s.step, s.sd)-best.score)
				if all += mass; math.Abs(float64(i)*s.step-best.mean) > 2 {
					far += mass
				}
			}
		}
		if got := g.outside(g.best().score, best.mean, 2); math.Abs(got-far/all) > 1e-6 {
			t.Errorf("outside %v, want %v", got, far/all)
		}
	}
}

// TestNothingReportedIsNoNaN: empty levels, and a collection without a report.
func TestNothingReportedIsNoNaN(t *testing.T) {
	in := randomResidues(rand.New(stattest.Source(t, "empty")), 6, 50)
	for i := range in.levels {
		clear(in.levels[i].counts[:])
	}
	at, outside := in.locateKnown()
	if at.score != 0 || !(outside > 0.9 && outside < 1) {
		t.Errorf("known: %+v, outside %v", at, outside)
	}
	if at, outside = in.locate(8); at.score != 0 || !(outside > 0.5 && outside < 1) {
		t.Errorf("unknown: %+v, outside %v", at, outside)
	}
	if _, _, ok := in.information(3, 1).errors(); ok {
		t.Error("no report has errors")
	}
	if p := lawOf(in.readings(at.mean, at.sd), 2).fit; p != 1 {
		t.Errorf("fit of nothing: %v", p)
	}
	in.levels[3].counts = [4]float64{0, 0, 1e9, 0}
	if at, _ = in.locate(8); math.IsNaN(at.mean) || math.IsNaN(at.score) {
		t.Errorf("one level, one residue: %+v", at)
	}
}

func BenchmarkLocate(b *testing.B) {
	for _, span := range []float64{1000, 1e5, 1 << 20} {
		r := rand.New(stattest.Source(b, "bench"))
		in := randomResidues(r, max(2, int(math.Ceil(math.Log2(span+12*32)))-1), span)
		b.Run(fmt.Sprintf("known/R=%v", span), func(b *testing.B) {
			for range b.N {
				in.locateKnown()
			}
		})
		b.Run(fmt.Sprintf("unknown/R=%v", span), func(b *testing.B) {
			for range b.N {
				in.locate(32)
			}
		})
	}
}
