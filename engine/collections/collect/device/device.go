package device

import (
	"math"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/geometry"
	"scrim/internal/refuse"
)

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
