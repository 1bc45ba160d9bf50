package collections

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
	"scrim/internal/refuse"
)

// seeded is the randomness of a run over public data.
func seeded(run int) *exact.Rand { return exact.New(rand.NewPCG(11, uint64(run))) }

// simulated plans a collection and runs it over the n quantiles of a Gaussian around 40.
func simulated(t *testing.T, p collect.Protocol, n, runs int, change ...func(*collect.Declaration)) ([]Simulated, error) {
	t.Helper()
	d := declared[p]
	for _, f := range change {
		f(&d)
	}
	g, err := collect.Plan("survey.commute", newUUID(), p, d)
	must(t, err)
	values := make([]collect.Value, n)
	for i := range values {
		values[i] = collect.Value{40 + 5*math.Sqrt2*math.Erfinv((2*float64(i)+1)/float64(n)-1)}
	}
	return Simulate(context.Background(), Simulation{Design: g, Values: values, Runs: runs, Rand: seeded})
}

func TestSimulation(t *testing.T) {
	for _, tt := range []struct {
		protocol collect.Protocol
		n        int
	}{{collect.LDPBit, 400}, {collect.LDPKV2, 4000}, {collect.LDPHier, 4000}, {collect.LDPHaar, 4000}, {collect.ShufSum, 100}} {
		runs, err := simulated(t, tt.protocol, tt.n, 5)
		must(t, err)
		again, err := simulated(t, tt.protocol, tt.n, 5)
		must(t, err)
		for i, r := range runs {
			if r.Refusal != nil {
				t.Fatalf("%s run %d: %v", tt.protocol, i, r.Refusal)
			}
			mean, stderr := *r.Result.Mean, *r.Result.StdErr
			if math.Abs(mean-40) > 7*stderr+1 || stderr <= 0 {
				t.Errorf("%s run %d: %v ± %v, want 40", tt.protocol, i, mean, stderr)
			}
			equal(t, fmt.Sprint(tt.protocol, " with the same randomness, run ", i), *again[i].Result.Mean, mean)
			if i > 0 && mean == *runs[0].Result.Mean {
				t.Errorf("%s: runs 0 and %d are the same", tt.protocol, i)
			}
		}
	}
}

// TestSimulationUsesEveryValueOnce: the rounds and cells share all values out, whatever their
// number.
func TestSimulationUsesEveryValueOnce(t *testing.T) {
	g, err := collect.Plan("c", newUUID(), collect.LDPKV2, declared[collect.LDPKV2])
	must(t, err)
	for _, n := range []int{1, 17, 4000, 9001} {
		total := uint64(0)
		for _, s := range (Simulation{Design: g, Values: make([]collect.Value, n)}).seats() {
			total += s.Taken
		}
		equal(t, "seats", int(total), n)
	}
}

func TestSimulationOfTooFew(t *testing.T) {
	_, err := simulated(t, collect.ShufSum, 60, 1)
	wantCode(t, "a batch below its minimum", err, refuse.TooFewReports)
	_, err = simulated(t, collect.LDPBit, 20, 3)
	wantCode(t, "a cell below its minimum", err, refuse.TooFewReports)
	g, err := collect.Plan("c", newUUID(), collect.LDPBit, declared[collect.LDPBit])
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Simulate(ctx, Simulation{Design: g, Values: make([]collect.Value, 400), Runs: 2, Rand: seeded}); err == nil {
		t.Error("a cancelled simulation has outcomes")
	}
	// NULL and nonsense count as what the declaration says.
	runs, err := Simulate(context.Background(), Simulation{Design: g, Values: append(make([]collect.Value, 399), collect.Value{math.NaN(), 1}), Runs: 1, Rand: seeded})
	must(t, err)
	if m := *runs[0].Result.Mean; math.Abs(m-50) > 40 {
		t.Errorf("mean of NULLs %v, want about 50", m)
	}
}

// TestSimulationOfThreeRounds goes through all rounds of vectors.
func TestSimulationOfThreeRounds(t *testing.T) {
	d := collect.Declaration{Epsilon: 40000, Expected: 30_000, Dimension: 2, Centre: 4, SigmaMin: 0.5, SigmaMax: 2}
	g, err := collect.Plan("c", newUUID(), collect.LDPSCM3, d)
	must(t, err)
	values := make([]collect.Value, d.Expected)
	for i := range values {
		values[i] = collect.Value{1 + math.Sin(float64(i)), -2 + math.Cos(float64(i))}
	}
	runs, err := Simulate(context.Background(), Simulation{Design: g, Values: values, Runs: 1, Rand: seeded})
	must(t, err)
	if runs[0].Refusal != nil {
		t.Fatal(runs[0].Refusal)
	}
	v, stderr := runs[0].Result.Vector, *runs[0].Result.VectorErr
	if off := math.Hypot(v[0]-1, v[1]+2); off > 6*stderr+0.1 {
		t.Errorf("mean %v ± %v, want (1, -2)", v, stderr)
	}
}
