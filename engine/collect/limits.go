package collect

// Version is the version of parameters, reports and messages.
const Version = 1

// Limits. They keep what a device computes for a server that it does not trust small: parsing and
// verifying any parameters takes about a second and some ten megabytes at worst, and a report is at
// most 4 kB.
const (
	MaxParams    = 1 << 20 // bytes of canonical parameters, and of a declaration
	MaxExpected  = 1e9     // contributors of a stratum
	MaxStrata    = 256
	MaxName      = 64      // bytes of a collection's short name, of a database's, of a stratum's
	MaxVector    = 4096    // coordinates of SHUF_VEC
	MaxRotated   = 1024    // coordinates of *_SCM3, after padding to a power of two
	MaxBundle    = 1 << 15 // messages of one contributor
	MaxLeaves    = 6       // levels of a tree of fan-out 4: 4096 buckets
	MaxHaar      = 20      // levels of LDP_HAAR: 2^20 buckets
	MaxRange     = 1 << 20 // R, (hi-lo) in units of sigma or sigma_min
	MaxReach     = 1 << 21 // R + 12G: bounds the residue levels to 20
	MaxMagnitude = 1e100   // of every declared number; the smallest sigma and radius is its inverse

	MinDelta     = 1e-15
	MaxDelta     = 1e-5
	DefaultDelta = 1e-9 // of shuffle collections
	WalletDelta  = 1e-9 // at which a loss that is zCDP only is stated as (ε,δ)
)

// MeanSteps is the domain of BITMEAN: fractions are multiples of 2^-32.
const MeanSteps = 1 << 32

// LaplaceSteps is the domain of DLAP: the window of LDP_UV2 in steps, which is also the
// sensitivity.
const LaplaceSteps = 4096

// GridRoot is 65536: a vector of norm Clip is 65536·sqrt(d) long on the grid of DGAUSS.
const GridRoot = 1 << 16

// noiseUnit is what Batch.Flip is over, rateUnit what Batch.Rate is over.
const (
	noiseUnit = 1 << 32
	rateUnit  = 1 << 20
)

// failure is β, the probability that a round's sizes leave for failing to locate the mean: 5 %,
// what people expect of an error bar.
const failure = 0.05
