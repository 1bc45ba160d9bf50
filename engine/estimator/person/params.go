package person

import "scrim/engine/estimator"

// Stages are how much of the paper's estimator runs.
type Stages uint8

// Stages, with the names that options use.
const (
	Full     Stages = iota // coarse estimate, threaded clip-and-noise, a last clip-and-noise: Algorithm 4 ("full")
	Threaded               // coarse estimate and Algorithm 3 ("threaded")
	Single                 // coarse estimate and one clip-and-noise: section 3.4 in one dimension, Algorithm 2 in more ("single")
)

// Split is what stages share.
type Split uint8

// Splits.
const (
	Loss    Split = iota // every stage sees all persons, with a share of the loss ("loss")
	Persons              // every stage has a third of the persons, drawn secretly, and the whole loss ("persons")
)

// Params are the public facts of a person-level mean. Bounds and Grid hold for every coordinate of a row. With Epsilon > 0 the
// release is ε-DP and Rho is not used: in one dimension, and coordinate by coordinate in more.
type Params struct {
	estimator.Params
	Dim    int     // 1 to 2^20
	Moment float64 // k >= 2: the k-th central moment of a row is bounded in every direction; 0: 4
	Radius float64 // R: the mean's coordinates are within ±R, in values; 0: the public range
	Sigma  float64 // σ₂: bound on a row's standard deviation in any direction, in values; 0: learnt from the persons' means
	SigmaK float64 // σ_k: bound on the k-th root of a row's k-th central moment in any direction; 0: that of the normal law with σ₂
	Rows   float64 // m: rows of a person; 0: learnt, a low quantile of what persons have
	Stages Stages
	Split  Split
}
