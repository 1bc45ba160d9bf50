package errorbar

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// drawn is a released number with noise of a deviation, from a source of its block.
func drawn(exact, noise, s float64, law estimator.Law, source string) Law {
	return Law{Estimate: one(exact+noise, estimator.Error{Law: law, Noise: []float64{s}}), Unit: 1, Source: source}
}

// TestJointIntervalsCover draws expressions of released numbers with known exact values 20,000
// times each: their intervals cover at 95 %, those that follow from the joint law exactly no more
// than that, and one that takes the same noise for that of two numbers does not cover. A false
// alarm has probability 1e-9 for each assertion.
func TestJointIntervalsCover(t *testing.T) {
	const n, level, a, b = 20000, 0.95, 300.0, 40.0
	for _, c := range []struct {
		name    string
		exact   float64
		tight   float64 // largest share that is covered
		broken  bool
		compute func(j *Joint, x, y, z float64, lap float64) Form
	}{
		{"difference", a - b, 0.96, false, func(j *Joint, x, y, _, _ float64) Form {
			return Sum(j.Of(drawn(a, 3*x, 3, 0, "1")), j.Of(drawn(b, 5*y, 5, 0, "2")).Times(-1))
		}},
		{"rate", a / b, 0.96, false, func(j *Joint, x, y, _, _ float64) Form {
			return j.Quotient(j.Of(drawn(a, 30*x, 30, 0, "1")), j.Of(drawn(b, 8*y, 8, 0, "2")))
		}},
		{"share", 100 * b / (a + b), 0.96, false, func(j *Joint, x, y, _, _ float64) Form {
			part := j.Of(drawn(b, 9*y, 9, 0, "2"))
			return j.Quotient(part.Times(100), Sum(part, j.Of(drawn(a, 20*x, 20, 0, "1"))))
		}},
		{"under 0", -a / b, 0.96, false, func(j *Joint, x, y, _, _ float64) Form {
			return j.Quotient(j.Of(drawn(a, 30*x, 30, 0, "1")), j.Of(drawn(-b, 8*y, 8, 0, "2")))
		}},
		{"of no source, one noise", 2 * a, 1, false, func(j *Joint, x, _, _, _ float64) Form {
			return Sum(j.Of(drawn(a, 3*x, 3, 0, "")), j.Of(drawn(a, 3*x, 3, 0, "")))
		}},
		{"of no source, quotient", a / b, 1, false, func(j *Joint, x, _, _, _ float64) Form {
			return j.Quotient(j.Of(drawn(a, 30*x, 30, 0, "")), j.Of(drawn(b, -4*x, 4, 0, "")))
		}},
		{"laplace over normal", a / b, 1, false, func(j *Joint, x, _, _, lap float64) Form {
			return j.Quotient(j.Of(drawn(a, 20*lap, 20, estimator.Laplace, "1")), j.Of(drawn(b, 3*x, 3, 0, "2")))
		}},
		{"a sum about a centre over its number of rows", a / b, 0.96, false, func(j *Joint, x, y, _, _ float64) Form {
			n, sum := drawn(b, 8*y, 8, 0, "n"), drawn(a, 7*8*y+30*x, math.Hypot(7*8, 30), 0, "s")
			n.Rows, sum.Rows, n.Estimate.Error.Rows, sum.Estimate.Error.Rows = "m", "m", []float64{8}, []float64{7 * 8}
			return j.Quotient(j.Of(sum), j.Of(n))
		}},
		{"product", a * b, 1, false, func(j *Joint, x, y, _, _ float64) Form {
			return j.Product(j.Of(drawn(a, 20*x, 20, 0, "1")), j.Of(drawn(b, 3*y, 3, 0, "2")))
		}},
		{"root of a rate, less a number", math.Sqrt(a/b) - b, 1, false, func(j *Joint, x, y, z, _ float64) Form {
			q := j.Quotient(j.Of(drawn(a, 20*x, 20, 0, "1")), j.Of(drawn(b, 3*y, 3, 0, "2")))
			return Sum(j.Map(q, math.Sqrt), j.Of(drawn(b, z, 1, 0, "3")).Times(-1))
		}},
		{"BROKEN: one noise taken for two", 2 * a, 1, true, func(j *Joint, x, _, _, _ float64) Form {
			return Sum(j.Of(drawn(a, 3*x, 3, 0, "1")), j.Of(drawn(a, 3*x, 3, 0, "2")))
		}},
	} {
		r := rand.New(stattest.Source(t, c.name))
		hits := 0
		for range n {
			x, y, z, lap := r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.ExpFloat64()
			if r.IntN(2) == 0 {
				lap = -lap
			}
			j := &Joint{Risk: 1 - level}
			lo, hi := j.Ends(c.compute(j, x, y, z, lap))
			if j.Events > 1 {
				j = &Joint{Risk: (1 - level) / float64(j.Events)}
				lo, hi = j.Ends(c.compute(j, x, y, z, lap))
			}
			if lo <= c.exact && c.exact <= hi {
				hits++
			}
		}
		f := stattest.Coverage(c.name, hits, n, level)
		if c.broken {
			stattest.Reject(t, f)
			continue
		}
		stattest.Accept(t, f)
		if share := float64(hits) / n; share > c.tight {
			t.Errorf("%s: covers %v, want at most %v", c.name, share, c.tight)
		}
	}
}

// TestJointForms: ends without a bound, lattices and clips, numbers that are not under 0, and laws
// as texts.
func TestJointForms(t *testing.T) {
	j := &Joint{Risk: 0.05}
	count := drawn(10, 0, 2, 0, "1")
	count.NonNegative, count.Estimate.Error.Step = true, []float64{1}
	if lo, hi := j.Ends(j.Of(count)); math.Abs(lo-(10-0.5-3.91993)) > 1e-4 || math.Abs(hi-(10+0.5+3.91993)) > 1e-4 {
		t.Errorf("a count: %v to %v", lo, hi)
	}
	if lo, hi := j.Ends(j.Quotient(j.Of(count), j.Of(drawn(3, 0, 2, 0, "2")))); lo != 0 && !math.IsInf(lo, -1) || !math.IsInf(hi, 1) {
		t.Errorf("over a number that may be 0: %v to %v", lo, hi)
	}
	few := drawn(1, 0, 2, 0, "3")
	few.NonNegative = true
	if lo, _ := j.Ends(Sum(j.Of(few), j.Of(count))); lo < 0 {
		t.Errorf("a sum of counts is from %v on", lo)
	}
	if lo, _ := j.Ends(Sum(j.Of(few), j.Of(count).Times(-1))); lo >= 0 {
		t.Errorf("a difference of counts is from %v on", lo)
	}
	clipped := drawn(10, 0, 2, 0, "4")
	clipped.Estimate.Error.Cut = []estimator.Cut{{Added: 1, Up: []estimator.CutPart{{Weight: 1, Mean: 3, StdDev: 0}}}}
	clipped.Unit = 2
	lo, hi := j.Ends(j.Of(clipped))
	wantLo, wantHi := Interval(clipped.Estimate, 0, 0.95)
	if math.Abs(lo-2*wantLo) > 1e-9 || math.Abs(hi-2*wantHi) > 1e-9 {
		t.Errorf("a clipped sum: %v to %v, alone %v to %v", lo, hi, 2*wantLo, 2*wantHi)
	}
	back, err := DecodeLaw(clipped.Encode())
	if err != nil || fmt.Sprint(*back.Estimate.Error) != fmt.Sprint(*clipped.Estimate.Error) || back.Unit != 2 || back.Source != "4" {
		t.Errorf("read back: %+v %v", back, err)
	}
	if _, err := DecodeLaw("x"); err == nil {
		t.Error("what is no law is read")
	}
}
