package flow

import (
	"math"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
)

// audited is a graph without person 0 and one with that person. All others have the same number of
// partners of their own, so that every likely cap gives the same flow; that person has more.
func audited() (without, with *estimator.Pairs) {
	const persons, each, partners = 300, 8, 600
	size := 1 + persons*(1+each) + partners
	p := &estimator.Pairs{Lefts: size, Rights: size}
	for i := range uint32(persons * each) {
		p.Left, p.Right = append(p.Left, 1+i/each), append(p.Right, 1+persons+i)
	}
	q := *p
	for i := range uint32(partners) {
		q.Left, q.Right = append(q.Left, 0), append(q.Right, uint32(size-1)-i)
	}
	return p, &q
}

// TestAuditOfWorstNeighbours bounds the loss from below by samples of the answer, where a person
// with more than anybody else comes: no bound exceeds what is declared, and with a hundredth of
// the noise's standard deviation every one does. False alarms: one bound a pair at stattest.Alpha.
func TestAuditOfWorstNeighbours(t *testing.T) {
	const runs, rho = 160, 0.05
	x, y := audited()
	for _, v := range variants() {
		if v.o.Sum || v.o.Signed || v.o.Clamp || v.o.Most > 0 {
			continue
		}
		e := v.at(t, rho)
		n := stattest.Noiser(t, v.name)
		if bound := stattest.LossBound(sample(e, x, n, runs), sample(e, y, n, runs)); bound > rho {
			t.Errorf("seed %d: %s: loss at least %.3f, declared %.3f", stattest.Seed(t), v.name, bound, rho)
		}
		less := stattest.Shrunk{Noiser: n, Factor: 10_000}
		if bound := stattest.LossBound(sample(e, x, less, runs), sample(e, y, less, runs)); bound <= rho {
			t.Errorf("seed %d: %s: a hundredth of the noise was not caught: loss at least %.3f", stattest.Seed(t), v.name, bound)
		}
	}
}

// sample draws answers; TooFew is −Inf, which every answer tells apart.
func sample(e release, p *estimator.Pairs, n noise.Noiser, runs int) []float64 {
	draw := func() estimator.Estimate { return e.Release(n, estimator.Input{Pairs: p}) }
	if e.o.Cap == 0 {
		q := newProfile(e.o.Shape, e.o.Signed, e.caps, p)
		draw = func() estimator.Estimate { return e.searched(n, q) }
	}
	out := make([]float64, runs)
	for i := range out {
		if a := draw(); a.Status == estimator.OK {
			out[i] = a.Values[0]
		} else {
			out[i] = math.Inf(-1)
		}
	}
	return out
}
