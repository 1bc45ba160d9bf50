package estimator_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
)

// Where the number of persons is public, the input may hold fewer persons with a value than that,
// or more, against the promise of Params.Sized. What is released must not tell, beyond the loss.

// publicVariants lists the estimators whose number of persons is public, in both forms. Rows as
// points are as many as persons only where each has one.
func publicVariants(t testing.TB, rho, eps float64) map[string]estimator.Estimator {
	all := map[string]estimator.Estimator{}
	for _, v := range variants() {
		if !v.p.Sized || strings.HasPrefix(v.name, "row quantiles") && v.p.MaxRows > 1 {
			continue
		}
		all[v.name] = v.at(t, rho)
		p := v.p
		p.Epsilon = eps
		if e, err := v.make(p); err == nil {
			all["pure "+v.name] = e
		}
	}
	return all
}

// columnsOf lays persons out for an estimator, with a public number of persons that need not be
// theirs.
func columnsOf(e estimator.Estimator, db []person, public int) estimator.Input {
	in := input(e, db, 1)
	in.Persons = int64(public)
	return in
}

// broken are databases that differ from db in what one person has: no row with a value, no entry at
// all, other rows, or an entry more. Values come without their person, so one without a value is
// none.
func broken(r *rand.Rand, e estimator.Estimator, db []person) [][]person {
	k := r.IntN(len(db))
	without := slices.Delete(slices.Clone(db), k, k+1)
	all := [][]person{without, append(slices.Clone(db), anyone(r))}
	if e.Columns()[0] == estimator.Value {
		return all
	}
	other, absent := slices.Clone(db), slices.Clone(db)
	other[k], absent[k] = mirror(db[k]), person{sum: 4, lo: 16, median: 4}
	return append(all, other, absent)
}

// lengthAsNumber is an estimator that takes the number of persons with a value for the public one.
type lengthAsNumber struct{ estimator.Estimator }

// Release implements estimator.Estimator.
func (e lengthAsNumber) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	in.Persons = int64(len(in.Columns[0]))
	if e.Columns()[0] == estimator.Rows {
		in.Persons = 0
		for _, m := range in.Columns[0] {
			if m > 0 {
				in.Persons++
			}
		}
	}
	return e.Estimator.Release(n, in)
}

// tells reports whether a release of broken neighbours tells them apart by more than the loss: with
// the same noisy answers on both sides, the queries differ by more, or the estimates differ.
func tells(t *testing.T, name string, e estimator.Estimator, tries int) bool {
	r, n := rand.New(stattest.Source(t, "public number"+name)), stattest.Noiser(t, "public number"+name)
	pure := strings.HasPrefix(name, "pure ")
	declared, choices := new(big.Rat).SetFloat64(e.Loss().Rho.Float()), new(big.Rat)
	if pure {
		declared.SetFloat64(e.Loss().Pure.Float())
		for _, s := range e.Steps() {
			if s.Mechanism == estimator.Exponential {
				choices.Add(choices, new(big.Rat).SetFloat64(s.Epsilon))
			}
		}
	}
	for range tries {
		db := make([]person, 1+r.IntN(4))
		for i := range db {
			if db[i] = anyone(r); e.Columns()[0] == estimator.Value {
				db[i].rows = 1
			}
		}
		public := len(db) - 1 + r.IntN(3) // the input is too short, as it should be, or too long
		if most := int(e.MinPersons()); most > public {
			db = append(db, slices.Repeat([]person{{rows: 1, sum: 3, lo: 9, median: 3}}, most-public)...)
			public = most
		}
		full := &stattest.Recorder{Answer: stattest.Forced(r, n, nil, 4)}
		// the truth, of many persons with two rows as well: a small radius stands out
		if r.IntN(3) == 0 {
			if r.IntN(2) == 0 && e.Columns()[0] == estimator.Rows {
				db, public = append(db, slices.Repeat([]person{{rows: 2, sum: 6, lo: 18, median: 3}}, 400)...), public+400
			}
			full.Answer = func(_ int, v, _ *big.Int) *big.Int { return v }
		}
		want := e.Release(full, columnsOf(e, db, public))
		for _, other := range broken(r, e, db) {
			less := &stattest.Recorder{Answer: func(i int, v, _ *big.Int) *big.Int {
				if i >= len(full.Queries) {
					return v
				}
				return full.Queries[i].Answer
			}}
			got := e.Release(less, columnsOf(e, other, public))
			if len(full.Queries) != len(less.Queries) || got.Status != want.Status || !slices.Equal(got.Values, want.Values) {
				return true
			}
			loss := stattest.Loss
			if pure {
				loss = stattest.PureLoss
			}
			left := new(big.Rat).Set(declared)
			if full.Choices > 0 {
				left.Sub(left, choices)
			}
			if loss(t, full, less).Cmp(left) > 0 {
				return true
			}
		}
	}
	return false
}

// TestMissingAndExtraPersonsKeepTheLoss is the soundness test of inputs that do not have the public
// number of persons. It must reject estimators that take the length of the input for it.
func TestMissingAndExtraPersonsKeepTheLoss(t *testing.T) {
	for name, e := range publicVariants(t, 0.05, 0.5) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tries := int(max(10, 4000/(100+e.MinPersons())))
			if tells(t, name, e, tries/stattest.Runs(2, 1)) {
				t.Error("a person who is missing, or one more, shows")
			}
			kind, _, _ := strings.Cut(name, ",")
			searched := strings.Contains(name, "bounds=false") || strings.Contains(name, "rows=0")
			switch {
			case kind == "pure row quantiles":
				return // it takes the number of values for private, and pays for it
			case searched && strings.TrimPrefix(kind, "pure ") == "sum":
				return // with a clip that is searched for it does not ask for the number
			}
			if !tells(t, name, lengthAsNumber{e}, 20*tries) {
				t.Error("an estimator that takes the length of its input for the public number passed")
			}
		})
	}
}

// TestPublicCountsArePublic: what is told as the number of persons is the public one, whatever the
// input holds.
func TestPublicCountsArePublic(t *testing.T) {
	for _, v := range variants() {
		if !v.exact() {
			continue
		}
		e := v.at(t, 0.1)
		for _, have := range []int{0, 1, 99, 100, 101, 300} {
			db := slices.Repeat([]person{{rows: 1, sum: 3, lo: 9, median: 3}}, have)
			if a := e.Release(stattest.Zero{}, columnsOf(e, db, 100)); a.Values[0] != 100 || a.Status != estimator.OK {
				t.Errorf("%s: %v of 100 persons, %d in the input", v.name, a.Values, have)
			}
			if a := (lengthAsNumber{e}).Release(stattest.Zero{}, columnsOf(e, db, 100)); have != 100 && a.Values[0] == 100 {
				t.Errorf("%s: a length of %d was not seen", v.name, have)
			}
		}
	}
}

// TestAnyLengthIsAnswered: an input of any length gives an answer that is finite, with real noise,
// and with no value at all one of the same kind.
func TestAnyLengthIsAnswered(t *testing.T) {
	for name, e := range publicVariants(t, 0.05, 0.5) {
		n := stattest.Noiser(t, name)
		public := int(e.MinPersons()) + 50
		for _, have := range []int{0, 1, public - 1, public, public + 1, 2 * public} {
			db := slices.Repeat([]person{{rows: 1, sum: 3, lo: 9, median: 3}}, have)
			for i := range min(have, len(extremes)) {
				db[i] = extremes[i]
			}
			in := columnsOf(e, db, public)
			a := e.Release(n, in)
			for _, x := range a.Values {
				if x != x || x-x != 0 {
					t.Errorf("%s: %d persons of %d: %v", name, have, public, a.Values)
				}
			}
		}
	}
}
