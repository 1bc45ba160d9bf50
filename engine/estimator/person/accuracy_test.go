package person

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/vector"
	"scrim/internal/stattest"
)

var (
	trials = flag.Int("trials", 0, "trials of each setting of the accuracy table; 0: a few of the small ones")
	only   = flag.String("settings", "", "settings of the accuracy table whose name contains this")
)

// rowLaw is a law of rows with mean 0 and a standard deviation of 1, of independent coordinates.
type rowLaw struct {
	name string
	draw func(r *rand.Rand) float64
}

var rowLaws = []rowLaw{
	{"normal", func(r *rand.Rand) float64 { return r.NormFloat64() }},
	{"t5", func(r *rand.Rand) float64 { // four moments; variance 5/3
		q := 0.0
		for range 5 {
			z := r.NormFloat64()
			q += z * z
		}
		return r.NormFloat64() / math.Sqrt(q/5) / math.Sqrt(5./3)
	}},
	{"pareto5", func(r *rand.Rand) float64 { // index 5: mean 5/4, variance 5/(16·3)
		return (math.Pow(1-r.Float64(), -0.2) - 1.25) / math.Sqrt(5./48)
	}},
}

// setting is n persons with m rows each.
type setting struct {
	law     rowLaw
	n, m, d int
	mean    float64
	between float64 // standard deviation of persons' own means; 0: all rows are alike
}

var grid = estimator.Grid{Step: 0x1p-16, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}

func (s setting) String() string {
	return fmt.Sprintf("%s n=%d m=%d d=%d between=%v", s.law.name, s.n, s.m, s.d, s.between)
}

// draw returns the persons' sums and the mean of their means.
func (s setting) draw(r *rand.Rand) (*estimator.Block, []float64) {
	b, sample := &estimator.Block{Dim: s.d}, make([]float64, s.d)
	for at := 0; at < s.n; at += 1000 {
		persons := min(1000, s.n-at)
		ch := estimator.Chunk{Persons: persons, Rows: slices.Repeat([]int64{int64(s.m)}, persons), Dense: make([]int64, persons*s.d)}
		for i := range ch.Dense {
			x := float64(s.m) * (s.mean + s.between*r.NormFloat64())
			for range s.m {
				x += s.law.draw(r)
			}
			ch.Dense[i] = int64(math.RoundToEven(x / grid.Step))
			sample[i%s.d] += x / float64(s.m) / float64(s.n)
		}
		b.Chunks = append(b.Chunks, ch)
	}
	return b, sample
}

func distance(x []float64, mean float64) float64 {
	q := 0.0
	for _, v := range x {
		q += (v - mean) * (v - mean)
	}
	return math.Sqrt(q)
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	if len(x) == 0 {
		return math.NaN()
	}
	return x[len(x)/2]
}

// errorsOf are the errors of estimators to the true mean in each trial, by name; "sample" is the mean of the persons' means itself.
func (s setting) errorsOf(t *testing.T, trials int, made map[string]estimator.Estimator) map[string][]float64 {
	t.Helper()
	r, n, out := rand.New(stattest.Source(t, s.String())), stattest.Noiser(t, s.String()+" noise"), map[string][]float64{}
	for range trials {
		b, sample := s.draw(r)
		out["sample"] = append(out["sample"], distance(sample, s.mean))
		for name, e := range made {
			if a := e.Release(n, estimator.Input{Vectors: b}); a.Status == estimator.OK {
				out[name] = append(out[name], distance(a.Values, s.mean))
			}
		}
	}
	return out
}

func must(t testing.TB, e estimator.Estimator, err error) estimator.Estimator {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// estimators are those of the table for a setting at a loss of ρ.
func (s setting) estimators(t *testing.T, rho float64) map[string]estimator.Estimator {
	open := estimator.Params{Rho: rho, Grid: grid}
	out := map[string]estimator.Estimator{}
	add := func(name string, p Params) {
		p.Dim, p.Params = s.d, open
		e, err := NewMean(p)
		out[name] = must(t, e, err)
	}
	sigma := math.Sqrt(1 + s.between*s.between*float64(s.m))
	add("learnt", Params{})
	add("declared", Params{Sigma: sigma, Rows: float64(s.m), Radius: 1000})
	add("single", Params{Sigma: sigma, Rows: float64(s.m), Radius: 1000, Stages: Single})
	add("threaded", Params{Stages: Threaded})
	add("thirds", Params{Split: Persons})
	e, err := vector.NewMean(vector.Params{Params: open, Dim: s.d})
	out["vector"] = must(t, e, err)
	pure := Params{Dim: s.d, Params: estimator.Params{Epsilon: math.Sqrt(2 * rho), Grid: grid}} // the ε that ρ may stand for
	e, err = NewMean(pure)
	out["pure"] = must(t, e, err)
	return out
}

func TestAccuracyTable(t *testing.T) {
	if *trials == 0 {
		t.Skip("with -trials")
	}
	for _, law := range rowLaws {
		for _, d := range []int{1, 8, 64} {
			for _, n := range []int{2000, 20000} {
				for _, m := range []int{1, 10, 100, 1000} {
					for _, rho := range []float64{0.1, 0.5} {
						s := setting{law: law, n: n, m: m, d: d, mean: 10}
						name := fmt.Sprintf("%v rho=%v", s, rho)
						if !strings.Contains(name, *only) || float64(n)*float64(m)*float64(d) > 3e7 {
							continue
						}
						e := s.estimators(t, rho)
						got := s.errorsOf(t, *trials, e)
						line := fmt.Sprintf("%s: sample %.4g;", name, median(got["sample"]))
						for _, k := range []string{"learnt", "declared", "single", "threaded", "thirds", "pure", "vector"} {
							line += fmt.Sprintf(" %s %.2f (%d)", k, median(got[k])/median(got["sample"]), e[k].MinPersons())
						}
						fmt.Println(line)
					}
				}
			}
		}
	}
}
