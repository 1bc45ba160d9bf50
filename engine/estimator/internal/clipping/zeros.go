package clipping

import (
	"math/big"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// Zeros answers a sum of which no total stands out: 0 where many persons have a total of 0.
//
// Two counts are released at the loss that the sum would have had: persons with total 0, and
// persons with another one. A person is in one count of both, so that one who comes or goes changes
// one by 1, and one who is exchanged changes both. The noise is that of ℓ2 sensitivity √2 (ℓ1
// sensitivity 2) under either relation, so that an exchange costs it no more than a sum
// (estimator.Exchanging). That they are released follows from the counts of octaves, which are
// released; by adaptive composition all of it costs no more than the search and the sum.
type Zeros struct {
	P     estimator.Params
	Share float64 // of the loss
	// Sign is that of the totals, 0 where they have either: a person with another total than 0 is
	// taken for one step on that side.
	Sign  int64
	Limit int64 // the largest total, in steps
}

// Persons with total 0 have to be zerosPerHidden times as many as those whom the noise may hide,
// at hiddenZ standard deviations.
const (
	zerosPerHidden = 20
	hiddenZ        = 3
)

// Answer draws the noise. rows are those of each person, nil where who has none counts as well;
// needed is the number of persons that a search needs. The interval allows for each person who is
// counted, or whom the noise may hide, the largest total that there is: more than half a step for
// each row, by which a row may be off that is 0 on its grid.
func (z Zeros) Answer(n noise.Noiser, rows, totals []int64, step float64, needed int64) estimator.Estimate {
	var zero, other int64
	for i, t := range totals {
		switch {
		case t != 0:
			other++
		case rows == nil || rows[i] > 0:
			zero++
		}
	}
	hidden := scalar.NewNoise(z.P, big.NewInt(2), 2, z.Share)
	zeros, others := float64(hidden.Add(n, zero)), float64(hidden.Add(n, other))
	if least := zerosPerHidden * (max(0, others) + hiddenZ*hidden.Sigma()); zeros < least {
		if zeros > hiddenZ*hidden.Sigma() {
			needed = max(needed, scalar.Twice(least))
		}
		return scalar.TooFew(1, needed)
	}
	value := 0.0
	if z.Sign != 0 && others != 0 { // no −0
		value = float64(z.Sign) * others * step
	}
	e := scalar.Hidden(value, hidden, step)
	limit := float64(z.Limit) * step
	far := []estimator.CutPart{{Weight: 1, Mean: max(0, others) * limit, StdDev: hidden.Sigma() * limit}}
	if hidden.Law() == estimator.Laplace {
		far[0].StdDev *= 2 // its tails reach farther than a normal law's, down to a risk of 10⁻⁴
	}
	cut := estimator.Cut{Up: far, Down: far, Seen: limit}
	switch {
	case z.Sign > 0:
		cut.Down = nil
	case z.Sign < 0:
		cut.Up = nil
	}
	e.Error.Cut, e.Error.Persons, e.Error.Roomy = []estimator.Cut{cut}, zeros, true
	return e
}
