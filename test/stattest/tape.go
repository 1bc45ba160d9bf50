package stattest

import (
	"math/big"

	"scrim/engine/estimator/noise"
)

// Tape is a Noiser that records what another answers. Again runs the same release once more: with
// the same answers, so that it makes the same choices, but for the last ones, which come without
// noise.
type Tape struct {
	noise.Noiser
	answers []*big.Int
	bits    []uint64
}

// Gaussian implements noise.Noiser.
func (t *Tape) Gaussian(v, sigma2 *big.Int) *big.Int { return t.keep(t.Noiser.Gaussian(v, sigma2)) }

// GaussianInt implements noise.Noiser.
func (t *Tape) GaussianInt(v int64, sigma2 noise.Variance) int64 {
	return t.keep(big.NewInt(t.Noiser.GaussianInt(v, sigma2))).Int64()
}

// Laplace implements noise.Noiser.
func (t *Tape) Laplace(v, num, den *big.Int) *big.Int { return t.keep(t.Noiser.Laplace(v, num, den)) }

// Uniform implements noise.Noiser.
func (t *Tape) Uniform() uint64 {
	t.bits = append(t.bits, t.Noiser.Uniform())
	return t.bits[len(t.bits)-1]
}

func (t *Tape) keep(v *big.Int) *big.Int {
	t.answers = append(t.answers, v)
	return v
}

// First is the first answer.
func (t *Tape) First() float64 { f, _ := new(big.Float).SetInt(t.answers[0]).Float64(); return f }

// Again returns a Noiser for another run, whose last answers are the exact values, or 0 if zero is
// set.
func (t *Tape) Again(last int, zero bool) noise.Noiser {
	return &replay{answers: t.answers[:len(t.answers)-last], bits: t.bits, zero: zero}
}

type replay struct {
	answers []*big.Int
	bits    []uint64
	zero    bool
}

func (r *replay) next(v *big.Int) *big.Int {
	switch {
	case len(r.answers) > 0:
		v, r.answers = r.answers[0], r.answers[1:]
	case r.zero:
		v = new(big.Int)
	}
	return new(big.Int).Set(v)
}

func (r *replay) Gaussian(v, _ *big.Int) *big.Int   { return r.next(v) }
func (r *replay) Laplace(v, _, _ *big.Int) *big.Int { return r.next(v) }
func (r *replay) GaussianInt(v int64, _ noise.Variance) int64 {
	return r.next(big.NewInt(v)).Int64()
}

func (r *replay) Uniform() uint64 {
	b := r.bits[0]
	r.bits = r.bits[1:]
	return b
}
