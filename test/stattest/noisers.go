package stattest

import (
	"math"
	"math/big"
	"testing"

	"scrim/engine/estimator/noise"
)

// Noiser returns the product's sampler on a seeded source.
func Noiser(t testing.TB, name string) noise.Noiser { return noise.New(Source(t, name)) }

// Zero adds no noise.
type Zero struct{}

// Gaussian implements noise.Noiser.
func (Zero) Gaussian(v, _ *big.Int) *big.Int { return new(big.Int).Set(v) }

// GaussianInt implements noise.Noiser.
func (Zero) GaussianInt(v int64, _ noise.Variance) int64 { return v }

// Laplace implements noise.Noiser.
func (Zero) Laplace(v, _, _ *big.Int) *big.Int { return new(big.Int).Set(v) }

// Uniform implements noise.Noiser.
func (Zero) Uniform() uint64 { return 0 }

// Shrunk draws its Gaussian noise from a variance, and its Laplace noise from a scale, that is too
// small by Factor > 1: the under-noised variant that tests must reject. A variance that would be
// under 1 is none.
type Shrunk struct {
	noise.Noiser
	Factor int64
}

// Gaussian implements noise.Noiser.
func (s Shrunk) Gaussian(v, sigma2 *big.Int) *big.Int {
	q := new(big.Int).Quo(sigma2, big.NewInt(s.Factor))
	if q.Sign() == 0 {
		return new(big.Int).Set(v)
	}
	return s.Noiser.Gaussian(v, q)
}

// GaussianInt implements noise.Noiser.
func (s Shrunk) GaussianInt(v int64, sigma2 noise.Variance) int64 {
	y := s.Gaussian(big.NewInt(v), sigma2.Big())
	return y.Int64()
}

// Laplace implements noise.Noiser.
func (s Shrunk) Laplace(v, num, den *big.Int) *big.Int {
	return s.Noiser.Laplace(v, num, new(big.Int).Mul(den, big.NewInt(s.Factor)))
}

// Query is one value on its way to noise: Gaussian of variance Sigma2, or Laplace of scale Num/Den
// where Sigma2 is nil.
type Query struct {
	Value    *big.Int
	Sigma2   *big.Int
	Answer   *big.Int
	Num, Den *big.Int
}

// Recorder records every value before noise. Its answers are forced: Answer(i, value, sigma2) gives
// the i-th; sigma2 is (Num/Den)², rounded up, for Laplace noise. Replaying the answers of another
// run makes two runs take the same branches, as the two sides of a privacy proof must.
type Recorder struct {
	Answer  func(i int, value, sigma2 *big.Int) *big.Int
	Queries []Query
	Choices int // by the exponential mechanism, of points drawn for them
}

// Replay returns a Recorder that gives the answers of an earlier one, and fails the test if it is
// asked more.
func (r *Recorder) Replay(t testing.TB) *Recorder {
	return &Recorder{Answer: func(i int, _, _ *big.Int) *big.Int {
		if i >= len(r.Queries) {
			t.Errorf("query %d has no counterpart: the number of queries depends on data", i)
			return new(big.Int)
		}
		return r.Queries[i].Answer
	}}
}

// Gaussian implements noise.Noiser.
func (r *Recorder) Gaussian(v, sigma2 *big.Int) *big.Int {
	a := r.Answer(len(r.Queries), v, sigma2)
	r.Queries = append(r.Queries, Query{Value: new(big.Int).Set(v), Sigma2: new(big.Int).Set(sigma2), Answer: new(big.Int).Set(a)})
	return new(big.Int).Set(a)
}

// GaussianInt implements noise.Noiser.
func (r *Recorder) GaussianInt(v int64, sigma2 noise.Variance) int64 {
	a := r.Gaussian(big.NewInt(v), sigma2.Big())
	if !a.IsInt64() {
		return math.MaxInt64 * int64(a.Sign())
	}
	return a.Int64()
}

// Laplace implements noise.Noiser.
func (r *Recorder) Laplace(v, num, den *big.Int) *big.Int {
	scale2 := new(big.Int).Quo(new(big.Int).Mul(num, num), new(big.Int).Mul(den, den))
	a := r.Answer(len(r.Queries), v, scale2.Add(scale2, big.NewInt(1)))
	q := Query{Value: new(big.Int).Set(v), Answer: new(big.Int).Set(a), Num: new(big.Int).Set(num), Den: new(big.Int).Set(den)}
	r.Queries = append(r.Queries, q)
	return new(big.Int).Set(a)
}

// Uniform implements noise.Noiser. A choice by the exponential mechanism takes its first point
// then, on both sides: that there was one is recorded, its loss is not.
func (r *Recorder) Uniform() uint64 {
	r.Choices++
	return 0
}

// Loss returns Σ (v−v')²/(2σ²) over the queries of two runs with the same answers: the zCDP loss
// between the two inputs on this branch. It fails the test if the runs asked different numbers of
// queries, or with different variances.
func Loss(t testing.TB, a, b *Recorder) *big.Rat {
	t.Helper()
	total := new(big.Rat)
	if len(a.Queries) != len(b.Queries) {
		t.Fatalf("%d queries against %d: the number of queries depends on data", len(a.Queries), len(b.Queries))
	}
	for i := range a.Queries {
		x, y := a.Queries[i], b.Queries[i]
		if x.Sigma2 == nil || y.Sigma2 == nil {
			t.Fatalf("query %d has Laplace noise", i)
		}
		if x.Sigma2.Cmp(y.Sigma2) != 0 {
			t.Fatalf("query %d: variance %v against %v: noise depends on data", i, x.Sigma2, y.Sigma2)
		}
		d := new(big.Int).Sub(x.Value, y.Value)
		if d.Sign() == 0 {
			continue // of the hundreds of buckets that a release may have, all but one or two
		}
		d.Mul(d, d)
		total.Add(total, new(big.Rat).SetFrac(d, new(big.Int).Lsh(x.Sigma2, 1)))
	}
	return total
}

// PureLoss returns Σ |v−v'|·den/num over the queries of two runs with the same answers: the ε
// between the two inputs on this branch, where all noise is Laplace noise. It fails the test like
// Loss.
func PureLoss(t testing.TB, a, b *Recorder) *big.Rat {
	t.Helper()
	total := new(big.Rat)
	if len(a.Queries) != len(b.Queries) {
		t.Fatalf("%d queries against %d: the number of queries depends on data", len(a.Queries), len(b.Queries))
	}
	for i := range a.Queries {
		x, y := a.Queries[i], b.Queries[i]
		if x.Num == nil || y.Num == nil {
			t.Fatalf("query %d has Gaussian noise: no pure epsilon bounds it", i)
		}
		if x.Num.Cmp(y.Num) != 0 || x.Den.Cmp(y.Den) != 0 {
			t.Fatalf("query %d: scale %v/%v against %v/%v: noise depends on data", i, x.Num, x.Den, y.Num, y.Den)
		}
		d := new(big.Int).Sub(x.Value, y.Value)
		if d.Sign() == 0 {
			continue
		}
		total.Add(total, new(big.Rat).SetFrac(d.Mul(d.Abs(d), x.Den), x.Num))
	}
	return total
}
