package estimator_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
)

// answers returns forced answers: the number of persons looks large where it is asked for first, or
// as if it were least, where what serves few persons is asked.
func answers(r *rand.Rand, n noise.Noiser, counted bool, least int64) func(int, *big.Int, *big.Int) *big.Int {
	switch {
	case !counted:
		return stattest.Forced(r, n, nil, 4)
	case r.IntN(3) == 0:
		return stattest.Forced(r, n, big.NewInt(least), 4)
	}
	return stattest.Forced(r, n, big.NewInt(1<<40), 4)
}

// anyone returns a random person.
func anyone(r *rand.Rand) person {
	if r.IntN(4) > 0 {
		return extremes[r.IntN(len(extremes))].paired(r)
	}
	m := 1 + r.Int64N(5)
	return person{rows: m, sum: r.Int64N(200) - 100, lo: r.Int64N(40000), median: r.Int64N(40) - 20}.paired(r)
}

// paired gives a person's rows a second value: the first or its opposite, one for all rows, or
// columns that no rows could give.
func (p person) paired(r *rand.Rand) person {
	half := func(x *big.Int) (hi, lo int64) {
		low := new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64))
		return new(big.Int).Rsh(x, 64).Int64(), int64(low.Uint64())
	}
	switch r.IntN(4) {
	case 0:
		p.second = second{p.sum, p.hi, p.lo, p.hi, p.lo}
	case 1:
		squares := new(big.Int).Lsh(big.NewInt(p.hi), 64)
		hi, lo := half(squares.Neg(squares.Add(squares, new(big.Int).SetUint64(uint64(p.lo)))))
		p.second = second{-p.sum, p.hi, p.lo, hi, lo}
	case 2:
		y := r.Int64N(1<<(1+r.IntN(20))) - r.Int64N(1<<(1+r.IntN(20)))
		m, t := big.NewInt(p.rows), big.NewInt(y)
		p.otherSum = new(big.Int).Mul(m, t).Int64()
		p.otherHi, p.otherLo = half(new(big.Int).Mul(m, new(big.Int).Mul(t, t)))
		p.productHi, p.productLo = half(new(big.Int).Mul(big.NewInt(p.sum), t))
	default:
		p.second = second{int64(r.Uint64()) >> r.IntN(64), int64(r.Uint64()) >> r.IntN(64), int64(r.Uint64()), int64(r.Uint64()) >> r.IntN(64), int64(r.Uint64())}
	}
	return p
}

// mirror returns a person as far from p as possible on the other side of 0.
func mirror(p person) person {
	p.sum, p.median = -p.sum, -p.median
	return p
}

// database returns a few random persons, and, where their number is public, enough others for an
// answer, of a mean over rows by its search for few persons or by that for more: it is exact there,
// and cannot be forced.
// valued says that everybody must have a value.
func database(r *rand.Rand, v variant, e estimator.Estimator, valued bool) []person {
	db := make([]person, 1+r.IntN(4))
	for i := range db {
		db[i] = anyone(r)
	}
	if v.p.Sized {
		others := int(e.MinPersons())
		if kindOf(v) == "row mean" && r.IntN(2) == 0 {
			others *= 6
		}
		db = append(db, slices.Repeat([]person{{rows: 1, sum: 3, lo: 9, median: 3}}, others)...)
	}
	for i := range db {
		if valued && db[i].rows < 1 {
			db[i].rows = 1
		}
	}
	return db
}

// neighbours returns databases that differ from db in one of the first persons: without that
// person, or, under replace-one, with others in that place; where the number of persons is private
// these may be absent.
func neighbours(r *rand.Rand, v variant, db []person, valued bool) [][]person {
	var all [][]person
	for k := range min(len(db), 4) {
		if v.p.Relation == estimator.AddRemove || !v.p.Sized {
			all = append(all, slices.Delete(slices.Clone(db), k, k+1))
		}
		if v.p.Relation == estimator.AddRemove {
			continue
		}
		for _, other := range []person{mirror(db[k]), anyone(r), anyone(r)} {
			if valued && other.rows < 1 {
				other.rows = 1
			}
			next := slices.Clone(db)
			next[k] = other
			all = append(all, next)
		}
	}
	return all
}

// worstLoss returns the largest zCDP loss between random small databases and their neighbours under
// the relation of v, with the same answers forced on both sides. It stops at the first above
// enough, unless that is nil.
func worstLoss(t *testing.T, v variant, e estimator.Estimator, tries int, enough *big.Rat) *big.Rat {
	r := rand.New(stattest.Source(t, "soundness"+v.name))
	n := stattest.Noiser(t, "soundness noise"+v.name)
	worst := new(big.Rat)
	// Values come without their person: where there must be one each, a person without a value is
	// none.
	valued := v.p.Sized && e.Columns()[0] == estimator.Value
	for range tries {
		if enough != nil && worst.Cmp(enough) > 0 {
			break
		}
		db := database(r, v, e, valued)
		full := &stattest.Recorder{Answer: answers(r, n, !v.p.Sized, e.MinPersons())}
		e.Release(full, input(e, db, v.p.MaxRows))
		for _, other := range neighbours(r, v, db, valued) {
			less := full.Replay(t)
			e.Release(less, input(e, other, v.p.MaxRows))
			if l := stattest.Loss(t, full, less); l.Cmp(worst) > 0 {
				worst = l
			}
			if t.Failed() {
				t.Fatalf("database %+v against %+v", db, other)
			}
		}
	}
	return worst
}

// TestOnePersonMovesTheQueriesWithinTheLoss is the soundness test: on every branch, what is about
// to be noised differs between neighbours by no more than the declared loss allows. The same test
// must reject an estimator that was built for three times the loss, and one that was built for the
// other relation.
func TestOnePersonMovesTheQueriesWithinTheLoss(t *testing.T) {
	const rho = 0.05
	for _, v := range variants() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			e := v.at(t, rho)
			declared := new(big.Rat).SetFloat64(e.Loss().Rho.Float())
			tries := stattest.Runs(40, 120)
			if v.p.Relation == estimator.ReplaceOne {
				// with more neighbours each, and more persons
				tries = int(max(12, 10000/(200+e.MinPersons()))) / stattest.Runs(2, 1)
			}
			worst := worstLoss(t, v, e, tries, nil)
			if worst.Cmp(declared) > 0 {
				t.Errorf("a person moves the queries by %v, declared %v", worst.FloatString(9), declared.FloatString(9))
			}
			if declared.Sign() == 0 {
				return // a public number
			}
			ratio, _ := new(big.Rat).Quo(worst, declared).Float64()
			t.Logf("worst branch uses %.3f of the declared loss", ratio)
			if worst = worstLoss(t, v, v.at(t, 3*rho), 80, declared); worst.Cmp(declared) <= 0 {
				t.Error("an estimator with a third of the noise variance passed")
			}
			if w := v; v.p.Relation == estimator.ReplaceOne && !v.p.Sized && exchangeCosts(v) {
				w.p.Relation = estimator.AddRemove
				if worst = worstLoss(t, v, w.at(t, rho), 400, declared); worst.Cmp(declared) <= 0 {
					t.Error("an estimator for add-remove passed under replace-one")
				}
			}
		})
	}
}

// exchangeCosts reports whether exchanging a person moves the sums of an estimator by more than
// removing one: not so for counts, and little for their searches, nor for the squares of one row of
// which most of a covariance's vector is.
func exchangeCosts(v variant) bool { return v.grid && kindOf(v) != "covariance" }
