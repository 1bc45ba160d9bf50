package accuracy

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"scrim/bench/dataset"
	"scrim/engine/estimator"
	"scrim/engine/estimator/groups"
	"scrim/engine/estimator/noise"
)

// shop is a set of four uneven baskets.
func shop(t *testing.T, name string) (*dataset.Set, dataset.Sample) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "shop.dat"), []byte("1\n1 2\n1 2 3 4 5 6 7 8 9\n9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := dataset.Open(name, dir)
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.Draw(1)
	if err != nil {
		t.Fatal(err)
	}
	return s, x
}

// TestLossOfBoundsIsTheirMeanSquaredError compares the exact loss of bounds with many runs without
// noise.
func TestLossOfBoundsIsTheirMeanSquaredError(t *testing.T) {
	s, x := shop(t, "sales:file=shop,departments=4")
	exact := scaled(x.Mean, 4)
	n := noise.New(source(1, 2))
	for _, b := range []box{{1, 1}, {2, 1}, {3, 2}, {4, 1}, {4, 9}} {
		const runs = 40_000
		sum := 0.0
		for range runs {
			for g, values := range byGroup(x.Block, s.Groups, func(c int) []int { return choose(n, c, b.groups) }) {
				off := -exact[g]
				for _, v := range values {
					off += float64(b.clip(v))
				}
				sum += off * off / runs
			}
		}
		if want := b.loss(x.Block); math.Abs(sum-want) > 0.03*want+1e-9 {
			t.Errorf("%+v: %v on average, exactly %v", b, sum, want)
		}
	}
}

// TestHindsightFindsTheBestBounds tries all pairs of bounds.
func TestHindsightFindsTheBestBounds(t *testing.T) {
	s, x := shop(t, "sales:file=shop,departments=4")
	for _, rho := range []float64{1e-4, 0.1, 1, 10, 1e4} {
		c := Conditions{Rho: rho}
		of := func(b box) float64 { sd := b.deviation(c, false); return 4*sd*sd + b.loss(x.Block) }
		got, best := hindsight(box{}, x.Block, s, c), math.Inf(1)
		for groups := 1; groups <= 4; groups++ {
			for bound := int64(1); bound <= 4; bound++ {
				best = min(best, of(box{groups, bound}))
			}
		}
		if of(got) > best*(1+1e-12) {
			t.Errorf("ρ = %v: %+v has %v, the best %v", rho, got, of(got), best)
		}
	}
	if got := hindsight(box{groups: 1}, x.Block, s, Conditions{Rho: 1e4}); got.groups != 1 || got.bound < 2 {
		t.Errorf("with one group: %+v", got)
	}
}

// TestNoiseOfBounds counts what one person moves: all of the box, twice as far where groups are
// exchanged.
func TestNoiseOfBounds(t *testing.T) {
	b := box{4, 3}
	for _, c := range []struct {
		relation estimator.Relation
		signed   bool
		want     float64
	}{{estimator.AddRemove, false, 6}, {estimator.AddRemove, true, 6}, {estimator.ReplaceOne, false, 6 * math.Sqrt2}, {estimator.ReplaceOne, true, 12}} {
		if got := b.deviation(Conditions{0.5, c.relation}, c.signed); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestGroupMethodsAnswer runs every way to answer a GROUP BY at a loss that leaves no noise to
// speak of.
func TestGroupMethodsAnswer(t *testing.T) {
	for _, measure := range []string{"persons", "rows", "sum"} {
		s, x := shop(t, "sales:file=shop,departments=3,measure="+measure)
		if measure == "persons" != (s.Measure == groups.Persons) {
			t.Fatalf("%s: measure %v", measure, s.Measure)
		}
		exact := scaled(x.Mean, 4)
		for _, name := range []string{"box", "ball", "per-group:groups=3", "nothing"} {
			m, err := OpenMethod(name)
			if err != nil {
				t.Fatal(err)
			}
			run, err := m.build(s, Conditions{Rho: 1e5})
			if err != nil {
				t.Fatal(err)
			}
			a := run(noise.New(source(3)), x)
			if off := l2(a.Values, exact); len(a.Values) != 3 || (name == "box" || name == "ball") && off > 0.2 || name == "nothing" && off != l2(exact, make([]float64, 3)) {
				t.Errorf("%s of %s: %v, exactly %v", name, measure, a.Values, exact)
			}
		}
	}
}

// TestBallIsTheBestOfItsKind checks the sums of a ball, and that no other radius is better.
func TestBallIsTheBestOfItsKind(t *testing.T) {
	s, x := shop(t, "sales:file=shop,departments=4")
	// The third basket has 3, 2, 2, 2 items in the departments or an order of it: the norm is √21.
	if got := shortened(x.Block, s.Groups, math.Sqrt(21)/2); math.Abs(l1(got, make([]float64, 4))-(4+9./2)) > 1e-9 {
		t.Errorf("shortened: %v", got)
	}
	exact := shortened(x.Block, s.Groups, math.Inf(1))
	for _, rho := range []float64{0.01, 0.5, 100} {
		c := Conditions{Rho: rho}
		of := func(radius float64, sums []float64) float64 {
			return math.Pow(l2(sums, exact), 2) + 4*math.Pow(ballDeviation(radius, c), 2)
		}
		b := bestBall(x.Block, s.Groups, c)
		for r := 0.6; r < 5; r += 0.1 {
			if of(b.radius, b.sums) > 1.02*of(r, shortened(x.Block, s.Groups, r)) {
				t.Errorf("ρ = %v: radius %v, better %v", rho, b.radius, r)
			}
		}
	}
}

func TestChooseIsFair(t *testing.T) {
	n, counts := noise.New(source(5)), make([]int, 5)
	const runs = 50_000
	for range runs {
		for _, k := range choose(n, 5, 2) {
			counts[k]++
		}
	}
	for k, c := range counts {
		if math.Abs(float64(c)-0.4*runs) > 6.2*math.Sqrt(runs*0.24) {
			t.Errorf("%d was chosen %d times of %d", k, c, runs)
		}
	}
	if got := choose(n, 2, 3); len(got) != 2 {
		t.Errorf("of two: %v", got)
	}
}
