package person

import (
	"math"
	"math/big"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// persons is the number of persons: released with sensitivity 1, which holds for one more or less
// and for one exchanged that comes into or goes out of the group; or public.
type persons struct {
	law    law
	loss   float64
	public bool
	gauss  scalar.Persons
	scale  *big.Rat // of Laplace noise
}

func newPersons(p Params, loss float64) persons {
	c := persons{law: p.law(), loss: loss, public: p.Sized}
	switch {
	case p.Sized:
	case p.Pure():
		c.scale = new(big.Rat).SetFloat64(loss)
		c.scale.Inv(c.scale)
	default:
		c.gauss = scalar.NewPersons(loss)
	}
	return c
}

// release returns a number of at least 1.
func (c persons) release(n noise.Noiser, count int64) float64 {
	switch {
	case c.public:
		return float64(max(1, count))
	case c.scale != nil:
		f, _ := new(big.Float).SetInt(n.Laplace(big.NewInt(count), c.scale.Num(), c.scale.Denom())).Float64()
		return min(max(1, f), 0x1p60)
	}
	return c.gauss.Release(n, count)
}

// sigma is the standard deviation of the noise, 0 where the number is public.
func (c persons) sigma() float64 {
	switch {
	case c.public:
		return 0
	case c.scale != nil:
		return math.Sqrt2 / c.loss
	}
	return c.gauss.Sigma()
}

// enough is the number of persons that makes the noise at most a fifth of it.
func (c persons) enough() int64 { return int64(math.Ceil(min(5*c.sigma(), 0x1p50))) }

// steps describes the release: nothing where the number is public.
func (c persons) steps() []estimator.Step {
	if c.public {
		return nil
	}
	mechanism, norm := c.law.noisy()
	return []estimator.Step{c.law.step(estimator.Step{Name: "number of persons", Mechanism: mechanism, Sensitivity: norm + "=1", Queries: 1}, c.loss)}
}
