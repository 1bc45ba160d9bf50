package collect

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"

	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/geometry"
	"scrim/internal/refuse"
)

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

// Before is an earlier round of a stratum, with what arrived in it.
type Before[T any] struct {
	Params *Params
	Tally  T
}

// Value is one contributor's value: one number, one vector, or nil for NULL.
type Value []float64

// Canonical returns the parameters' canonical JSON: the fields in the order of Params, absent ones
// left out, no spaces, numbers in their shortest form, integers over 2^62 as texts, keys and seeds
// in base64. The same parameters have the same bytes everywhere. It panics on a number that is NaN
// or infinite and on an epsilon out of range; Parse and Design.Params let none through.
func (p *Params) Canonical() []byte {
	b, err := p.encode()
	if err != nil {
		panic("collect: parameters without a canonical form: " + err.Error())
	}
	return b
}

func (p *Params) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(p); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Parse reads canonical parameters. Anything that Canonical would write otherwise is refused:
// unknown or repeated fields, other forms of a number, spaces, more than MaxParams bytes. It does
// not verify.
func Parse(b []byte) (*Params, error) {
	if len(b) > MaxParams {
		return nil, bad("Parameters of %d bytes are longer than any collection's.", len(b))
	}
	var p Params
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return nil, notCanonical()
	}
	if again, err := p.encode(); err != nil || !bytes.Equal(again, b) {
		return nil, notCanonical()
	}
	p.keep(b)
	return &p, nil
}

func notCanonical() error {
	return refuse.New(refuse.CollectionParameter, "These are not the canonical parameters of a collection.").
		With("Take the bytes of the column params of dp.collection_rounds unchanged, with a library of this version.")
}

// tolerance is by how much numbers of a device and of a server may differ, relatively.
const tolerance = 1e-9

// checkPublished demands exactly the numbers that a round needs from those before, finite and in
// their range. Privacy rests on none of them: they are maps of the value before the randomiser.
// Absurd ones would make reports worthless.
func (g *Design) checkPublished(round int, pub Published) error {
	ok := false
	switch {
	case round == 1:
		ok = len(pub.Centre) == 0 && pub.Width == 0 && pub.Clip == 0
	case g.Protocol == LDPKV2:
		ok = g.knownCentre(pub)
	case g.Protocol == LDPUV2:
		ok = g.unknownCentre(pub)
	default:
		ok = g.rotatedCentre(round, pub)
	}
	if !ok {
		return bad("What round %d takes from the rounds before is missing or out of range.", round).
			With("Fetch the parameters again; if they stay so, report nothing and tell whoever runs the collection.")
	}
	return nil
}

// knownCentre accepts a multiple of a quarter sigma from 0 to R.
func (g *Design) knownCentre(pub Published) bool {
	return len(pub.Centre) == 1 && pub.Width == 0 && pub.Clip == 0 &&
		within(pub.Centre[0], 0, g.Derived.Range) && pub.Centre[0]*4 == math.Floor(pub.Centre[0]*4)
}

// unknownCentre accepts a centre where round 1 looked for it, and the window of a standard
// deviation from sigma_min/4 to 4 sigma_max.
func (g *Design) unknownCentre(pub Published) bool {
	v := &g.Derived
	sigma := pub.Width / windowFactor(g.Declaration.Expected)
	return len(pub.Centre) == 1 && pub.Clip == 0 &&
		within(pub.Centre[0], -8*v.Scales, v.Range+8*v.Scales) && within(sigma, 0.25, 4*v.Scales)
}

// rotatedCentre accepts a centre in round 1's box, and in round 3 a clip up to the last edge of
// round 2's buckets.
func (g *Design) rotatedCentre(round int, pub Published) bool {
	v := &g.Derived
	if len(pub.Centre) != v.Padded || pub.Width != 0 {
		return false
	}
	if slices.ContainsFunc(pub.Centre, func(c float64) bool { return !within(c, -v.Box, v.Box) }) {
		return false
	}
	if round == 2 {
		return pub.Clip == 0
	}
	b := geometry.ShiftedBuckets(v.Box, v.BoxLevels, v.Ball, pub.Centre)
	return within(pub.Clip, b.First, b.Edge(geometry.BucketCount-1))
}

// within tells whether x lies in [lo,hi], up to tolerance; NaN does not.
func within(x, lo, hi float64) bool {
	room := tolerance * max(math.Abs(lo), math.Abs(hi))
	return x >= lo-room && x <= hi+room && !math.IsInf(x, 0)
}

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
