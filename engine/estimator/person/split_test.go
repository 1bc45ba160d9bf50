package person

import (
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// TestThirdsAreDisjointAndEven: everyone is in one third, each third as likely as the others.
func TestThirdsAreDisjointAndEven(t *testing.T) {
	const persons = 9000
	m := variants()[6].at(t, 1, 1, false, estimator.AddRemove, false)
	b := blockOf(1, persons, nil, func(i, _ int) int64 { return int64(i) })
	seen, counts := make([]int, persons), make([]int64, 3)
	for k, third := range m.batches(stattest.Noiser(t, "thirds"), b, persons) {
		if third.count != persons/3 {
			t.Errorf("a third has %v persons", third.count)
		}
		for _, ch := range third.Chunks {
			for _, v := range ch.Dense {
				seen[v]++
				counts[k]++
			}
		}
	}
	for i, k := range seen {
		if k != 1 {
			t.Fatalf("person %d is in %d thirds", i, k)
		}
	}
	stattest.Accept(t, stattest.ChiSquare("thirds", counts, []float64{1. / 3, 1. / 3, 1. / 3}))
	counts[0], counts[1] = counts[0]+400, counts[1]-400
	stattest.Reject(t, stattest.ChiSquare("uneven thirds", counts, []float64{1. / 3, 1. / 3, 1. / 3}))
}

// TestSamplesAreOfTheSizeAsked: a sample that is worth it has about so many persons, and one that
// is not is everybody.
func TestSamplesAreOfTheSizeAsked(t *testing.T) {
	const persons = 40_000
	n := stattest.Noiser(t, "sample")
	all := batch{blockOf(1, persons, nil, func(i, _ int) int64 { return int64(i) }), persons}
	if got := sampled(n, all, persons/2+1); got.Block != all.Block {
		t.Errorf("a sample of more than half has %d persons", got.Persons())
	}
	got := sampled(n, all, persons/8)
	k := got.Persons()
	stattest.Accept(t, stattest.ChiSquare("sample", []int64{k, persons - k}, []float64{1. / 8, 7. / 8}))
	if got.count < persons/8 || got.count > persons/8+1 {
		t.Errorf("a sample of an eighth counts for %v persons", got.count)
	}
}
