package functions_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/functions"
	"scrim/internal/refuse"
)

// skewness is an aggregate that the tree does not have: its row of the table.
var skewness = &functions.Function{
	Name: "DP_SKEWNESS", Aliases: []string{"DP_SKEW"}, Role: functions.Private,
	Measure: functions.Measure{Estimator: newSkew}, Signature: "DP_SKEWNESS(x, 'lower=…, upper=…')",
	MinArgs: 1, MaxArgs: 1, Result: functions.Double, Weight: functions.ByPerson, Options: []string{"lower", "upper", "epsilon", "rho"},
	Doc:     "Skewness of one number a person, the mean of the person's rows, within declared bounds.",
	Example: "SELECT DP_SKEWNESS(age, 'lower=0, upper=120') FROM people",
}

// one is the number 1 on the lattice that powers are rounded to.
const one = 1 << 20

// leastPersons is the least noisy number of persons that is answered.
const leastPersons = 50

// skew is the skewness of the persons' means x̄ within declared bounds. With y the place of x̄
// between the bounds, −1 to 1, each of the sums of 1, y, y² and y³ is released with discrete
// Gaussian noise of
//
//	σ² = ⌈Δ²/(2ρ)⌉    Δ² = 4·one² under add-remove, 9·one² under replace-one
//
// A person adds (1, y, y², y³), whose squared norm is at most 4. An exchange moves y and y³ by at
// most 2, y² by at most 1, and the number by 1 only where all else moves by at most 1.
type skew struct{ p estimator.Params }

// newSkew makes the mechanism of a call.
func newSkew(c functions.Call, p estimator.Params) (estimator.Estimator, error) {
	switch {
	case p.Pure():
		return nil, estimator.ErrNotPure
	case !p.Bounded():
		return nil, refuse.New(refuse.Option, "%s needs the bounds of its argument.", c.Function.Name).With("Use %s.", c.Function.Signature)
	}
	return skew{p}, p.Validate()
}

func (skew) Columns() []estimator.Kind { return []estimator.Kind{estimator.Rows, estimator.Sum} }

func (s skew) Loss() privacy.Loss { return privacy.Loss{Rho: privacy.RhoOf(s.p.Rho)} }

func (skew) MinPersons() int64 { return leastPersons }

func (skew) ExpectedError() (float64, bool) { return 0, false }

// moved is the squared ℓ2 sensitivity, in units of one².
func (s skew) moved() float64 {
	if s.p.Relation == estimator.ReplaceOne {
		return 9
	}
	return 4
}

func (s skew) Steps() []estimator.Step {
	return []estimator.Step{{
		Name: "sums of powers", Mechanism: estimator.DiscreteGaussian, Sensitivity: fmt.Sprintf("l2=%v", math.Sqrt(s.moved())), Queries: 4, Rho: s.p.Rho,
	}}
}

func (s skew) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	sigma2 := noise.Variance{Lo: uint64(math.Ceil(s.moved() * one * one / (2 * s.p.Rho) * (1 + 0x1p-40)))}
	var sums [4]int64
	for i, rows := range in.Columns[0] {
		if rows <= 0 {
			continue
		}
		y := s.place(float64(in.Columns[1][i]) / float64(rows))
		for k, power := 0, 1.0; k < 4; k++ {
			sums[k] += int64(math.Trunc(power * one))
			power *= y
		}
	}
	var m [4]float64
	for k := range m {
		m[k] = float64(n.GaussianInt(sums[k], sigma2)) / one
	}
	if m[0] < leastPersons {
		return estimator.Estimate{Values: []float64{math.NaN()}, Status: estimator.TooFew, Needed: leastPersons, StdErr: []float64{math.NaN()}}
	}
	a, b, c := m[1]/m[0], m[2]/m[0], m[3]/m[0]
	spread := math.Max(b-a*a, 1/m[0])
	return estimator.Estimate{Values: []float64{(c - 3*a*b + 2*a*a*a) / math.Pow(spread, 1.5)}, StdErr: []float64{math.NaN()}}
}

// place is where a number of steps lies between the bounds, from −1 to 1.
func (s skew) place(k float64) float64 {
	lo, hi := float64(*s.p.Lower), float64(*s.p.Upper)
	return (2*math.Min(math.Max(k, lo), hi) - lo - hi) / (hi - lo)
}

// TestSkewnessMovesByItsSensitivity: one person more or less, or another, moves the sums no further
// than the noise is made for.
func TestSkewnessMovesByItsSensitivity(t *testing.T) {
	power := func(y float64) [4]float64 { return [4]float64{1, y, y * y, y * y * y} }
	apart := func(a, b [4]float64) (sum float64) {
		for k := range a {
			sum += (a[k] - b[k]) * (a[k] - b[k])
		}
		return sum
	}
	most := map[estimator.Relation]float64{}
	for y := -1.0; y <= 1; y += 1.0 / 64 {
		most[estimator.AddRemove] = max(most[estimator.AddRemove], apart(power(y), [4]float64{}))
		for z := -1.0; z <= 1; z += 1.0 / 64 {
			most[estimator.ReplaceOne] = max(most[estimator.ReplaceOne], apart(power(y), power(z)), apart(power(y), [4]float64{}))
		}
	}
	for relation, moved := range most {
		if s := (skew{estimator.Params{Relation: relation}}); moved > s.moved() || moved < s.moved()-1 {
			t.Errorf("%v: one person moves the sums by %v, squared, and the noise is for %v", relation, moved, s.moved())
		}
	}
}

// TestAddedRowsAreChecked: the table takes no row that it could not answer.
func TestAddedRowsAreChecked(t *testing.T) {
	empty := *skewness
	empty.Measure = functions.Measure{}
	if _, err := functions.Add(&empty); err == nil {
		t.Error("a row without an estimator was added")
	}
	if remove, err := functions.Add(skewness); err != nil {
		t.Error(err)
	} else {
		if f, ok := functions.ByName("dp_skew"); !ok || f != skewness {
			t.Error("the row is not found by its alias")
		}
		_, err := functions.Call{Function: skewness}.Estimator(estimator.Params{Epsilon: 1})
		if !errors.Is(err, estimator.ErrNotPure) {
			t.Errorf("a pure one: got %v", err)
		}
		remove()
	}
	if _, ok := functions.ByName("DP_SKEWNESS"); ok {
		t.Error("the row is still there")
	}
}
