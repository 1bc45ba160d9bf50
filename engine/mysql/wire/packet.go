package wire

import (
	"encoding/binary"
)

// Facts of the MySQL client/server protocol.
const (
	headerSize = 4
	maxPayload = 1<<24 - 1

	sslRequestSize  = 32
	protocolVersion = 10
	saltSize        = 20

	packetOK         = 0x00
	packetMore       = 0x01
	packetNull       = 0xfb
	packetLocalFile  = 0xfb
	packetEOF        = 0xfe
	packetAuthSwitch = 0xfe
	packetErr        = 0xff
)

// Capabilities.
const (
	capLongPassword   = 1 << 0
	capFoundRows      = 1 << 1
	capLongFlag       = 1 << 2
	capConnectWithDB  = 1 << 3
	capLocalFiles     = 1 << 7
	capProtocol41     = 1 << 9
	capInteractive    = 1 << 10
	capSSL            = 1 << 11
	capTransactions   = 1 << 13
	capSecureConn     = 1 << 15
	capMultiStatement = 1 << 16
	capMultiResults   = 1 << 17
	capPluginAuth     = 1 << 19
	capConnectAttrs   = 1 << 20
	capLongAuthData   = 1 << 21
	capDeprecateEOF   = 1 << 24
)

// offered is what the server can do; a connection can what both sides can.
const offered = capLongPassword | capFoundRows | capLongFlag | capConnectWithDB | capLocalFiles | capProtocol41 |
	capInteractive | capTransactions | capSecureConn | capMultiStatement | capMultiResults | capPluginAuth |
	capConnectAttrs | capLongAuthData | capDeprecateEOF

// statusMore tells that another result follows.
const statusMore = 1 << 3

// MySQL's error numbers for what goes wrong on the wire.
const (
	errTooMany      = 1040
	errBadHandshake = 1043
	errUnknownCmd   = 1047
	errTooLarge     = 1153
	errWrongArgs    = 1210
	errUnknownStmt  = 1243
	errNoCursor     = 1421
	errTooManyStmts = 1461
	errMalformed    = 1835
	errInsecure     = 3159
	errIdle         = 4031

	errNoMemory      = 1041
	errUnknown       = 1105
	errTooManyOfUser = 1203
	errUserLimit     = 1226
	errCapacity      = 3170
)

func payloadLength(header []byte) int {
	return int(header[0]) | int(header[1])<<8 | int(header[2])<<16
}

// appendError appends the payload of an ERR packet.
func appendError(b []byte, errno uint16, state, text string) []byte {
	if len(state) != 5 {
		state = "HY000"
	}
	b = append(b, packetErr)
	b = binary.LittleEndian.AppendUint16(b, errno)
	b = append(b, '#')
	b = append(b, state...)
	return append(b, text...)
}

// appendLength appends a length-encoded integer.
func appendLength(b []byte, n uint64) []byte {
	switch {
	case n < 251:
		return append(b, byte(n))
	case n < 1<<16:
		return append(b, 0xfc, byte(n), byte(n>>8))
	case n < 1<<24:
		return append(b, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	}
	return binary.LittleEndian.AppendUint64(append(b, 0xfe), n)
}

// appendText appends a length-encoded string.
func appendText[T ~string | ~[]byte](b []byte, s T) []byte {
	return append(appendLength(b, uint64(len(s))), s...)
}

// reader takes fields from a packet. Once it has run out of bytes it is bad, and gives zero values.
type reader struct {
	b   []byte
	bad bool
}

// bytes takes n bytes, which belong to the packet.
func (r *reader) bytes(n uint64) []byte {
	if r.bad || n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) uint8() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) uint16() uint16 {
	if b := r.bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (r *reader) uint32() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if b := r.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// length takes a length-encoded integer.
func (r *reader) length() uint64 {
	switch first := r.uint8(); first {
	case 0xfc:
		return uint64(r.uint16())
	case 0xfd:
		b := r.bytes(3)
		if b == nil {
			return 0
		}
		return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16
	case 0xfe:
		return r.uint64()
	case 0xfb, 0xff: // NULL and the mark of an error are no lengths
		r.bad = true
		return 0
	default:
		return uint64(first)
	}
}

// text takes a length-encoded string.
func (r *reader) text() []byte { return r.bytes(r.length()) }

// zeroText takes a string up to its zero byte.
func (r *reader) zeroText() string {
	for i, c := range r.b {
		if c == 0 {
			s := string(r.b[:i])
			r.b = r.b[i+1:]
			return s
		}
	}
	r.bad, r.b = true, nil
	return ""
}
