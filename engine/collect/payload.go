package collect

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// PayloadSize returns the bytes of a cell's payloads, 0 for BUNDLE:
//
//	BRR, BITMEAN  1          0 or 1
//	KRR           2          the value, below Domain
//	OUE           ⌈D/8⌉      bit v is bit 7 - v mod 8 of byte v/8; the rest 0
//	HRR           3+1        index below Domain, and 0 or 1
//	DLAP          8          the number, two's complement
//	SPHERE        16+1       seed, and 0 or 1
//	DGAUSS        4 a coordinate, two's complement
//
// All integers are big-endian.
func (c Cell) PayloadSize() int {
	switch c.Randomiser {
	case BRR, BitMean:
		return 1
	case KRR:
		return 2
	case OUE:
		return int((c.Domain + 7) / 8)
	case HRR:
		return 4
	case DLAP:
		return 8
	case Sphere:
		return 17
	case DGAUSS:
		return int(4 * c.Domain)
	}
	return 0
}

// CheckPayload refuses a payload that no device makes from these parameters, or only with a
// probability below 1e-7: wrong length, a value outside of the randomiser's range, or a unary code
// with far too many or too few ones. c is a cell of p.
func (p *Params) CheckPayload(c Cell, payload []byte) error {
	if c.Randomiser == Bundle {
		return malformed("The collection takes reports through its shuffler only.")
	}
	if len(payload) != c.PayloadSize() {
		return malformed("The report has %d bytes, and those of its cell have %d.", HeaderSize+len(payload), HeaderSize+c.PayloadSize())
	}
	if !p.inRange(c, payload) {
		return malformed("The report holds a value outside of what %s of %d gives.", c.Randomiser, c.Domain)
	}
	return nil
}

func (p *Params) inRange(c Cell, b []byte) bool {
	switch c.Randomiser {
	case BRR, BitMean:
		return b[0] <= 1
	case KRR:
		return uint64(binary.BigEndian.Uint16(b)) < c.Domain
	case OUE:
		return unaryInRange(c, b)
	case HRR:
		return uint64(binary.BigEndian.Uint32(b)>>8) < c.Domain && b[3] <= 1
	case DLAP:
		return magnitude(int64(binary.BigEndian.Uint64(b))) <= p.laplaceLimit(c)
	case Sphere:
		return b[16] <= 1
	default:
		return p.gaussInRange(b)
	}
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

// laplaceLimit returns M + 60M/ε: noise is beyond with probability e^-60.
func (p *Params) laplaceLimit(c Cell) uint64 {
	return c.Domain + 60*c.Domain*10_000/uint64(max(p.Declaration.Epsilon, 1))
}

// DrawLimit returns the largest size of a number in a payload of DLAP or DGAUSS, 0 for other cells.
// A device clamps what it draws to it, after the noise, so that no honest report is refused.
func (p *Params) DrawLimit(c Cell) int64 {
	switch c.Randomiser {
	case DLAP:
		return int64(p.laplaceLimit(c))
	case DGAUSS:
		return int64(p.gaussLimit())
	}
	return 0
}

func (p *Params) gaussLimit() uint64 {
	if p.kept != nil {
		return p.kept.gaussLimit
	}
	return gaussLimit(&p.Declaration)
}

func gaussLimit(d *Declaration) uint64 {
	v := Derived{Padded: padded(d.Dimension), Rho: rhoOf(d)}
	return v.gaussLimit()
}

// gaussInRange demands |v| <= S + 12σ of every coordinate.
func (p *Params) gaussInRange(b []byte) bool {
	limit := p.gaussLimit()
	for ; len(b) > 0; b = b[4:] {
		if magnitude(int64(int32(binary.BigEndian.Uint32(b)))) > limit {
			return false
		}
	}
	return true
}

// unaryInRange demands zeros beyond bit D-1, and from 64 bits on a number of ones within eight
// standard deviations of what every honest report has: 1/2 + (D-1)q.
func unaryInRange(c Cell, b []byte) bool {
	if over := c.Domain % 8; over != 0 && b[len(b)-1]<<over != 0 {
		return false
	}
	if c.Domain < 64 {
		return true
	}
	lo, hi := unaryOnes(c)
	n := 0
	for ; len(b) >= 8; b = b[8:] {
		n += bits.OnesCount64(binary.BigEndian.Uint64(b))
	}
	for _, x := range b {
		n += bits.OnesCount8(x)
	}
	return float64(n) >= lo && float64(n) <= hi
}

// unaryOnes returns the accepted numbers of ones: 1/2 + (D-1)q ± 8·sqrt(Dq(1-q) + 1/4). An honest
// report is outside with probability below 1e-7.
func unaryOnes(c Cell) (lo, hi float64) {
	d, q := float64(c.Domain), float64(c.Keep)/(1<<62)
	mean, room := 0.5+(d-1)*q, 8*math.Sqrt(d*q*(1-q)+0.25)
	return mean - room, mean + room
}
