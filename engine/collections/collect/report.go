package collect

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"

	"scrim/engine/collections/collect/geometry"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// HeaderSize is the length of a report's header:
//
//	0    version, 1
//	1    protocol, Info.ID
//	2    round
//	3    0
//	4-7  cell, big-endian
//	8-15 first bytes of the fingerprint
//
// The payload follows. Its length depends on the cell only.
const HeaderSize = 16

// header returns the header of a cell's reports.
func (p *Params) header(cell uint32) (h [HeaderSize]byte) {
	info, _ := p.Protocol.Info()
	h[0], h[1], h[2] = Version, info.ID, byte(p.Round)
	binary.BigEndian.PutUint32(h[4:], cell)
	print := p.Fingerprint()
	copy(h[8:], print[:8])
	return h
}

// EncodeReport returns the bytes of a report of the local model. It does not check the payload.
func (p *Params) EncodeReport(cell uint32, payload []byte) []byte {
	h := p.header(cell)
	return append(append(make([]byte, 0, HeaderSize+len(payload)), h[:]...), payload...)
}

// DecodeReport returns the cell and the payload, a part of b, of a report that follows the
// parameters to the last bit: version, protocol, round, fingerprint, a cell of the round, the
// length, and the range of what it holds. Anything else is refused as MalformedReport. Reports are
// private already, so refusing some by what they say takes nothing from anybody.
func (p *Params) DecodeReport(b []byte) (cell uint32, payload []byte, err error) {
	if len(b) < HeaderSize {
		return 0, nil, malformed("A report of %d bytes has no header.", len(b))
	}
	cell = binary.BigEndian.Uint32(b[4:])
	if want := p.header(cell); !bytes.Equal(b[:HeaderSize], want[:]) {
		return 0, nil, p.wrongHeader(b, want)
	}
	c, ok := p.Cell(cell)
	if !ok {
		return 0, nil, malformed("The report is of cell %d, and the round has %d cells.", cell, len(p.Cells))
	}
	payload = b[HeaderSize:]
	if err := p.CheckPayload(c, payload); err != nil {
		return 0, nil, err
	}
	return cell, payload, nil
}

// wrongHeader says which part of a header is not as it should be.
func (p *Params) wrongHeader(b []byte, want [HeaderSize]byte) error {
	switch {
	case b[0] != want[0]:
		return malformed("The report is of version %d, and this server knows version %d.", b[0], want[0])
	case b[1] != want[1]:
		return malformed("The report is of another protocol than %s.", p.Protocol)
	case b[2] != want[2]:
		return malformed("The report is of round %d, and the parameters of round %d.", b[2], want[2])
	case b[3] != 0:
		return malformed("The report's fourth byte is not 0.")
	}
	return malformed("The report was made from other parameters: its fingerprint begins with %x, that of round %d with %x.", b[8:HeaderSize], p.Round, want[8:])
}

func malformed(format string, args ...any) *refuse.Error {
	return refuse.New(refuse.MalformedReport, format, args...)
}

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
	n += lists.Sum(b, bits.OnesCount8)
	return float64(n) >= lo && float64(n) <= hi
}

// unaryOnes returns the accepted numbers of ones: 1/2 + (D-1)q ± 8·sqrt(Dq(1-q) + 1/4). An honest
// report is outside with probability below 1e-7.
func unaryOnes(c Cell) (lo, hi float64) {
	d, q := float64(c.Domain), float64(c.Keep)/(1<<62)
	mean, room := 0.5+(d-1)*q, 8*math.Sqrt(d*q*(1-q)+0.25)
	return mean - room, mean + room
}

// Message is one message of the shuffle model before it is sealed:
//
//	0     version, 1
//	1     protocol, Info.ID
//	2-3   coordinate, big-endian
//	4-7   node of a tree
//	8-15  value, a share modulo 2^Bits
//
// The round is not in it: the seal binds the parameters' fingerprint.
type Message [16]byte

// NewMessage returns a message of a protocol that is one. Sums have coordinate and node 0; vectors
// their coordinate; trees a geometry.Node and value 0, and in round 1 of SHUF_SCM3 their cell's
// coordinate.
func NewMessage(p Protocol, coordinate uint16, node uint32, value uint64) (m Message) {
	info, _ := p.Info()
	m[0], m[1] = Version, info.ID
	binary.BigEndian.PutUint16(m[2:], coordinate)
	binary.BigEndian.PutUint32(m[4:], node)
	binary.BigEndian.PutUint64(m[8:], value)
	return m
}

// Coordinate returns the message's coordinate.
func (m Message) Coordinate() uint16 { return binary.BigEndian.Uint16(m[2:]) }

// Node returns the message's node.
func (m Message) Node() uint32 { return binary.BigEndian.Uint32(m[4:]) }

// Value returns the message's share.
func (m Message) Value() uint64 { return binary.BigEndian.Uint64(m[8:]) }

// CheckMessage refuses a message that no device makes from these parameters. A bag is private
// whatever is left out of it.
func (p *Params) CheckMessage(m Message) error {
	if p.Batch == nil {
		return malformed("%s has no messages.", p.Protocol)
	}
	info, _ := p.Protocol.Info()
	if m[0] != Version || m[1] != info.ID {
		return malformed("The message is of another version or protocol than %s.", p.Protocol)
	}
	ok := false
	if p.Batch.Levels > 0 {
		ok = m.Value() == 0 && uint64(m.Node()) < geometry.Nodes(p.Batch.Levels) && int(m.Coordinate()) < len(p.Cells) // which are in the order of coordinates
	} else {
		ok = m.Node() == 0 && m.Value()>>p.Batch.Bits == 0 && uint64(m.Coordinate()) < p.Cells[0].Domain
	}
	if !ok {
		return malformed("The message's coordinate, node or value is outside of the round's range.")
	}
	return nil
}

// CheckMessageOf is CheckMessage for a batch of one cell: a tree's message must be of its
// coordinate.
func (p *Params) CheckMessageOf(cell uint32, m Message) error {
	if err := p.CheckMessage(m); err != nil {
		return err
	}
	c, ok := p.Cell(cell)
	if !ok || p.Batch.Levels > 0 && int(m.Coordinate()) != c.Coordinate {
		return malformed("The message is of another cell.")
	}
	return nil
}

// Tree tells whether messages of the round name nodes of a tree, not shares of sums.
func (p *Params) Tree() bool { return p.Batch != nil && p.Batch.Levels > 0 }

// Messages returns how many messages a bundle has: exactly, or for trees at most, and by then
// padded to it.
func (p *Params) Messages() uint64 {
	switch {
	case p.Batch == nil:
		return 0
	case p.Tree():
		return p.Batch.Cap
	}
	return uint64(p.Batch.Shares) * p.Cells[0].Domain
}
