// Package sizedtest holds the test that every estimator of a public number of persons passes: what
// it makes of an input that lacks persons, or has too many, is what it makes of the input that
// package sized makes of it.
package sizedtest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

// Vectors tests an estimator of vectors that has the parameters p, with a public number of persons
// of at least the number given, on blocks of so many persons; whole is sized.Vectors.
func Vectors(t testing.TB, name string, e estimator.Estimator, p estimator.Params, least int,
	whole func(p estimator.Params, dim int, sparse bool, in estimator.Input) estimator.Input, block func(persons int) *estimator.Block) {
	t.Helper()
	test(t, name, e, least, func(have int) estimator.Input { return estimator.Input{Vectors: block(have)} },
		func(in estimator.Input) estimator.Input {
			return whole(p, in.Vectors.Dim, in.Vectors.Sparse, in)
		})
}

// Columns is Vectors for an estimator of columns, given the values of so many persons of one row
// each, in steps; whole is sized.Columns.
func Columns(t testing.TB, name string, e estimator.Estimator, p estimator.Params,
	whole func(p estimator.Params, kinds []estimator.Kind, in estimator.Input) estimator.Input, values func(persons int) []int64) {
	t.Helper()
	test(t, name, e, 20, func(have int) estimator.Input {
		x := values(have)
		in := estimator.Input{Columns: make([][]int64, len(e.Columns()))}
		for k, kind := range e.Columns() {
			if in.Columns[k] = x; kind == estimator.Rows {
				in.Columns[k] = make([]int64, have)
				for i := range in.Columns[k] {
					in.Columns[k][i] = 1
				}
			}
		}
		return in
	}, func(in estimator.Input) estimator.Input { return whole(p, e.Columns(), in) })
}

func test(t testing.TB, name string, e estimator.Estimator, least int, input func(have int) estimator.Input, whole func(estimator.Input) estimator.Input) {
	t.Helper()
	public := max(int(e.MinPersons()), least)
	for _, have := range []int{public - 3, public - 1, public, public + 1, public + 4} {
		in := input(have)
		in.Persons = int64(public)
		got, want := release(e, in), release(e, whole(in))
		if got != want {
			t.Errorf("%s: %d persons of %d: %s, of what they should count as %s", name, have, public, got, want)
		}
		if have >= public || public == least {
			continue
		}
		// as if its length were the number
		if in.Persons = int64(have); e.Release(draws(), in).Status != estimator.TooFew {
			t.Errorf("%s: a public number of %d is not under %d", name, have, public)
		}
	}
}

// release tells all of an estimate, with the same noise for all.
func release(e estimator.Estimator, in estimator.Input) string {
	a := e.Release(draws(), in)
	return fmt.Sprint(a.Values, a.Status, a.Needed, a.StdErr)
}

func draws() noise.Noiser { return noise.New(rand.NewPCG(7, 11)) }
