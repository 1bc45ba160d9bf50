package local

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/test/stattest"
)

// leveled returns the parameters of a first round with other numbers of levels and of reports than
// a plan's.
func leveled(t *testing.T, d declared, levels int, each uint64) *collect.Params {
	p := d.params(t, 1, collect.Published{}).Clone()
	cell := p.Cells[0]
	p.Cells = nil
	for j := range levels {
		cell.Cell, cell.Level, cell.Quota = uint32(j), j, each
		p.Cells = append(p.Cells, cell)
	}
	return p
}

// TestPaperMean counts how often ESTMEAN misses the mean by more than three standard deviations: in
// at most 1 % of the runs at the reports that its bound asks for, and in most of them at a quarter
// of these.
func TestPaperMean(t *testing.T) {
	d := declared{collect.LDPKV2, "1", 1e5, 1000, 0, ""}
	for _, c := range []struct {
		each        uint64
		least, most int // of 1000 runs
	}{{1681, 0, 10}, {934, 3, 60}, {467, 700, 1000}} {
		missed := make([]bool, 1000)
		p := leveled(t, d, 11, c.each)
		each(len(missed), func(i int) {
			r := rand.New(stattest.Source(t, fmt.Sprint("ESTMEAN", c.each, i)))
			mean := 1000 * r.Float64()
			pub, err := PublishPaper(p, gaussian(mean, 1).report(r, p))
			missed[i] = err != nil || math.Abs(pub.Centre[0]-mean) > 3
		})
		if n := count(missed); n < c.least || n > c.most {
			t.Errorf("%d reports a level: %d of %d runs missed, want %d to %d", c.each, n, len(missed), c.least, c.most)
		} else {
			t.Logf("%d reports a level: %d of %d runs missed", c.each, n, len(missed))
		}
	}
}

func count(x []bool) (n int) {
	for _, b := range x {
		if b {
			n++
		}
	}
	return n
}

// TestPaperDeviation: ESTVAR is right to a factor of 1.5 at 13600 reports a level, and its window
// leads to the mean. At a tenth of the reports it is not.
func TestPaperDeviation(t *testing.T) {
	d := declared{collect.LDPUV2, "1", 1e6, 1000, 32, ""}
	for _, c := range []struct {
		each uint64
		good bool
	}{{13600, true}, {1360, false}} {
		p := leveled(t, d, 11, c.each)
		wrong := 0
		for _, sd := range []float64{1, 1.5, 5.7, 28} {
			for i := range 60 {
				r := rand.New(stattest.Source(t, fmt.Sprint("ESTVAR", c.each, sd, i)))
				mean := 200 + 600*r.Float64()
				pub, err := PublishPaper(p, gaussian(mean, sd).report(r, p))
				if err != nil {
					t.Fatal(err)
				}
				ratio := pub.Width / halfWindow(d.n) / sd
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
	p := leveled(t, declared{collect.LDPKV2, "1", 1e5, 1000, 0, ""}, 11, 1e5)
	tally := NewTally(p)
	for _, c := range p.Cells {
		add(tally, c, []byte{0, byte(3 - c.Level%2)}, 1e5)
	}
	if pub, err := PublishPaper(p, tally); err == nil {
		t.Errorf("published %+v", pub)
	}
}
