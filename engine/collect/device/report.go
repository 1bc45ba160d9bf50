package device

import (
	"encoding/binary"
	"fmt"

	"scrim/engine/collect"
	"scrim/engine/collect/exact"
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
