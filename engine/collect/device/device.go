package device

import (
	"scrim/engine/collect"
	"scrim/engine/collect/exact"
	"scrim/engine/collect/geometry"
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
