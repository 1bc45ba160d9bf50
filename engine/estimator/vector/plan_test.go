package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// normals draws persons with independent normal coordinates about 3000, in steps.
func normals(r *rand.Rand, persons int, sigma []float64) *estimator.Block {
	return blockOf(len(sigma), persons, func(_, j int) int64 { return 3000 + int64(math.Round(sigma[j]*r.NormFloat64())) })
}

// geometric returns d scales from one to another.
func geometric(d int, from, to float64) []float64 {
	s := make([]float64, d)
	for j := range s {
		s[j] = from * math.Pow(to/from, float64(j)/float64(max(1, d-1)))
	}
	return s
}

func planParams(d int, rho float64) Params {
	p := Params{Dim: d, Method: Plan}
	p.Rho, p.Grid, p.MaxRows = rho, estimator.Grid{Step: 0.5, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}, 1
	return p
}

func newMean(t testing.TB, p Params) mean {
	t.Helper()
	e, err := NewMean(p)
	if err != nil {
		t.Fatal(err)
	}
	return e.(mean)
}

// TestNoiseFollowsTheScales: with declared spreads the noise of coordinate j has a standard
// deviation in proportion to (σ_j + mean σ)^(2/(p+2)), or to σ_j where errors are relative.
func TestNoiseFollowsTheScales(t *testing.T) {
	sigma := geometric(6, 10, 4000)
	values := make([]float64, len(sigma))
	average := meanOf(sigma)
	for j, s := range sigma {
		values[j] = s / 2 // a step is half a unit of value
	}
	b := normals(rand.New(stattest.Source(t, "x")), 3000, sigma)
	for _, c := range []struct {
		p        float64
		relative bool
	}{{1, false}, {2, false}, {6, false}, {2, true}} {
		p := planParams(len(sigma), 1)
		p.P, p.Relative, p.Scale, p.Sigma = c.p, c.relative, Declared, values
		a := newMean(t, p).Release(stattest.Noiser(t, "n"), estimator.Input{Persons: b.Persons(), Vectors: b})
		for j := range sigma {
			want := math.Pow((sigma[j]+average)/(sigma[0]+average), 2/(c.p+2))
			if c.relative {
				want = sigma[j] / sigma[0]
			}
			if got := a.StdErr[j] / a.StdErr[0]; math.Abs(got/want-1) > 0.01 {
				t.Errorf("%+v: coordinate %d has %v times the noise of the first, want %v", c, j, got, want)
			}
		}
	}
}

// TestScalesAreFound compares the scales of normal coordinates with the true ones, found from
// distances and from matched persons with the median of χ²_k/k. The wrong constant for one pair,
// 0.4705 for 0.4549, cannot be told apart by cells of 40 %, so the constants are compared with the
// exact medians too.
func TestScalesAreFound(t *testing.T) {
	sigma := geometric(8, 1300, 20000) // all beyond the least scale that matters
	b := normals(rand.New(stattest.Source(t, "x")), 20000, sigma)
	for _, scale := range []Scale{Direct, Pairs} {
		for _, pairs := range []int{1, 4} {
			p := planParams(len(sigma), 1)
			p.P, p.Scale, p.Pairs = 2, scale, pairs
			d := newDense(p, persons{known: true}, 1, always, always)
			d.sizes.scales = 20000
			got := d.scales(stattest.Noiser(t, "n"), lots{sample: sample{b, 20000}}, same(3000, len(sigma)), norm(sigma), newBudget(1))
			for j, s := range got {
				if ratio := s / sigma[j]; ratio < 0.75 || ratio > 1.33 {
					t.Errorf("scale %d, %d pairs: coordinate %d has %v, want %v", scale, pairs, j, s, sigma[j])
				}
			}
		}
	}
	// medians of χ²_k/k from tables: 0.454936, 1.386294/2, 3.356694/4, 9.341818/10
	for k, want := range map[int]float64{1: 0.454936, 2: 0.693147, 4: 0.839174, 10: 0.934182} {
		if got := chiSquareMedian(k); math.Abs(got-want) > 0.01 {
			t.Errorf("median for %d pairs is %v, want %v", k, got, want)
		}
	}
}

// noiseNorm is the expected norm of an answer's noise.
func noiseNorm(a estimator.Estimate) float64 { return norm(a.StdErr) }

// TestPlanGainsFromUnequalScales: PLAN has far less noise than the shifted mean where scales
// differ, about as much where they do not.
func TestPlanGainsFromUnequalScales(t *testing.T) {
	r := rand.New(stattest.Source(t, "x"))
	ratio := func(sigma []float64) float64 {
		b := normals(r, 6000, sigma)
		var noise []float64
		for _, method := range []Method{Plan, Shifted} {
			p := planParams(len(sigma), 0.5)
			p.Method = method
			noise = append(noise, noiseNorm(newMean(t, p).Release(stattest.Noiser(t, "n"), estimator.Input{Persons: b.Persons(), Vectors: b})))
		}
		return noise[0] / noise[1]
	}
	skewed := geometric(32, 1000, 20)
	skewed[0] = 30000
	if x := ratio(skewed); x > 0.5 {
		t.Errorf("unequal scales: %v of the noise", x)
	}
	if x := ratio(geometric(32, 500, 500)); x < 0.8 || x > 1.2 {
		t.Errorf("equal scales: %v of the noise", x)
	}
}

// TestRelativeErrorsAreEven: coordinates that are different things, with spreads from 1 to 10^6,
// all get about the same error in proportion.
func TestRelativeErrorsAreEven(t *testing.T) {
	sigma := geometric(7, 3, 3e6)
	b := normals(rand.New(stattest.Source(t, "x")), 6000, sigma)
	p := planParams(len(sigma), 1)
	p.Relative = true
	a := newMean(t, p).Release(stattest.Noiser(t, "n"), estimator.Input{Persons: b.Persons(), Vectors: b})
	var relative []float64
	for j, s := range a.StdErr {
		relative = append(relative, s*2/sigma[j])
	}
	if least, most := slices.Min(relative), slices.Max(relative); most > 2.5*least || most > 0.02 {
		t.Errorf("relative errors %v", relative)
	}
}

// TestAutoChooses: equal spreads about the middle are clipped there, about another place they are
// shifted, unequal ones are scaled; and the reason for it names the methods.
func TestAutoChooses(t *testing.T) {
	r := rand.New(stattest.Source(t, "x"))
	auto := func(sigma []float64, at int64) (estimator.Estimate, mean) {
		p := planParams(len(sigma), 0.5)
		p.Method = Auto
		e := newMean(t, p)
		b := blockOf(len(sigma), 6000, func(_, j int) int64 { return at + int64(sigma[j]*r.NormFloat64()) })
		return e.Release(stattest.Noiser(t, "n"), estimator.Input{Persons: b.Persons(), Vectors: b}), e
	}
	even := func(a estimator.Estimate) bool { return slices.Max(a.StdErr) < 1.01*slices.Min(a.StdErr) }
	flat, skewed := geometric(32, 500, 500), geometric(32, 5000, 20)
	middle, _ := auto(flat, 0)
	away, e := auto(flat, 3000)
	scaled, _ := auto(skewed, 3000)
	if !even(middle) || !even(away) || even(scaled) {
		t.Errorf("scaled: %v at the middle, %v away from it, %v with unequal spreads", !even(middle), !even(away), !even(scaled))
	}
	if x := noiseNorm(away) / noiseNorm(middle); x > 1.15 {
		t.Errorf("away from the middle the noise is %v times as large", x)
	}
	if got := e.Reason(); got == "" || e.MinPersons() > 6000 {
		t.Errorf("reason %q, from %d persons", got, e.MinPersons())
	}
}

// TestAutoFallsBack: with fewer persons than a centre needs, declared spreads or a declared place
// still give an answer.
func TestAutoFallsBack(t *testing.T) {
	bare := planParams(256, 0.1)
	bare.Method = Auto
	least := newMean(t, bare).MinPersons()
	for name, change := range map[string]func(*Params){
		"bounds":  func(p *Params) { p.Lower, p.Upper = new(int64), new(int64); *p.Lower, *p.Upper = -9000, 9000 },
		"radius":  func(p *Params) { p.Radius = 4000 },
		"spreads": func(p *Params) { p.SigmaMax, p.Radius = 150, 1e6 },
	} {
		p := bare
		change(&p)
		e := newMean(t, p)
		if e.MinPersons() >= least {
			t.Errorf("%s: from %d persons, without from %d", name, e.MinPersons(), least)
			continue
		}
		b := normals(rand.New(stattest.Source(t, "x")), int(e.MinPersons()+least)/2, geometric(256, 300, 300))
		if a := e.Release(stattest.Noiser(t, "n"), estimator.Input{Persons: b.Persons(), Vectors: b}); a.Status != estimator.OK {
			t.Errorf("%s: %+v", name, a.Status)
		}
	}
}
