package vector

import (
	"scrim/engine/estimator"
)

// Method is an estimator of a vector's mean.
type Method uint8

// Methods, with the names that options use.
const (
	Auto      Method = iota // chosen from public facts and the noisy number of persons
	Clipped                 // clipped mean about 0 or a declared centre
	Shifted                 // clipped mean about a private centre
	Plan                    // the same with per-coordinate scales
	Coinpress               // for declared spreads: iterated clipping of sub-Gaussian data
)

// Search is how quantiles are found.
type Search uint8

// Searches.
const (
	Bisect      Search = iota // noisy counts ("search")
	Exponential               // exponential mechanism ("em")
)

// Tail is which norm the clipping radius aims at.
type Tail uint8

// Tails.
const (
	Optimal Tail = iota // balances bias and noise of the mean of the data
	SqrtN               // √n persons beyond it: for means of light-tailed populations
)

// Clip is how the radius of dense means is found.
type Clip uint8

// Clips.
const (
	Counts Clip = iota // a noisy histogram of the norms ("counts")
	Tails              // noisy tail counts in turn, [HLY21] Algorithm 1 ("tails")
)

// Scale is how PLAN finds the spread of each coordinate.
type Scale uint8

// Scales.
const (
	Direct Scale = iota // quantile of the distances from the centre
	// median of squared differences of secretly matched persons, PairSize of them a group
	Pairs
	Declared // Sigma
	Unscaled // one scale for all: PLAN is then the shifted clipped mean
	Binary   // √(q(1−q)) of a first noisy mean: sparse and binary data
)

// Params are the public facts of a vector estimator. The bounds Lower and Upper, and the Grid, hold
// for every coordinate.
type Params struct {
	estimator.Params
	Dim    int  // 1 to 2^20
	Sparse bool // the block is sparse, values >= 0
	Method Method
	P      float64 // the error's norm, >= 1; 0: 2, or 1 for sparse data
	Tail   Tail
	Clip   Clip
	Rotate bool // random rotation before the shift
	Search Search
	Scale  Scale
	Pairs  int // pairs in a group, for Pairs; 0: 1
	// Relative makes PLAN scale every coordinate by its own spread, so that the error of each is in
	// proportion to it: for coordinates that are different things.
	Relative bool
	Radius   float64 // declared bound on the norm of the mean, in values; 0: none
	SigmaMin float64 // declared bounds on the spread of a coordinate, in values; 0: none
	SigmaMax float64
	Sigma    []float64 // declared spreads, one for each coordinate or one for all; nil: none
	Rounds   int       // of Coinpress; 0: 4
}
