package local

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
	"scrim/test/stattest"
)

// spheres are n random reports of round 3, one after another.
func spheres(r *rand.Rand, n int) []byte {
	out := make([]byte, n*(seedBytes+1))
	for i := range out {
		out[i] = byte(r.Uint32())
		if i%(seedBytes+1) == seedBytes {
			out[i] &= 1
		}
	}
	return out
}

// TestSphereSums compares every way to add reports: one by one, with repetitions, all at once on
// all cores and merged. All give the same sums to the last bit, and those of the plain formula.
func TestSphereSums(t *testing.T) {
	const n = 20_000
	v := typical(8, 100_000, scm3Epsilon)
	v.signs = []byte("12345678901234567890123456789012")
	p := v.lastRound(t, make([]float64, 8), 3)
	all := spheres(rand.New(stattest.Source(t, "spheres")), n)
	single, bulk, half, twice := NewTally(p), NewTally(p), NewTally(p), NewTally(p)
	plain := make([]float64, 8)
	at := newSphere(p, p.Cells[0]).(*sphere)
	for i := range n {
		report := all[i*17 : (i+1)*17]
		fatal(t, single.Add(0, report, 1))
		fatal(t, twice.Add(0, report, 2))
		at.directions.DirectionTo(at.unit, [16]byte(report[:16]))
		for j, x := range at.unit {
			plain[j] += float64(2*int(report[16])-1) * x
		}
	}
	fatal(t, bulk.AddAll(0, all[n/2*17:]))
	fatal(t, half.AddAll(0, all[:n/2*17]))
	bulk.Merge(half)
	a, b, c := single.parts[0].sum.(*sphere).sums, bulk.parts[0].sum.(*sphere).sums, twice.parts[0].sum.(*sphere).sums
	if !slices.Equal(a, b) {
		t.Errorf("one by one %v, at once %v", a, b)
	}
	for j := range a {
		if c[j] != 2*a[j] {
			t.Errorf("coordinate %d: twice %d is %d", j, a[j], c[j])
		}
		if got := float64(a[j]) / directionUnit; math.Abs(got-plain[j]) > 1e-4 {
			t.Errorf("coordinate %d: %v, plainly %v", j, got, plain[j])
		}
	}
	if allocs := testing.AllocsPerRun(100, func() { _ = single.Add(0, all[:17], 1) }); allocs != 0 {
		t.Errorf("%v allocations a report", allocs)
	}
}

// BenchmarkSphere adds a million reports of eight coordinates, with their directions, on all cores.
func BenchmarkSphere(b *testing.B) {
	v := typical(8, 100_000, scm3Epsilon)
	v.signs = make([]byte, 32)
	v.signs[0] = 1
	p := v.lastRound(b, make([]float64, 8), 3)
	all := spheres(rand.New(stattest.Source(b, "bench")), 1_000_000)
	for b.Loop() {
		fatal(b, NewTally(p).AddAll(0, all))
	}
}

// BenchmarkUnary adds a million reports of LDP_HIER with 4096 buckets, in equal parts on the six
// levels.
func BenchmarkUnary(b *testing.B) {
	g, err := collect.Plan("survey.range", "11111111-2222-4333-8444-555555555555", collect.LDPHier,
		collect.Declaration{Epsilon: scm3Epsilon, Expected: 1_000_000, Lo: 0, Hi: 1, Levels: 6})
	fatal(b, err)
	p, err := g.Params(1, "", collect.Published{}, nil, nil)
	fatal(b, err)
	r := exact.New(stattest.Source(b, "bench"))
	payloads := make([][]byte, len(p.Cells))
	for i, c := range p.Cells {
		for range 1000 { // and over again: the counters' work does not depend on it
			if c.Randomiser == collect.KRR {
				payloads[i] = append(payloads[i], 0, byte(r.Uniform(c.Domain)))
				continue
			}
			u, err := exact.NewUnaryEncoding(scm3Epsilon, c.Domain)
			fatal(b, err)
			payloads[i] = append(payloads[i], u.Randomize(r, r.Uniform(c.Domain))...)
		}
		payloads[i] = slices.Repeat(payloads[i], int(c.Quota/1000)+1)
	}
	b.Run(fmt.Sprint("reports=", p.Cells[0].Quota*6), func(b *testing.B) {
		for b.Loop() {
			t := NewTally(p)
			for i, c := range p.Cells {
				fatal(b, t.AddAll(c.Cell, payloads[i][:int(c.Quota)*c.PayloadSize()]))
			}
		}
	})
}
