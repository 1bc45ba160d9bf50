package local

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/internal/refuse"
	"scrim/test/stattest"
)

// kinds is a collection of each protocol for scalars, with values that suit it.
var kinds = []declared{
	{collect.LDPBit, "1", 1e4, 100, 0, ""},
	{collect.LDPKV2, "1", 2e4, 100, 0, ""},
	{collect.LDPKV1, "1", 2e4, 100, 0, ""},
	{collect.LDPUV2, "1", 2e4, 100, 8, ""},
	{collect.LDPUV2, "1", 2e4, 100, 8, "laplace"},
	{collect.LDPUV1, "1", 2e4, 100, 8, ""},
}

// TestTooFewReports leaves one report of one cell's minimum out, for every cell of every round.
func TestTooFewReports(t *testing.T) {
	for _, d := range kinds {
		info, _ := d.protocol.Info()
		for round := 1; round <= info.Rounds; round++ {
			p := d.params(t, round, d.published(round))
			for missing := range p.Cells {
				tally := NewTally(p)
				for i, c := range p.Cells {
					n := c.Quota
					if i == missing {
						n = c.Min - 1
					}
					add(tally, c, make([]byte, c.PayloadSize()), n)
				}
				c := p.Cells[missing]
				wantCode(t, fmt.Sprint(d, " round ", round), refuse.TooFewReports, fmt.Sprintf("cell %d has %d of %d", c.Cell, c.Min-1, c.Min), end(p, tally))
			}
		}
	}
}

// TestMinimumOfAllCells: each cell has its own minimum, together they lack one report.
func TestMinimumOfAllCells(t *testing.T) {
	p := declared{collect.LDPUV1, "1", 2e4, 100, 8, ""}.params(t, 1, collect.Published{})
	tally, left := NewTally(p), p.Min-1
	for _, c := range p.Cells {
		n := c.Min
		if left -= c.Min; c.Cell == uint32(len(p.Cells)-1) {
			n += left
		}
		add(tally, c, []byte{0, 0}, n)
	}
	wantCode(t, "all cells", refuse.TooFewReports, fmt.Sprintf("have %d of %d", p.Min-1, p.Min), end(p, tally))
}

// published are numbers that suit a second round.
func (d declared) published(round int) collect.Published {
	switch {
	case round == 1:
		return collect.Published{}
	case d.scales == 0:
		return collect.Published{Centre: []float64{33.25}}
	}
	return collect.Published{Centre: []float64{33.25}, Width: 2 * halfWindow(d.n)}
}

// end publishes or decodes.
func end(p *collect.Params, t *Tally) error {
	if lastRound(p) {
		_, err := Decode(p, t)
		return err
	}
	_, _, err := Publish(p, t)
	return err
}

func wantCode(t *testing.T, name string, code refuse.Code, text string, err error) {
	t.Helper()
	if e, ok := refuse.As(err); !ok || e.Code != code || !strings.Contains(e.Error(), text) {
		t.Errorf("%s: %v, want %s with %q", name, err, code, text)
	}
}

// TestUniformResiduesAreInconclusive: reports that say nothing locate nothing; so do those of a
// mean outside of what the levels agree on.
func TestUniformResiduesAreInconclusive(t *testing.T) {
	for _, d := range kinds[1:] {
		p := d.params(t, 1, collect.Published{})
		tally := NewTally(p)
		for _, c := range p.Cells {
			if c.Randomiser != collect.KRR {
				add(tally, c, []byte{0}, c.Quota)
				continue
			}
			for a := range 4 {
				add(tally, c, []byte{0, byte(a)}, c.Quota/4+1)
			}
		}
		wantCode(t, d.String(), refuse.RoundInconclusive, "test", end(p, tally))
		if info, _ := d.protocol.Info(); info.Rounds == 2 {
			if _, i, _ := Publish(p, tally); i.Outside == nil || !(*i.Outside > beta) {
				t.Errorf("%v: preview tells %v", d, i.Outside)
			}
		}
	}
}

// TestRoundsInOrder: nothing is published by a last round, nothing decoded before.
func TestRoundsInOrder(t *testing.T) {
	for _, d := range kinds {
		info, _ := d.protocol.Info()
		for round := 1; round <= info.Rounds; round++ {
			p := d.params(t, round, d.published(round))
			if round == info.Rounds {
				_, _, err := Publish(p, NewTally(p))
				wantCode(t, d.String(), refuse.CollectionState, "last", err)
			} else {
				_, err := Decode(p, NewTally(p))
				wantCode(t, d.String(), refuse.CollectionRounds, "not its last", err)
			}
		}
	}
	_, err := Decode(&collect.Params{Protocol: collect.ShufSum, Round: 1}, NewTally(&collect.Params{}))
	wantCode(t, "shuffle", refuse.CollectionParameter, "local", err)
}

// TestWhatHasNoAnswer: every estimate refuses what it cannot serve by the name of what it can, and
// answers the rest with finite numbers; levels that are none are refused.
func TestWhatHasNoAnswer(t *testing.T) {
	for _, d := range kinds {
		e, err := d.run(t, rand.New(stattest.Source(t, d.String())), gaussian(40, min(3, d.sd())))
		if err != nil {
			t.Fatal(d, err)
		}
		_, _, vector := e.Vector()
		_, _, ranges := e.Range(0, 1)
		_, quantile := e.Quantile(0.5)
		for _, err := range []error{vector, ranges, quantile} {
			wantCode(t, d.String(), refuse.Aggregate, "LDP_MEAN", err)
		}
		if _, stderr, err := e.SD(); d.scales == 0 {
			wantCode(t, d.String(), refuse.Aggregate, "LDP_SD", err)
		} else if err != nil || !(stderr > 0 && stderr < 1) {
			t.Errorf("%v: sd has %v, %v", d, stderr, err)
		}
		value, stderr, err := e.Mean()
		if err != nil || math.IsNaN(value) || !(stderr > 0) || math.IsInf(stderr, 0) {
			t.Errorf("%v: mean %v ± %v, %v", d, value, stderr, err)
		}
		for _, conf := range []float64{0, 1, -1, math.NaN(), 2} {
			_, _, err := e.Interval(conf)
			wantCode(t, d.String(), refuse.Option, "level", err)
		}
		last := 0.0
		for _, conf := range []float64{1e-9, 0.5, 0.95, 1 - 1e-9} {
			lo, hi, err := e.Interval(conf)
			if err != nil || !(lo <= value && value <= hi && hi-lo >= last) || math.IsInf(hi-lo, 0) {
				t.Errorf("%v: [%v, %v] at %v about %v, %v", d, lo, hi, conf, value, err)
			}
			last = hi - lo
		}
		if b, err := json.Marshal(e.Info()); err != nil || !strings.Contains(string(b), `"warnings":[`) {
			t.Errorf("%v: %s, %v", d, b, err)
		}
	}
}

// TestWarnings: a centre far off, cells under half of their quota, and none where all is well.
func TestWarnings(t *testing.T) {
	d := kinds[1]
	r := rand.New(stattest.Source(t, "warnings"))
	for mean, far := range map[float64]bool{33: false, 60: true, 3: true} {
		p := d.params(t, 2, d.published(2))
		e, err := Decode(p, gaussian(mean, 1).report(r, p))
		if err != nil {
			t.Fatal(err)
		}
		if warned(e, CentreOff) != far || warned(e, CellHalfFull) {
			t.Errorf("mean %v: %+v", mean, e.Info().Warnings)
		}
		value, stderr, _ := e.Mean()
		if lo, hi, _ := e.Interval(0.95); far && (!(lo <= inside(mean) && inside(mean) <= hi) || math.IsNaN(stderr) || math.Abs(inUnits(value)-33.25) > 3.1) {
			t.Errorf("mean %v: %v ± %v within [%v, %v]", mean, value, stderr, lo, hi)
		}
	}
	p := kinds[5].params(t, 1, collect.Published{}).Clone()
	p.Cells[2].Quota, p.Cells[3].Quota = p.Cells[2].Min+p.Cells[2].Quota/2, 0
	tally := gaussian(33, 2).report(r, p)
	for i := range p.Cells {
		p.Cells[i].Quota, p.Cells[i].Min = 2*p.Cells[i].Quota, 0
	}
	p.Cells[2].Quota++
	info := Arrived(p, asOf(tally, p))
	if len(info.Warnings) != 1 || info.Warnings[0].Code != CellHalfFull || !strings.Contains(info.Warnings[0].Text, "cell 2 has") || strings.Contains(info.Warnings[0].Text, "cell 1") {
		t.Errorf("half full: %+v", info.Warnings)
	}
	e, err := Decode(p, tally) // without level 3
	if err != nil {
		t.Fatal(err)
	}
	if value, stderr, _ := e.Mean(); math.Abs(inUnits(value)-33) > 12*stderr {
		t.Errorf("without a level: %v ± %v", inUnits(value), 2*stderr)
	}
}

// inside turns units into values.
func inside(x float64) float64 { return 10 + x/2 }
