package device

import (
	"encoding/binary"
	"fmt"

	"scrim/engine/collect"
	"scrim/engine/collect/exact"
	"scrim/internal/refuse"
)

// Report returns the report of value v in a cell of a round of the local model: randomised once, of a length
// that depends on the cell alone.
//
// Privacy: ε-DP with the declared ε; a DGAUSS cell is ρ-zCDP with the derived ρ.
func Report(r *exact.Rand, p *collect.Params, cell uint32, v collect.Value) ([]byte, error) {
	c, err := cellOf(p, cell, collect.Local)
	if err != nil {
		return nil, err
	}
	payload, err := payload(r, p, c, v)
	if err != nil {
		return nil, err
	}
	return p.EncodeReport(cell, payload), nil
}

// cellOf returns a cell of a round of the given model.
func cellOf(p *collect.Params, cell uint32, m collect.Model) (collect.Cell, error) {
	info, ok := p.Protocol.Info()
	if !ok || info.Model != m {
		return collect.Cell{}, refuse.New(refuse.CollectionParameter, "%s is not a protocol of the %s model.", p.Protocol, m)
	}
	c, ok := p.Cell(cell)
	if !ok {
		return collect.Cell{}, refuse.New(refuse.ClosedToken, "Round %d of %s has no cell %d.", p.Round, p.Collection, cell)
	}
	return c, nil
}

func payload(r *exact.Rand, p *collect.Params, c collect.Cell, v collect.Value) ([]byte, error) {
	switch c.Randomiser {
	case collect.Sphere:
		return sphere(r, p, c, v)
	case collect.DGAUSS:
		return gauss(r, p, c, v), nil
	}
	return randomise(r, p, c, code(p, c, v))
}

// randomise draws the payload of a code. The randomiser is made from ε; the cell's integer must be its own.
func randomise(r *exact.Rand, p *collect.Params, c collect.Cell, code uint64) ([]byte, error) {
	eps := p.Declaration.Epsilon
	switch c.Randomiser {
	case collect.BRR:
		b, err := exact.NewBinaryResponse(eps)
		return draw(c, b.Keep, err, func() []byte { return bit(b.Randomize(r, code == 1)) })
	case collect.BitMean:
		b, err := exact.NewBitMean(eps, c.Domain)
		return draw(c, b.Keep, err, func() []byte { return bit(b.Randomize(r, code)) })
	case collect.KRR:
		k, err := exact.NewKaryResponse(eps, c.Domain)
		return draw(c, k.Keep, err, func() []byte { return binary.BigEndian.AppendUint16(nil, uint16(k.Randomize(r, code))) })
	case collect.OUE:
		u, err := exact.NewUnaryEncoding(eps, c.Domain)
		return draw(c, u.Flip, err, func() []byte { return u.Randomize(r, code) })
	case collect.HRR:
		h, err := exact.NewHadamard(eps, c.Domain)
		return draw(c, h.Bit().Keep, err, func() []byte { return hadamard(h.Randomize(r, code&1 == 1, code>>1)) })
	case collect.DLAP:
		return laplace(r, p, c, code)
	}
	return nil, refuse.New(refuse.CollectionParameter, "%.20q is not a randomizer of %s.", string(c.Randomiser), p.Protocol)
}

// draw returns what a randomiser draws, if it could be made and its integer is the one that was published.
func draw(c collect.Cell, keep func() uint64, err error, report func() []byte) ([]byte, error) {
	if err != nil {
		return nil, fmt.Errorf("device: %w", err)
	}
	if keep() != c.Keep {
		return nil, refuse.New(refuse.CollectionParameter, "keep_num of cell %d is %d, and the declared epsilon needs %d.", c.Cell, c.Keep, keep()).
			With("Send nothing: the parameters promise more privacy than they give.")
	}
	return report(), nil
}

func bit(b bool) []byte {
	if b {
		return []byte{1}
	}
	return []byte{0}
}

// hadamard is three bytes of index and one of the bit.
func hadamard(index uint64, b bool) []byte {
	return append([]byte{byte(index >> 16), byte(index >> 8), byte(index)}, bit(b)...)
}

// laplace adds discrete Laplace noise of ratio exp(-ε/M) to a code in 0..M, which is ε-DP: the code moves by
// at most M. Sums beyond what the server accepts are brought to its limit, after the noise.
func laplace(r *exact.Rand, p *collect.Params, c collect.Cell, code uint64) ([]byte, error) {
	z, err := r.Laplace(uint64(p.Declaration.Epsilon), epsilonUnit*c.Domain)
	if err != nil {
		return nil, fmt.Errorf("device: %w", err)
	}
	return binary.BigEndian.AppendUint64(nil, uint64(noisy(int64(min(code, c.Domain)), z, p.DrawLimit(c)))), nil
}

// noisy returns x+z within ±limit; |x| <= limit. Bringing noise to ±2·limit first keeps the sum from wrapping, and
// changes nothing that the limit would not.
func noisy(x, z, limit int64) int64 {
	z = min(max(z, -2*limit), 2*limit)
	return min(max(x+z, -limit), limit)
}

// epsilonUnit is the denominator of exact.Epsilon.
const epsilonUnit = 10_000
