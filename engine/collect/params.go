package collect

import "scrim/engine/collect/exact"

// Declaration is what a DBA states of a collection; what a protocol does not use is absent.
type Declaration struct {
	// decimal text with at most four fractional digits, 0.05 to 8
	Epsilon exact.Epsilon `json:"epsilon"`
	// shuffle, and the gauss option of LDP_SCM3: 1e-15 to 1e-5
	Delta float64 `json:"delta,omitempty"`
	// planned contributors per stratum, all rounds together
	Expected uint64  `json:"n_expected"`
	Lo       float64 `json:"lo,omitempty"`        // of values, or of the mean (KV, UV)
	Hi       float64 `json:"hi,omitempty"`        //
	Sigma    float64 `json:"sigma,omitempty"`     // LDP_KV*
	SigmaMin float64 `json:"sigma_min,omitempty"` // LDP_UV*, *_SCM3
	SigmaMax float64 `json:"sigma_max,omitempty"` // LDP_UV*, *_SCM3 without a radius
	// *_HIER: 4^levels buckets; LDP_HAAR: 2^levels
	Levels    int `json:"levels,omitempty"`
	Dimension int `json:"dimension,omitempty"` // *_VEC, *_SCM3
	// l2 norm of SHUF_VEC's vectors; of *_SCM3's (else from Centre and SigmaMax)
	Radius float64 `json:"radius,omitempty"`
	// *_SCM3: bound R_mu of the l2 norm of the mean
	Centre float64 `json:"centre_norm,omitempty"`
	// *_SCM3: bucket width of round 1; 4 sigma_min by default
	Resolution float64 `json:"resolution,omitempty"`
	// reported for NULL, NaN, wrong dimensions; one number, or one a coordinate
	NullDefault []float64 `json:"null_default,omitempty"`
	// LDP_UV2 "laplace"; LDP_HIER "zcdp"; LDP_SCM3 "gauss" or "zcdp"
	Option string `json:"option,omitempty"`
	// LDP_SCM3 "zcdp": the epsilon of what contributors pay, which is more than Epsilon
	Pays float64 `json:"pays_epsilon,omitempty"`
	// public groups, each a collection of n_expected of its own
	Strata []string `json:"strata,omitempty"`
	// shuffle: "separate" or "same_operator"
	Trust string `json:"trust,omitempty"`
	// shuffle: the collection whose batch was destroyed
	RetryOf string `json:"retry_of,omitempty"`
}

// Params are the public parameters of one round of one stratum. Their canonical JSON is what
// devices fetch and what the fingerprint is of; Verify recomputes all of it.
type Params struct {
	Version     int         `json:"version"` // 1
	Collection  string      `json:"collection"`
	UUID        string      `json:"uuid"`
	Protocol    Protocol    `json:"protocol"`
	Round       int         `json:"round"` // from 1
	Stratum     string      `json:"stratum,omitempty"`
	Declaration Declaration `json:"declared"`
	Derived     Derived     `json:"derived"`
	Published   Published   `json:"published"` // by the rounds before
	// reports that the cells of this round need together, besides their own minima
	Min   uint64 `json:"n_min"`
	Cells []Cell `json:"cells"`           // of this round; cell i is number i
	Batch *Batch `json:"batch,omitempty"` // shuffle: of this round
	// shuffle: the server's public HPKE key of this round, in base64
	SealKey []byte `json:"seal_key,omitempty"`
	// *_SCM3: public 32-byte seed of the rotation's signs
	Signs []byte `json:"sign_seed,omitempty"`

	kept *kept // by Parse and Design.Params
}

// Derived are numbers of the whole collection that follow from the declaration.
type Derived struct {
	// R: (hi-lo)/sigma or (hi-lo)/sigma_min (KV, UV)
	Range    float64 `json:"range,omitempty"`
	Scales   float64 `json:"scales,omitempty"`    // G: sigma_max/sigma_min (UV)
	Residues int     `json:"residues,omitempty"`  // L: levels of residues (KV, UV)
	LevelMin uint64  `json:"level_min,omitempty"` // k_min: reports that each level needs (KV, UV)
	// contributors of each round; they add up to n_expected
	Groups []uint64 `json:"groups"`
	Padded int      `json:"padded,omitempty"` // *_SCM3: dimension, a power of two
	// *_SCM3: R_p, the norm that vectors are clipped to
	Ball      float64 `json:"ball,omitempty"`
	Box       float64 `json:"box,omitempty"` // *_SCM3: B, half the side of round 1's trees
	BoxLevels int     `json:"box_levels,omitempty"`

	// *_SCM3: κ, share of norms beyond Clip at which noise and clipping balance
	ClipTarget float64 `json:"clip_target,omitempty"`
	Rho        float64 `json:"rho,omitempty"` // LDP_SCM3 with DGAUSS: zCDP loss of round 3
}

// Published is what earlier rounds made public; absent numbers are zero.
type Published struct {
	// KV, UV: t1 in units of sigma or sigma_min from lo; *_SCM3: c, rotated
	Centre []float64 `json:"centre,omitempty"`
	Width  float64   `json:"width,omitempty"` // UV: w, in units of sigma_min
	Clip   float64   `json:"clip,omitempty"`  // *_SCM3 round 3: C
}

// Randomiser names the law of a cell's reports.
type Randomiser string

// The randomisers of cells.
const (
	BRR     Randomiser = "BRR"     // binary randomised response
	BitMean Randomiser = "BITMEAN" // one-bit mean, then BRR
	KRR     Randomiser = "KRR"     // k-ary randomised response
	OUE     Randomiser = "OUE"     // optimised unary encoding
	HRR     Randomiser = "HRR"     // Hadamard randomised response
	DLAP    Randomiser = "DLAP"    // discrete Laplace
	Sphere  Randomiser = "SPHERE"  // direction on the sphere, then BRR
	DGAUSS  Randomiser = "DGAUSS"  // discrete Gaussian a coordinate
	Bundle  Randomiser = "BUNDLE"  // shuffle: a bundle of messages
)

// Cell is one group of contributors within a round: all of them report by one law. A token says
// which.
type Cell struct {
	Cell       uint32     `json:"cell"`
	Randomiser Randomiser `json:"randomizer"`
	// of the randomiser's input: k, D, the steps of BITMEAN, the dimension
	Domain uint64 `json:"domain,omitempty"`
	// of 2^62: K1, Kk, or Q for OUE (probability of another bit's 1)
	Keep  uint64 `json:"keep_num,omitempty,string"`
	Quota uint64 `json:"quota"` // planned contributors
	// reports without which the round cannot end
	Min        uint64 `json:"min"`
	Level      int    `json:"level,omitempty"`      // of a tree, or of residues
	Coordinate int    `json:"coordinate,omitempty"` // *_SCM3 round 1
	Offset     int    `json:"offset,omitempty"`     // LDP_KV1 with BRR: of the lattice
}

// Batch are the parameters of a round of the shuffle model. One batch is of one cell.
type Batch struct {
	Expected uint64 `json:"n_expected"`
	Min      uint64 `json:"n_min"`
	Honest   uint64 `json:"honest"` // h
	Max      uint64 `json:"n_max"`  // the batch closes

	Levels int `json:"levels,omitempty"` // *_HIER trees
	// P of 2^32: probability of a noise message a node
	Flip   uint64 `json:"noise_num,omitempty"`
	Cap    uint64 `json:"messages_max,omitempty"` // messages in a bundle
	Grid   uint64 `json:"grid,omitempty"`         // SUM: Delta; VEC: C_g
	Bound  uint64 `json:"bound,omitempty"`        // VEC: S
	Tail   uint64 `json:"tail,omitempty"`         // SUM: T; VEC: ceil(16 sqrt(2 mu))
	Bits   int    `json:"bits,omitempty"`         // b: shares are modulo 2^b
	Shares int    `json:"shares,omitempty"`       // m: messages a coordinate
	// VEC: variance that honest noise has, a coordinate
	Mu   float64 `json:"noise_variance,omitempty"`
	Rate uint64  `json:"poisson_num,omitempty"` // VEC: l of 2^20: rate of each Poisson share
	// VEC: C, the l2 norm that vectors are clipped to
	Clip float64 `json:"clip,omitempty"`
}

// Value is one contributor's value: one number, one vector, or nil for NULL.
type Value []float64
