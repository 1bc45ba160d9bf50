package person

import (
	"errors"
	"fmt"
	"math"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
)

// Stages are how much of the paper's estimator runs.
type Stages uint8

// Stages, with the names that options use.
const (
	// coarse estimate, threaded clip-and-noise, a last clip-and-noise: Algorithm 4 ("full")
	Full     Stages = iota
	Threaded        // coarse estimate and Algorithm 3 ("threaded")
	// coarse estimate and one clip-and-noise: section 3.4 in one dimension, Algorithm 2 in more
	// ("single")
	Single
)

// Split is what stages share.
type Split uint8

// Splits.
const (
	Loss Split = iota // every stage sees all persons, with a share of the loss ("loss")
	// every stage has a third of the persons, drawn secretly, and the whole loss ("persons")
	Persons
)

// Params are the public facts of a person-level mean. Bounds and Grid hold for every coordinate of
// a row. With Epsilon > 0 the release is ε-DP and Rho is not used: in one dimension, and coordinate
// by coordinate in more.
type Params struct {
	estimator.Params
	Dim    int     // 1 to 2^20
	Moment float64 // k >= 2: the k-th central moment of a row is bounded in every direction; 0: 4
	Radius float64 // R: the mean's coordinates are within ±R, in values; 0: the public range
	// σ₂: bound on a row's standard deviation in any direction, in values; 0: learnt from the
	// persons' means
	Sigma float64
	// σ_k: bound on the k-th root of a row's k-th central moment in any direction; 0: that of the
	// normal law with σ₂
	SigmaK float64
	Rows   float64 // m: rows of a person; 0: learnt, a low quantile of what persons have
	// δ > 0: the range is found by a stability histogram (stability.go), without any bound on it;
	// 0: without δ
	Delta  float64
	Stages Stages
	Split  Split
}

const (
	maxDim        = 1 << 20
	defaultMoment = 4
	maxMoment     = 100
	maxRows       = 1 << 40
)

// leastEpsilon is the least ε of a coordinate: shares of it are then far above what a pure choice
// among buckets needs.
const leastEpsilon = 1e-6

// check validates the parameters and fills in defaults.
func (p Params) check() (Params, error) {
	if err := scalar.CheckPure(p.Params, true); err != nil {
		return p, err
	}
	if p.Moment == 0 {
		p.Moment = defaultMoment
	}
	switch {
	case p.Dim < 1 || p.Dim > maxDim:
		return p, fmt.Errorf("person: want a dimension from 1 to %d, have %d", maxDim, p.Dim)
	case !(p.Moment >= 2 && p.Moment <= maxMoment):
		return p, fmt.Errorf("person: want 2 <= moment <= %d, have %v", maxMoment, p.Moment)
	case !positive(p.Radius) || !positive(p.Sigma) || !positive(p.SigmaK):
		return p, errors.New("person: want a finite radius, sigma and sigma_k > 0")
	case p.Rows != 0 && !(p.Rows >= 1 && p.Rows <= maxRows):
		return p, fmt.Errorf("person: want 1 <= rows <= 2^40, have %v", p.Rows)
	case p.Stages > Single || p.Split > Persons:
		return p, fmt.Errorf("person: unknown stages %d or split %d", p.Stages, p.Split)
	case p.Delta != 0 && !(p.Delta > 0 && p.Delta <= 0.1):
		return p, fmt.Errorf("person: want 0 < delta <= 0.1, have %v", p.Delta)
	case p.Delta > 0 && p.Pure():
		return p, errors.New("person: a stability histogram has a delta: it is not pure")
	case p.Pure() && p.Epsilon/float64(p.Dim) < leastEpsilon:
		return p, fmt.Errorf("person: want epsilon >= %v for each of %d coordinates, have %v for all", leastEpsilon, p.Dim, p.Epsilon)
	}
	return p.defaults(), nil
}

// defaults fills in what follows from other facts. σ₂ ≤ σ_k holds for every law (Jensen's
// inequality), so the one that is not declared, or not as tight, follows from the other. One row a
// person is m = 1.
func (p Params) defaults() Params {
	if p.SigmaK > 0 && (p.Sigma == 0 || p.Sigma > p.SigmaK) {
		p.Sigma = p.SigmaK
	}
	if p.SigmaK == 0 {
		p.SigmaK = p.Sigma * normalMoment(p.Moment)
	}
	if p.MaxRows == 1 {
		p.Rows = 1
	}
	if p.MaxRows > 0 {
		p.Rows = min(p.Rows, float64(p.MaxRows))
	}
	return p
}

// positive reports whether x is 0, for undeclared, or positive and of a size that floats can
// square.
func positive(x float64) bool { return x == 0 || x > 1e-150 && x < 1e150 }

// normalMoment is the k-th root of the k-th absolute moment of a standard normal:
// √2·(Γ((k+1)/2)/√π)^(1/k), 3^(1/4) for k = 4.
func normalMoment(k float64) float64 {
	g, _ := math.Lgamma((k + 1) / 2)
	return math.Sqrt2 * math.Exp((g-math.Log(math.Pi)/2)/k)
}

// loss is the loss of a release: the slack is that of the exponential mechanism's draws, the event
// that of a stability histogram.
func (p Params) loss() privacy.Loss {
	if p.Pure() {
		return privacy.PureLoss(p.Epsilon)
	}
	l := scalar.Loss(p.Rho)
	if p.Delta > 0 {
		l.DeltaEvent = p.Delta
	} else {
		l.DeltaTV = float64(p.Dim) * choiceSlack
	}
	return l
}
