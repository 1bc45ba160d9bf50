package estimator_test

import (
	"bytes"
	"encoding/gob"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"scrim/engine/estimator"
)

// many is an answer of three values with every part of an error.
func many() estimator.Estimate {
	three := func(a float64) []float64 { return []float64{a, a + 1, a + 2} }
	return estimator.Estimate{Values: three(1), StdErr: three(10), Needed: 5, Error: &estimator.Error{
		Form: estimator.Variance, Noise: three(20), Step: []float64{0.5}, Under: three(30), Centre: three(40), Raw: three(50), Shift: 2, Tied: true,
		Moments: &estimator.Moments{First: three(60), Second: three(70), Offset: three(80), Noise: []float64{3}, Noise2: three(90), Count: 9, Root: true},
		Ranks:   [][]estimator.Rank{{{At: 1, Z: 2}}, {{At: 3, Z: math.Inf(1)}}, nil},
	}}
}

// TestPartOfAnEstimate: a part has the entries of its values, and what is one for all.
func TestPartOfAnEstimate(t *testing.T) {
	e := many()
	p := e.Part(1, 2)
	x, m := p.Error, p.Error.Moments
	got := []float64{p.Values[0], p.StdErr[0], x.Noise[0], x.Under[0], x.Centre[0], x.Raw[0], m.First[0], m.Second[0], m.Offset[0], m.Noise2[0], x.Ranks[0][0].At}
	if want := []float64{2, 11, 21, 31, 41, 51, 61, 71, 81, 91, 3}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if len(p.Values) != 1 || x.Step[0] != 0.5 || m.Noise[0] != 3 || x.Shift != 2 || !x.Tied || m.Count != 9 || !m.Root || p.Needed != 5 {
		t.Errorf("got %+v, %+v, %+v", p, x, m)
	}
	if !reflect.DeepEqual(e, many()) {
		t.Error("the whole was changed")
	}
	alike := estimator.Estimate{Values: []float64{1, 2, 3}, StdErr: []float64{4, 5, 6}, Error: &estimator.Error{Form: estimator.Quotient, Under: []float64{7}}}
	if q := alike.Part(2, 3); q.Error != alike.Error || q.StdErr[0] != 6 {
		t.Errorf("an error that says the same of all values is copied: %+v", q)
	}
	if q := (estimator.Estimate{Values: []float64{1, 2}, StdErr: []float64{3, 4}}).Part(0, 1); q.Values[0] != 1 || q.Error != nil {
		t.Errorf("an estimate without a law: %+v", q)
	}
}

// TestTimes: everything in the units of the values is multiplied, what is relative is not, and a
// variance loses its law.
func TestTimes(t *testing.T) {
	e := many()
	e.Error.Form = estimator.Quotient
	e = e.Times(10)
	x := e.Error
	if e.Values[2] != 30 || e.StdErr[0] != 100 || x.Noise[1] != 210 || x.Step[0] != 5 || x.Under[0] != 30 || x.Centre[2] != 420 || x.Raw[0] != 500 || x.Shift != 20 {
		t.Errorf("got %+v, %+v", e, x)
	}
	if v := many().Times(10); v.Error.Form != estimator.Unknown {
		t.Errorf("a variance: %+v", v.Error)
	}
	if v := (estimator.Estimate{Values: []float64{math.MaxFloat64}, StdErr: []float64{1}}).Times(10); v.Values[0] != math.MaxFloat64 {
		t.Errorf("got %v", v.Values)
	}
}

// TestStoredEstimatesStayReadable: an estimate that was stored before errors were told has none,
// and one with an error comes back whole.
func TestStoredEstimatesStayReadable(t *testing.T) {
	type before struct {
		Values []float64
		Status estimator.Status
		Needed int64
		StdErr []float64
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(before{Values: []float64{1}, StdErr: []float64{2}, Needed: 3}); err != nil {
		t.Fatal(err)
	}
	var e estimator.Estimate
	if err := gob.NewDecoder(&b).Decode(&e); err != nil || e.Values[0] != 1 || e.StdErr[0] != 2 || e.Needed != 3 || e.Error != nil {
		t.Errorf("got %+v, %v", e, err)
	}
	b.Reset()
	if err := gob.NewEncoder(&b).Encode(many()); err != nil {
		t.Fatal(err)
	}
	var whole estimator.Estimate
	if err := gob.NewDecoder(&b).Decode(&whole); err != nil || whole.Error.Noise[2] != 22 || whole.Error.Moments.Count != 9 || !math.IsInf(whole.Error.Ranks[1][0].Z, 1) {
		t.Errorf("got %+v, %v", whole, err)
	}
}

// TestEndsOfNoiseAndCutTogether draws noise and what clips take by their laws: an end is passed no
// more often than the risk that it has, 3·10⁻³ of the draws on top (a false alarm in 10⁴), and is
// less far than both one after the other where few laws are wide.
func TestEndsOfNoiseAndCutTogether(t *testing.T) {
	const draws, alpha = 200_000, 0.2
	r := rand.New(rand.NewPCG(8, 9))
	for name, parts := range map[string][]estimator.CutPart{
		"one law":      {{Weight: 1, StdDev: 3}},
		"two":          {{Weight: 0.9, Mean: 1, StdDev: 0.5}, {Weight: 0.1, Mean: 20, StdDev: 4}},
		"seldom":       {{Weight: 0.985, Mean: 0.1}, {Weight: 0.015, Mean: 50, StdDev: 5}},
		"without sd":   {{Weight: 0.5, Mean: 2}, {Weight: 0.5, Mean: 4}},
		"little":       {{Weight: 1, StdDev: 0.01}},
		"nobody knows": {{Weight: 1, Mean: math.Inf(1)}},
	} {
		noise := math.Sqrt2 * math.Erfcinv(alpha) // of deviation 1
		cut := estimator.Cut{Up: parts}
		down, up := cut.Ends(estimator.Gaussian, noise, noise, alpha)
		if apart := noise + cut.Above(alpha); down != noise || up > apart || name == "two" && up > 0.9*apart {
			t.Errorf("%s: ends %v and %v, apart %v", name, down, up, apart)
		}
		if _, other := cut.Ends(estimator.Laplace, noise, noise, alpha); other != noise+cut.Above(alpha) {
			t.Errorf("%s: Laplace noise is no normal law", name)
		}
		cut.Long = true
		if _, other := cut.Ends(estimator.Gaussian, noise, noise, alpha); other != noise+cut.Above(alpha) {
			t.Errorf("%s: the ends of a long tail are near", name)
		}
		beyond := 0
		for range draws {
			x, p := r.Float64(), 0
			for p < len(parts)-1 && x >= parts[p].Weight {
				x, p = x-parts[p].Weight, p+1
			}
			if r.NormFloat64()+parts[p].Mean+parts[p].StdDev*r.NormFloat64() > up {
				beyond++
			}
		}
		most := alpha/2 + estimator.CutRisk(alpha) + 3e-3
		if name == "two" {
			most = alpha/10 + 3e-3 // the second law is wide, the first is not
		}
		if name != "nobody knows" && float64(beyond)/draws > most {
			t.Errorf("%s: beyond its end in %v of the draws", name, float64(beyond)/draws)
		}
	}
}
