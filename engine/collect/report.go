package collect

import (
	"bytes"
	"encoding/binary"

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
