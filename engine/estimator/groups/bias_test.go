package groups

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/count"
	"scrim/engine/estimator/errorbar"
	"scrim/engine/estimator/mean"
	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
)

var (
	biasRuns = flag.Int("groups.bias", 0, "releases of each case of the table of biases, which is printed; 0: no table")
	biasOnly = flag.String("groups.biasonly", "", "part of the names of its cases")
)

// usualRho is the loss of a statement at ε = 1 and δ = 10⁻⁶, about.
const usualRho = 0.0133

// crowd is a made-up table: what each person has in each group.
type crowd struct {
	set
	keyed bool // each person is in one group, by a key: groups are answered one by one
}

// crowds are persons with one row, 1 to 3 rows or a geometric number of rows, each in a random
// group, whose values are log-normal.
func crowds() []crowd {
	var all []crowd
	for _, size := range [][2]int{{200, 5}, {600, 20}, {2000, 100}, {600, 100}, {3000, 30}, {5000, 500}} {
		for _, rows := range []string{"one", "1-3", "geometric", "zipf one", "zipf 1-3", "zipf geometric"} {
			for _, m := range []Measure{Rows, Sum} {
				c := crowd{set: crowdOf(size[0], size[1], rows, m)}
				all = append(all, c)
				if rows == "one" {
					c.keyed, c.name = true, "keyed "+c.name
					all = append(all, c)
				}
			}
		}
	}
	return all
}

func crowdOf(persons, groups int, rows string, m Measure) set {
	r := rand.New(rand.NewPCG(21, 22))
	s := set{name: fmt.Sprintf("%d/%d %s %v", persons, groups, rows, map[Measure]string{Rows: "COUNT", Sum: "SUM"}[m]), groups: groups, measure: m}
	for range persons {
		n := 1
		switch {
		case strings.HasSuffix(rows, "1-3"):
			n = 1 + r.IntN(3)
		case strings.HasSuffix(rows, "geometric"):
			for r.Float64() > 0.3 {
				n++
			}
		}
		p := map[int]int64{}
		for range n {
			g, x := r.IntN(groups), 1+int64(100*math.Exp(r.NormFloat64()))
			if strings.HasPrefix(rows, "zipf") {
				g = min(groups-1, int(math.Exp(r.Float64()*math.Log(float64(groups+1))))-1)
			}
			if m == Rows {
				x = 1
			}
			p[g] += x
		}
		s.persons = append(s.persons, p)
	}
	return s
}

// releasing gives one release of each group, or of all.
type releasing func(n noise.Noiser) []estimator.Estimate

// of makes the release of a crowd at a loss.
func (c crowd) of(t *testing.T, rho float64) releasing {
	p := c.params(rho, estimator.AddRemove)
	if !c.keyed {
		e, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		in := estimator.Input{Vectors: layOut(c.groups, c.persons)}
		return func(n noise.Noiser) (all []estimator.Estimate) {
			a := e.Release(n, in)
			for g := range c.groups {
				if a.Status != estimator.OK {
					all = append(all, a)
				} else {
					all = append(all, a.Part(g, g+1))
				}
			}
			return all
		}
	}
	q := estimator.Params{Rho: rho, Relation: estimator.AddRemove, Grid: p.Aggregates[0].Grid, MaxRows: 1}
	e, err := mean.NewSum(q)
	if c.measure == Rows {
		q.Grid = estimator.Grid{}
		e, err = count.NewUnits(q, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	in := make([]estimator.Input, c.groups)
	for g := range in {
		in[g] = estimator.Input{Columns: make([][]int64, 2), Groups: c.groups}
	}
	for _, p := range c.persons {
		for g, v := range p {
			in[g].Columns[0], in[g].Columns[1] = append(in[g].Columns[0], 1), append(in[g].Columns[1], v)
		}
	}
	return func(n noise.Noiser) (all []estimator.Estimate) {
		for _, i := range in {
			all = append(all, e.Release(n, i))
		}
		return all
	}
}

// bias is what releases are off by.
type bias struct {
	total, sdTotal  float64 // of the sum over groups, over the exact one
	middle, high    float64 // of cells: |bias| over the standard error, the median and 95 %
	rms             float64 // error of the vector of groups, over its length
	shares          float64 // share of releases whose share cut is within two of its standard errors
	covers          float64 // share of intervals at 95 % that hold the exact answer
	sharp           float64 // half their widths, over the error: the median of groups
	missing, absurd float64 // shares of answers: none, and over 100 times the largest exact one
}

// measureBias releases a crowd so many times. No answer counts as 0.
func measureBias(t *testing.T, c crowd, rho float64, runs int) bias {
	truth, draw, n := c.truth(), c.of(t, rho), stattest.Noiser(t, "bias "+c.name)
	sum, stdErr := make([]float64, len(truth)), make([]float64, len(truth))
	var b bias
	exact, answers, squares := 0.0, float64(runs*len(truth)), 0.0
	for _, x := range truth {
		exact += x
	}
	largest := slices.Max(truth)
	square, width := make([]float64, len(truth)), make([]float64, len(truth))
	for range runs {
		off := 0.0
		added, doubt, told, clipped, noise := 0.0, 0.0, 0.0, 0.0, 0.0
		for g, a := range draw(n) {
			x := truth[g]
			e := -x
			if a.Status != estimator.OK || math.IsNaN(a.Values[0]) {
				b.missing++
			} else {
				e = a.Values[0] - x
				stdErr[g] += a.StdErr[0] / float64(runs)
				lo, hi := errorbar.Interval(a, 0, 0.95)
				if lo <= x && x <= hi {
					b.covers++
				}
				width[g] += (hi - lo) / 2 / float64(runs)
				told += a.Values[0]
				noise = math.Hypot(noise, a.StdErr[0])
				clipped += a.Values[0]
				if cut := a.Error.Cut; cut != nil {
					added, doubt, clipped = added+cut[0].Added, doubt+cut[0].Doubt(), clipped-cut[0].Added
				}
				if math.Abs(a.Values[0]) > 100*largest {
					b.absurd++
				}
			}
			sum[g] += e / float64(runs)
			off += e
			square[g] += e * e / float64(runs)
		}
		// The exact share is of the sum that was clipped, which is seen with noise.
		if is := 1 - clipped/exact; math.Abs(added/told-is) <= 2*math.Hypot(doubt/told, noise/exact) {
			b.shares += 1 / float64(runs)
		}
		b.total += off / exact / float64(runs)
		squares += off * off / exact / exact / float64(runs)
	}
	var cells, sharp []float64
	for g, x := range sum {
		cells, sharp = append(cells, math.Abs(x)/stdErr[g]), append(sharp, width[g]/math.Sqrt(square[g]))
		b.rms += square[g]
	}
	slices.Sort(cells)
	slices.Sort(sharp)
	b.sharp = sharp[len(sharp)/2]
	b.sdTotal = math.Sqrt(max(0, squares-b.total*b.total) / float64(runs))
	b.middle, b.high = cells[len(cells)/2], cells[int(0.95*float64(len(cells)-1))]
	b.rms = math.Sqrt(b.rms) / norm(truth)
	b.covers /= max(1, answers-b.missing)
	b.missing, b.absurd = b.missing/answers, b.absurd/answers
	return b
}

// TestTableOfBiases prints what totals over groups are off by.
func TestTableOfBiases(t *testing.T) {
	if *biasRuns == 0 {
		t.Log("no -groups.bias")
		return
	}
	for _, c := range crowds() {
		if !strings.Contains(c.name, *biasOnly) {
			continue
		}
		b := measureBias(t, c, usualRho, *biasRuns)
		t.Logf("%-32s total %+6.1f %% ± %.1f  cells %.2f %.2f  rms %.3f  covers %.2f  missing %.2f  absurd %.5f  sharp %.2f  share %.2f",
			c.name, 100*b.total, 100*b.sdTotal, b.middle, b.high, b.rms, b.covers, b.missing, b.absurd, b.sharp, b.shares)
	}
}

// TestTotalsOverGroupsHaveNoBias: what is told of all groups together is off by the aims at most,
// no group by more than half of its standard error but one in twenty, nor by a quarter in the
// median, and the share that is cut is as it is told. Nor is the error larger than it was while a
// part of everybody was cut: -14 to -16 % of these counts, -8 to -21 % of the sums. Each bound is
// passed by chance once in 10^9.
func TestTotalsOverGroupsHaveNoBias(t *testing.T) {
	const runs, z = 200, 6
	for _, c := range []struct {
		persons, groups int
		rows            string
		m               Measure
		total, rms      float64
	}{
		{600, 20, "one", Rows, 0.02, 0.249},
		{600, 20, "geometric", Rows, 0.05, 0.228},
		{2000, 100, "one", Rows, 0.02, 0.335},
		{2000, 100, "zipf one", Rows, 0.02, 0.195},
		{5000, 500, "one", Rows, 0.02, 0.615},
		{600, 20, "geometric", Sum, 0.03, 0.335},
		{2000, 100, "one", Sum, 0.03, 0.657},
		{2000, 100, "geometric", Sum, 0.03, 0.422},
		{3000, 30, "one", Sum, 0.03, 0.249},
	} {
		b := measureBias(t, crowd{set: crowdOf(c.persons, c.groups, c.rows, c.m)}, usualRho, runs)
		name := fmt.Sprintf("%d persons, %d groups, %s, measure %d", c.persons, c.groups, c.rows, c.m)
		if math.Abs(b.total) > c.total+z*b.sdTotal {
			t.Errorf("%s: the total is off by %.3f ± %.3f, want %v", name, b.total, b.sdTotal, c.total)
		}
		if least := 0.5; c.m == Rows && (b.middle > least/2 || b.high > least) {
			t.Errorf("%s: groups are off by %.2f and %.2f standard errors", name, b.middle, b.high)
		}
		if b.shares < 0.93 {
			t.Errorf("%s: the share that is cut is told within its error in %.3f of the releases", name, b.shares)
		}
		if b.rms > c.rms {
			t.Errorf("%s: error %.3f of the whole, want %v", name, b.rms, c.rms)
		}
		if b.covers < 0.93 {
			t.Errorf("%s: intervals hold in %.3f", name, b.covers)
		}
	}
}

// TestNobodyWithOneRowIsShortened: whatever weights and noisy counts are released, the radius is
// not under the length of the counts of one row in any group.
func TestNobodyWithOneRowIsShortened(t *testing.T) {
	r := rand.New(stattest.Source(t, "one row"))
	shorter := false
	for range 200 {
		made, err := New(Params{Rho: usualRho, Groups: 1 + r.IntN(300), Aggregates: []Aggregate{{Measure: Rows}, {Measure: Persons}}[:1+r.IntN(2)]})
		if err != nil {
			t.Fatal(err)
		}
		e := made.(release)
		weights := make([]float64, e.layout.dim)
		for j := range weights {
			weights[j] = math.Exp2(-20 * r.Float64())
		}
		unit := e.unitOf(weights, true)
		rescale(weights, unit)
		c := newCost(e.layout.dim, e.factor2, e.sum)
		h := e.histogram()
		noisy := make([]float64, h.Buckets)
		for i := range noisy {
			noisy[i] = h.Sigma * r.NormFloat64()
		}
		noisy[r.IntN(3)] += 1000
		found, ok := c.radius(h, noisy, h.Edge(float64(h.Buckets)))
		for g := range e.p.Groups {
			row := norm([]float64{math.Sqrt(weights[g*e.layout.width]), math.Sqrt(weights[(g+1)*e.layout.width-1])}[:e.layout.width])
			if ok && row*(1-0x1p-20) > found.radius {
				t.Fatalf("a row is %v long, the radius %v", row, found.radius)
			}
			shorter = shorter || ok && row > found.radius/1.01 // a shorter radius would cut it
		}
	}
	if !shorter {
		t.Error("no radius is that of one row")
	}
}

// TestSumsNearerEachOtherAddUp: sums of groups without their noise add up to the same, are alike
// where noise is all, and are themselves where they differ by much more.
func TestSumsNearerEachOtherAddUp(t *testing.T) {
	r := rand.New(stattest.Source(t, "nearer"))
	sums, sigma := make([]float64, 50), make([]float64, 50)
	for _, far := range []float64{0, 3000} {
		exact := 0.0
		for g := range sums {
			sums[g], sigma[g] = 100+10*r.NormFloat64(), 10
			if g == 7 {
				sums[g] += far
			}
			exact += sums[g]
		}
		got, all, off := nearer(sums, sigma), 0.0, 0.0
		for g, x := range got {
			if all += x; g != 7 {
				off += (x - 100) * (x - 100) / 49
			}
		}
		if math.Abs(all-exact) > 1e-9*exact || math.Sqrt(off) > 5+far*far/1e6 || math.Abs(got[7]-100-far) > 0.05*far+5 {
			t.Errorf("far by %v: they add up to %v, want %v; off by %v; the far one is %v", far, all, exact, math.Sqrt(off), got[7])
		}
	}
}
