package accuracy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
	"scrim/test/stattest"
)

// leveled returns the parameters of a first round over means in [0, span], in units of the least
// standard deviation, with 11 levels instead of a plan's.
func leveled(t *testing.T, protocol collect.Protocol, n uint64, span, scales float64) *collect.Params {
	t.Helper()
	eps, err := exact.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	d := collect.Declaration{Epsilon: eps, Expected: n, Lo: 10, Hi: 10 + span/2, Sigma: 0.5}
	if scales > 0 {
		d.Sigma, d.SigmaMin, d.SigmaMax = 0, 0.5, scales/2
	}
	g, err := collect.Plan("test", "11111111-2222-4333-8444-555555555555", protocol, d)
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.Params(1, "", collect.Published{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p = p.Clone()
	cell := p.Cells[0]
	p.Cells = nil
	for j := range 11 {
		cell.Cell, cell.Level = uint32(j), j
		p.Cells = append(p.Cells, cell)
	}
	return p
}

// reported are so many reports a level of values with a mean and a standard deviation.
func reported(p *collect.Params, r *rand.Rand, each int, mean, sd float64) []residueCounts {
	counts := make([]residueCounts, len(p.Cells))
	keep := math.Ldexp(float64(p.Cells[0].Keep), -62)
	for j := range counts {
		for range each {
			a := int(math.Floor(math.Ldexp(mean+sd*r.NormFloat64(), -j))) & 3
			if r.Float64() >= keep {
				a = (a + 1 + r.IntN(3)) & 3
			}
			counts[j].add([]byte{0, byte(a)})
		}
	}
	return counts
}

// TestPaperMean counts how often ESTMEAN misses the mean by more than three standard deviations: in
// at most 1 % of the runs at the reports that its bound asks for, and in most of them at a quarter
// of these.
func TestPaperMean(t *testing.T) {
	p := leveled(t, collect.LDPKV2, 1e5, 1000, 0)
	for _, c := range []struct {
		each        int
		least, most int // of 1000 runs
	}{{1681, 0, 10}, {934, 3, 60}, {467, 700, 1000}} {
		missed := 0
		for i := range 1000 {
			r := rand.New(stattest.Source(t, fmt.Sprint("ESTMEAN", c.each, i)))
			mean := 1000 * r.Float64()
			pub, err := publishPaper(p, reported(p, r, c.each, mean, 1))
			if err != nil || math.Abs(pub.Centre[0]-mean) > 3 {
				missed++
			}
		}
		t.Logf("%d reports a level: %d of 1000 runs missed", c.each, missed)
		if missed < c.least || missed > c.most {
			t.Errorf("%d reports a level: %d runs missed, want %d to %d", c.each, missed, c.least, c.most)
		}
	}
}

// TestPaperDeviation: ESTVAR is right to a factor of 1.5 at 13600 reports a level, and its window
// leads to the mean. At a tenth of the reports it is not.
func TestPaperDeviation(t *testing.T) {
	p := leveled(t, collect.LDPUV2, 1e6, 1000, 32)
	half := 2 + math.Sqrt(math.Log(4e6))
	for _, c := range []struct {
		each int
		good bool
	}{{13600, true}, {1360, false}} {
		wrong := 0
		for _, sd := range []float64{1, 1.5, 5.7, 28} {
			for i := range 60 {
				r := rand.New(stattest.Source(t, fmt.Sprint("ESTVAR", c.each, sd, i)))
				mean := 200 + 600*r.Float64()
				pub, err := publishPaper(p, reported(p, r, c.each, mean, sd))
				if err != nil {
					t.Fatal(err)
				}
				ratio := pub.Width / half / sd
				if ratio < 0.6 || ratio > 1.5 || math.Abs(pub.Centre[0]-mean) > 3*sd {
					wrong++
				}
			}
		}
		t.Logf("%d reports a level: %d of 240 runs wrong", c.each, wrong)
		if c.good && wrong > 2 || !c.good && wrong < 60 {
			t.Errorf("%d reports a level: %d of 240 runs wrong", c.each, wrong)
		}
	}
}

// TestPaperWithoutAnAnswer: levels that contradict each other have no mean.
func TestPaperWithoutAnAnswer(t *testing.T) {
	p := leveled(t, collect.LDPKV2, 1e5, 1000, 0)
	counts := make([]residueCounts, len(p.Cells))
	for j := range counts {
		counts[j][3-j%2] = 1e5
	}
	if pub, err := publishPaper(p, counts); err == nil {
		t.Errorf("published %+v", pub)
	}
}
