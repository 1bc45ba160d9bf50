package device

import (
	"encoding/binary"
	"fmt"
	"math"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/geometry"
	"scrim/engine/estimator/noise"
	"scrim/internal/refuse"
)

// Report returns the report of value v in a cell of a round of the local model: randomised once, of
// a length that depends on the cell alone.
//
// Privacy: ε-DP with the declared ε; a DGAUSS cell is ρ-zCDP with the derived ρ.
func (d *Device) Report(r *exact.Rand, cell uint32, v collect.Value) ([]byte, error) {
	c, err := d.cellOf(cell, collect.Local)
	if err != nil {
		return nil, err
	}
	payload, err := d.payload(r, c, v)
	if err != nil {
		return nil, err
	}
	return d.p.EncodeReport(cell, payload), nil
}

func (d *Device) payload(r *exact.Rand, c collect.Cell, v collect.Value) ([]byte, error) {
	switch c.Randomiser {
	case collect.Sphere:
		return d.direction(r, c, v)
	case collect.DGAUSS:
		return d.gauss(r, c, v), nil
	}
	draw, err := d.drawer(c)
	if err != nil {
		return nil, err
	}
	return draw(r, d.code(c, v))
}

// drawer draws the payload of a code.
type drawer func(r *exact.Rand, code uint64) ([]byte, error)

// drawer returns the drawer of a cell.
func (d *Device) drawer(c collect.Cell) (drawer, error) {
	k := kind(c)
	if draw, ok := d.draws[k]; ok {
		return draw, nil
	}
	draw, keep, err := newDrawer(d.p, c)
	if err != nil {
		return nil, err
	}
	if keep != c.Keep {
		return nil, refuse.New(refuse.CollectionParameter, "keep_num of cell %d is %d, and the declared epsilon gives %d.", c.Cell, c.Keep, keep).
			With("Send nothing: the parameters promise more privacy than they give, or less.")
	}
	d.draws[k] = draw
	return draw, nil
}

// kind is what a cell's law of a code depends on.
func kind(c collect.Cell) collect.Cell {
	return collect.Cell{Randomiser: c.Randomiser, Domain: c.Domain, Keep: c.Keep}
}

// newDrawer makes the randomiser of a cell from the declared ε and returns its integer over 2^62
// with it, for the caller to compare with the published one.
func newDrawer(p *collect.Params, c collect.Cell) (draw drawer, keep uint64, err error) {
	eps := p.Declaration.Epsilon
	switch c.Randomiser {
	case collect.BRR, collect.Sphere:
		b, err := exact.NewBinaryResponse(eps)
		return func(r *exact.Rand, code uint64) ([]byte, error) { return bit(b.Randomize(r, code == 1)), nil }, b.Keep(), wrap(err)
	case collect.BitMean:
		b, err := exact.NewBitMean(eps, c.Domain)
		return func(r *exact.Rand, code uint64) ([]byte, error) { return bit(b.Randomize(r, code)), nil }, b.Keep(), wrap(err)
	case collect.KRR:
		k, err := exact.NewKaryResponse(eps, c.Domain)
		return func(r *exact.Rand, code uint64) ([]byte, error) {
			return binary.BigEndian.AppendUint16(nil, uint16(k.Randomize(r, code))), nil
		}, k.Keep(), wrap(err)
	case collect.OUE:
		u, err := exact.NewUnaryEncoding(eps, c.Domain)
		return func(r *exact.Rand, code uint64) ([]byte, error) { return u.Randomize(r, code), nil }, u.Flip(), wrap(err)
	case collect.HRR:
		h, err := exact.NewHadamard(eps, c.Domain)
		return func(r *exact.Rand, code uint64) ([]byte, error) {
			index, b := h.Randomize(r, code&1 == 1, code>>1)
			return append([]byte{byte(index >> 16), byte(index >> 8), byte(index)}, bit(b)...), nil
		}, h.Bit().Keep(), wrap(err)
	case collect.DLAP:
		return func(r *exact.Rand, code uint64) ([]byte, error) { return laplace(r, p, c, code) }, 0, nil
	}
	return nil, 0, refuse.New(refuse.CollectionParameter, "%.20q is not a randomizer of %s.", string(c.Randomiser), p.Protocol)
}

func wrap(err error) error {
	if err != nil {
		return fmt.Errorf("device: %w", err)
	}
	return nil
}

func bit(b bool) []byte {
	if b {
		return []byte{1}
	}
	return []byte{0}
}

// laplace adds discrete Laplace noise of ratio exp(-ε/M) to a code in 0..M, which is ε-DP: the code
// moves by at most M. Sums beyond what the server accepts are brought to its limit, after the
// noise.
func laplace(r *exact.Rand, p *collect.Params, c collect.Cell, code uint64) ([]byte, error) {
	z, err := r.Laplace(uint64(p.Declaration.Epsilon), epsilonUnit*c.Domain)
	if err != nil {
		return nil, wrap(err)
	}
	return binary.BigEndian.AppendUint64(nil, uint64(noisy(int64(min(code, c.Domain)), z, p.DrawLimit(c)))), nil
}

// epsilonUnit is the denominator of exact.Epsilon.
const epsilonUnit = 10_000

// noisy returns x+z within ±limit; |x| <= limit. Bringing noise to ±2·limit first keeps the sum
// from wrapping, and changes nothing that the limit would not.
func noisy(x, z, limit int64) int64 {
	z = min(max(z, -2*limit), 2*limit)
	return min(max(x+z, -limit), limit)
}

// direction draws the payload of round 3 of LDP_SCM3: a seed, and one randomised bit that says on
// which side of the seed's direction the shifted vector lies.
//
// Privacy: the seed is independent of the value, and given the seed the value enters through one
// bit of binary randomised response, so the report is ε-DP whatever the floats before it do.
func (d *Device) direction(r *exact.Rand, c collect.Cell, v collect.Value) ([]byte, error) {
	draw, err := d.drawer(c)
	if err != nil {
		return nil, err
	}
	y := d.shifted(v)
	seed := geometry.NewSeed(r.Uint64(), r.Uint64())
	b, err := draw(r, one(side(r, d.sphere, seed, y, d.p.Published.Clip)))
	return append(seed[:], b...), err
}

// side returns the bit before it is randomised: with probability (1+|y|/clip)/2 whether the seed's
// Gaussian g lies on y's side, else the opposite. Averaged over seeds, (2·bit-1)·g/|g| is
// c_d·y/clip where |y| <= clip; longer vectors count as of length clip.
//
// Source: [DJW18], the mechanism for an l2 ball.
func side(r *exact.Rand, s *geometry.Sphere, seed geometry.Seed, y []float64, clip float64) bool {
	length := geometry.Steps(geometry.Fraction(geometry.Norm(y), 0, clip), geometry.One)
	straight := r.Uniform(2*geometry.One) < geometry.One+length
	return s.Agrees(y, seed) == straight
}

// gauss draws the payload of round 3 of LDP_SCM3 with the discrete Gaussian: the shifted vector,
// clipped to Clip, in 1/65536 of Clip/sqrt(d), plus noise in every coordinate.
//
// Privacy: the integer vector has norm at most S, kept by Shrink, so another value moves it by at
// most 2S; and noise of variance 2S²/ρ or more is ρ-zCDP [CKS20, Theorem 14]. Sums beyond what the
// server accepts are brought to its limit, after the noise.
func (d *Device) gauss(r *exact.Rand, c collect.Cell, v collect.Value) []byte {
	p := d.p
	z := gaussGrid(d.shifted(v), p.Published.Clip, p.GaussBound())
	sigma2 := noise.Variance{Lo: p.GaussVariance()}
	limit := p.DrawLimit(c)
	payload := make([]byte, 0, 4*len(z))
	for _, x := range z {
		payload = binary.BigEndian.AppendUint32(payload, uint32(int32(noisy(x, r.Gaussian(sigma2), limit))))
	}
	return payload
}

// gaussGrid returns y, clipped to clip in place, in 1/65536 of clip/sqrt(d), its squares summing to
// at most square.
func gaussGrid(y []float64, clip float64, square uint64) []int64 {
	geometry.Clip(y, clip)
	root := collect.GridRoot * math.Sqrt(float64(len(y)))
	z := geometry.Truncate(y, root/clip, int64(math.Ceil(root)))
	geometry.Shrink(z, square)
	return z
}

// Device makes reports or messages from the parameters of one round. A contributor's device uses
// one once; simulations use one for many contributors, as it keeps what follows from the parameters
// alone. It is not safe for concurrent use.
type Device struct {
	p        *collect.Params
	rotation *geometry.Rotation // *_SCM3
	sphere   *geometry.Sphere
	buckets  geometry.Buckets // *_SCM3, round 2
	draws    map[collect.Cell]drawer
}

// New returns a device for verified parameters.
func New(p *collect.Params) *Device {
	d := &Device{p: p, draws: map[collect.Cell]drawer{}}
	if p.Protocol != collect.LDPSCM3 && p.Protocol != collect.ShufSCM3 {
		return d
	}
	d.rotation = geometry.NewRotation(p.Declaration.Dimension, p.Signs)
	switch v := &p.Derived; p.Round {
	case 2:
		d.buckets = geometry.ShiftedBuckets(v.Box, v.BoxLevels, v.Ball, p.Published.Centre)
	case 3:
		d.sphere = geometry.NewSphere(p.Fingerprint())
	}
	return d
}

// Report is Device.Report with a device of its own.
func Report(r *exact.Rand, p *collect.Params, cell uint32, v collect.Value) ([]byte, error) {
	return New(p).Report(r, cell, v)
}

// Messages is Device.Messages with a device of its own.
func Messages(r *exact.Rand, p *collect.Params, cell uint32, v collect.Value) ([]collect.Message, error) {
	return New(p).Messages(r, cell, v)
}

// cellOf returns a cell of a round of the given model.
func (d *Device) cellOf(cell uint32, m collect.Model) (collect.Cell, error) {
	info, ok := d.p.Protocol.Info()
	if !ok || info.Model != m {
		return collect.Cell{}, refuse.New(refuse.CollectionParameter, "%s is not a protocol of the %s model.", d.p.Protocol, m)
	}
	c, ok := d.p.Cell(cell)
	if !ok {
		return collect.Cell{}, refuse.New(refuse.ClosedToken, "Round %d of %s has no cell %d.", d.p.Round, d.p.Collection, cell)
	}
	return c, nil
}

// code maps a value to the input of the cell's randomiser: a bit, a number of steps, one of Domain
// values, or for HRR twice the value plus 1 for the negative sign. It is in the domain whatever the
// value is.
func (d *Device) code(c collect.Cell, v collect.Value) uint64 {
	q := &d.p.Declaration
	switch d.p.Protocol {
	case collect.LDPBit:
		return geometry.Steps(d.fraction(v), c.Domain)
	case collect.LDPKV2, collect.LDPKV1:
		return d.known(c, d.position(v, q.Sigma, 1))
	case collect.LDPUV2, collect.LDPUV1:
		return d.unknown(c, d.position(v, q.SigmaMin, d.p.Derived.Scales))
	case collect.LDPHier:
		return geometry.Ancestor(d.leaf(v, geometry.Leaves(q.Levels)), q.Levels, c.Level)
	case collect.LDPHaar:
		return block(d.leaf(v, 1<<q.Levels), c.Level)
	case collect.LDPSCM3:
		levels, leaf := d.rotatedLeaf(c, v)
		return geometry.Ancestor(leaf, levels, c.Level)
	}
	// cellOf lets local protocols in, and these are all
	panic("device: protocol without a code: " + string(d.p.Protocol))
}

// fraction returns where the number lies in [Lo, Hi].
func (d *Device) fraction(v collect.Value) float64 {
	q := &d.p.Declaration
	return geometry.Fraction(geometry.Number(v, d.p.Null(), q.Lo, q.Hi), q.Lo, q.Hi)
}

// leaf returns which of n buckets of [Lo, Hi] the number lies in.
func (d *Device) leaf(v collect.Value, n uint64) uint64 {
	q := &d.p.Declaration
	return geometry.Leaf(geometry.Number(v, d.p.Null(), q.Lo, q.Hi), q.Lo, q.Hi, n)
}

// position returns where the number lies, in units from Lo: within 8 standard deviations of the
// range of the mean, a standard deviation being at most scales units.
func (d *Device) position(v collect.Value, unit, scales float64) float64 {
	x := geometry.Number(v, d.p.Null(), math.Inf(-1), math.Inf(1))
	return geometry.Position(x, d.p.Declaration.Lo, unit, d.p.Derived.Range, geometry.Margin*scales)
}

// known is the code of LDP_KV*: a residue, or a side of round 1's centre or of a lattice.
func (d *Device) known(c collect.Cell, t float64) uint64 {
	switch {
	case c.Randomiser == collect.KRR:
		return geometry.Residue(t, c.Level)
	case d.p.Protocol == collect.LDPKV1:
		return one(geometry.Above(t, c.Offset))
	}
	return one(t >= d.p.Published.Centre[0])
}

// unknown is the code of LDP_UV*: a residue, or the place in round 1's window.
func (d *Device) unknown(c collect.Cell, t float64) uint64 {
	if c.Randomiser == collect.KRR {
		return geometry.Residue(t, c.Level)
	}
	centre, width := d.p.Published.Centre[0], d.p.Published.Width
	return geometry.Steps(geometry.Fraction(t, centre-width, centre+width), c.Domain)
}

func block(leaf uint64, level int) uint64 {
	v, side := geometry.Block(leaf, level)
	return 2*v + one(side < 0)
}

// rotatedLeaf returns the tree of rounds 1 and 2 of both *_SCM3 and the contributor's leaf in it:
// of a coordinate of the rotated vector, or the bucket of its distance from the centre.
func (d *Device) rotatedLeaf(c collect.Cell, v collect.Value) (levels int, leaf uint64) {
	if d.p.Round == 1 {
		q := &d.p.Derived
		return q.BoxLevels, geometry.Leaf(d.rotated(v)[c.Coordinate], -q.Box, q.Box, geometry.Leaves(q.BoxLevels))
	}
	return geometry.BucketLevels, d.buckets.Of(geometry.Norm(d.shifted(v)))
}

// rotated returns the clean vector, clipped to the ball and rotated.
func (d *Device) rotated(v collect.Value) []float64 {
	x := geometry.Vector(v, d.p.Null(), d.p.Declaration.Dimension)
	geometry.Clip(x, d.p.Derived.Ball)
	return d.rotation.Apply(x)
}

// shifted returns the rotated vector less the published centre.
func (d *Device) shifted(v collect.Value) []float64 {
	x := d.rotated(v)
	geometry.Shift(x, d.p.Published.Centre)
	return x
}

func one(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
