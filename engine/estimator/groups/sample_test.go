package groups

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/noise"
	"scrim/test/firstpasstest"
	"scrim/test/stattest"
)

// tossed is a Recorder whose coins are given.
type tossed struct {
	*stattest.Recorder
	words []uint64
}

// Uniform implements noise.Noiser.
func (s *tossed) Uniform() uint64 {
	if len(s.words) == 0 {
		return 0
	}
	w := s.words[0]
	s.words = s.words[1:]
	return w
}

// sampled are the variants that look at a sample of many persons.
func sampled() []variant {
	return slices.DeleteFunc(variants(), func(v variant) bool {
		return !slices.ContainsFunc(v.p.Aggregates, func(a Aggregate) bool { return a.Measure.mean() && a.Lower == nil })
	})
}

// worstOfSamples returns the largest loss over random tiny neighbours with the same answers forced
// on both, and the coins of those who are in both; by the answers there are a billion persons, of
// whom a quarter is looked at. It stops at the first above enough, unless that is nil.
func (v variant) worstOfSamples(t *testing.T, e release, relation estimator.Relation, tries int, enough *big.Rat) *big.Rat {
	e.looked = 1 << 28
	const sides = firstpass.CoinSides / 4
	r, n := rand.New(stattest.Source(t, v.name+relation.String())), stattest.Noiser(t, v.name)
	worst, dim := new(big.Rat), v.p.Groups*v.p.Width()
	for range tries {
		if enough != nil && worst.Cmp(enough) > 0 {
			break
		}
		db := v.tiny(r, 1+r.IntN(6))
		keep := make([]bool, len(db))
		for i := range keep {
			keep[i] = r.IntN(3) > 0
		}
		full := &stattest.Recorder{Answer: answers(r, n)}
		e.Release(&tossed{full, firstpasstest.Kept(keep, sides)}, estimator.Input{Vectors: layOut(dim, db)})
		visit := func(other []map[int]int64, keep []bool) {
			less := full.Replay(t)
			e.Release(&tossed{less, firstpasstest.Kept(keep, sides)}, estimator.Input{Vectors: layOut(dim, other)})
			if l := stattest.Loss(t, full, less); l.Cmp(worst) > 0 {
				worst = l
			}
		}
		for k := range db {
			visit(slices.Delete(slices.Clone(db), k, k+1), slices.Delete(slices.Clone(keep), k, k+1))
			if relation == estimator.ReplaceOne {
				other := slices.Clone(db)
				other[k] = v.opposite(db[k])
				visit(other, keep)
			}
		}
		if t.Failed() {
			t.Fatalf("%s: database %v", v.name, db)
		}
	}
	return worst
}

// TestOnePersonMovesTheQueriesOfASampleWithinTheLoss is the soundness test where centres and
// spreads are those of a sample.
func TestOnePersonMovesTheQueriesOfASampleWithinTheLoss(t *testing.T) {
	const rho, tries = 0.05, 15
	declared := new(big.Rat).SetFloat64(rho)
	if len(sampled()) < 4 {
		t.Fatal("few variants")
	}
	for _, v := range sampled() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			for _, relation := range relations {
				worst := v.worstOfSamples(t, v.at(t, rho, relation), relation, tries, nil)
				ratio, _ := new(big.Rat).Quo(worst, declared).Float64()
				t.Logf("%s, %v: worst branch uses %.3f of the declared loss", v.name, relation, ratio)
				if worst.Cmp(declared) > 0 {
					t.Errorf("%s, %v: a person moves the queries by %v of the declared loss", v.name, relation, ratio)
				}
				if v.worstOfSamples(t, v.at(t, 3*rho, relation), relation, 4*tries, declared).Cmp(declared) <= 0 {
					t.Errorf("%s, %v: a third of the noise variance passed", v.name, relation)
				}
			}
			if v.worstOfSamples(t, v.at(t, rho, estimator.AddRemove), estimator.ReplaceOne, 4*tries, declared).Cmp(declared) <= 0 {
				t.Errorf("%s: the noise of add-remove passed under replace-one", v.name)
			}
		})
	}
}

// drawn counts the coins that are thrown.
type drawn struct {
	noise.Noiser
	words int
}

func (d *drawn) Uniform() uint64 {
	d.words++
	return d.Noiser.Uniform()
}

// TestSampleKeepsPersonsByTheirCoins: about as many persons as it should, with their entries; all,
// and no coin, where that is more than half of them; and no coin where nothing is looked for.
func TestSampleKeepsPersonsByTheirCoins(t *testing.T) {
	const persons, size = 30_000, 5000
	v := variants()[6] // a row mean
	db := make([]map[int]int64, persons)
	for i := range db {
		db[i] = map[int]int64{0: int64(i), 1: 1}
		if i%3 == 0 {
			db[i][4], db[i][5] = -int64(i), 2
		}
	}
	b, e, n := layOut(8, db), v.at(t, 1, estimator.AddRemove), &drawn{Noiser: stattest.Noiser(t, "coins")}
	if e.looked != leastLooked {
		t.Fatalf("a sample of %v persons", e.looked)
	}
	e.looked = size
	some := e.some(n, b, persons)
	kept := some.Persons()
	stattest.Accept(t, stattest.ChiSquare("kept", []int64{kept, persons - kept}, []float64{1. / 6, 5. / 6}))
	last := int64(-1)
	for _, c := range some.Chunks {
		for i := range c.Persons {
			x := c.Values[c.Starts[i]:c.Starts[i+1]]
			switch {
			case x[0] <= last || x[1] != 1 || (x[0]%3 == 0) != (len(x) == 4):
				t.Fatalf("a person %v after %d", x, last)
			case len(x) == 4 && (x[2] != -x[0] || x[3] != 2):
				t.Fatalf("a person %v", x)
			}
			last = x[0]
		}
	}
	thrown := n.words
	if want := persons / 2; thrown != want {
		t.Errorf("%d draws, want %d", thrown, want)
	}
	if e.some(n, b, 2*size) != b || n.words != thrown {
		t.Error("a sample of half of the persons")
	}
	// persons, a sum: with fewer groups nothing is looked at but norms
	for _, k := range []int{0, 3} {
		v := variants()[k]
		if v.p.Groups = leastShaped - 1; v.at(t, 1, estimator.AddRemove).some(n, b, 1e9) != b || n.words != thrown {
			t.Errorf("%s: a sample", v.name)
		}
	}
	if e := variants()[0].at(t, 1, estimator.AddRemove); e.profile == 0 || e.some(n, b, 1e9) != b || n.words != thrown {
		t.Error("a sample of persons whose number is not known")
	}
}

// TestSampleCostsNothing compares the errors of means with those of a release that looks at
// everybody; one that looks at 40 persons, too few for the loss, must be noticed.
func TestSampleCostsNothing(t *testing.T) {
	const persons, runs, few = 20_000, 40, 40
	v := variants()[6]
	db, rows, values, _, _ := shop(rand.New(stattest.Source(t, "shop")), persons, 4, v.p.Aggregates)
	in := estimator.Input{Vectors: layOut(8, db)}
	squares := func(looked float64) float64 {
		e, n, q := v.at(t, 0.1, estimator.AddRemove), stattest.Noiser(t, "noise"), 0.0
		e.looked = looked
		for range runs {
			for g, x := range e.Release(n, in).Values {
				d := x - values[g]/rows[g]
				q += d * d / runs
			}
		}
		return q
	}
	all, some, less := squares(persons), squares(persons/4), squares(few)
	t.Logf("squared errors %.3g, sampled %.3g, of %d persons %.3g", all, some, few, less)
	// The squares of 160 normal errors are within half of their mean but for a chance of 10^-5, in
	// each of two runs.
	if !(some < 2*all) {
		t.Errorf("a sample has a squared error of %v, everybody %v", some, all)
	}
	if less < 2*all { // mostly there is no answer, as the norms about such a centre are too long
		t.Errorf("a centre from %d persons is as good as any: %v, everybody %v", few, less, all)
	}
}
