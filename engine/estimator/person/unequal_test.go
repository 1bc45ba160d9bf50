package person

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// unequal is persons of whom some have few rows: of a skewed law, whose clipped mean is off to one
// side.
type unequal struct {
	share     float64 // of persons with few rows
	few, many int64
}

// draw returns the persons, and the mean of their means.
func (u unequal) draw(r *rand.Rand, persons int) (*estimator.Block, float64) {
	law, sample := rowLaws[2], 0.0
	b := blockOf(1, persons, func(i int) int64 { return u.rows(i, persons) }, func(i, _ int) int64 {
		x, m := 0.0, u.rows(i, persons)
		for range m {
			x += law.draw(r)
		}
		sample += x / float64(m) / float64(persons)
		return int64(math.RoundToEven(x / grid.Step))
	})
	return b, sample
}

// rows is the number of rows of person i.
func (u unequal) rows(i, persons int) int64 {
	if float64(i) < u.share*float64(persons) {
		return u.few
	}
	return u.many
}

// bias returns the mean distance of answers from the mean of the persons' means, its standard
// error, and the standard error of that mean itself, of 2000 persons.
func (u unequal) bias(t *testing.T, p Params, trials int) (bias, stdErr, sampling float64) {
	t.Helper()
	const persons = 2000
	p.Dim, p.Params = 1, estimator.Params{Rho: 0.5, Grid: grid}
	e, err := NewMean(p)
	m := must(t, e, err)
	r, n := rand.New(stattest.Source(t, fmt.Sprint(u))), stattest.Noiser(t, fmt.Sprint(u, p.Rows))
	sum, squares := 0.0, 0.0
	for range trials {
		b, sample := u.draw(r, persons)
		d := m.Release(n, estimator.Input{Vectors: b}).Values[0] - sample
		sum, squares = sum+d/float64(trials), squares+d*d/float64(trials)
	}
	variance := u.share/float64(u.few) + (1-u.share)/float64(u.many)
	return sum, math.Sqrt((squares - sum*sum) / float64(trials)), math.Sqrt(variance / persons)
}

// TestPersonsWithFewRowsAreClippedMore: where m is learnt, with the spread, the bias of a skewed
// law stays under the sample's own standard error. Where m is declared and most persons have fewer
// rows, so that the promise is broken, it does not.
func TestPersonsWithFewRowsAreClippedMore(t *testing.T) {
	runs := max(*trials, 25)
	for _, u := range []unequal{{0.1, 1, 100}, {0.5, 1, 100}, {0.9, 1, 100}, {0.5, 10, 100}, {0.5, 1, 1000}} {
		if *trials == 0 && u.many == 1000 {
			continue
		}
		learnt, error1, sampling := u.bias(t, Params{}, runs)
		declared, error2, _ := u.bias(t, Params{Sigma: 1, Rows: float64(u.many)}, runs)
		t.Logf("%.0f %% of persons with %d of %d rows: sample's standard error %.4f, bias %.4f ± %.4f with all learnt, %.4f ± %.4f with σ and m declared",
			100*u.share, u.few, u.many, sampling, learnt, error1, declared, error2)
		if math.Abs(learnt) > sampling+3*error1 {
			t.Errorf("%+v: bias %v ± %v, standard error of the sample %v", u, learnt, error1, sampling)
		}
		if u.share == 0.9 && math.Abs(declared) < 2*sampling {
			t.Errorf("%+v: a broken promise has a bias of %v", u, declared)
		}
	}
}
