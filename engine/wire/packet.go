package wire

import (
	"bytes"
	"encoding/binary"
)

// Facts of the MySQL client/server protocol.
const (
	headerSize = 4
	maxPayload = 1<<24 - 1

	sslRequestSize = 32
	flagSSL        = 0x0800
	flagLocalFiles = 0x0080
	packetOK       = 0x00
	packetErr      = 0xff
	packetGreeting = 0x0a
	errTooMany     = 1040
	errInsecure    = 3159
)

func payloadLength(header []byte) int {
	return int(header[0]) | int(header[1])<<8 | int(header[2])<<16
}

// errorPacket builds an ERR packet without capabilities negotiated: errno, SQLSTATE, text.
func errorPacket(sequence byte, errno uint16, state, text string) []byte {
	body := append([]byte{packetErr}, byte(errno), byte(errno>>8), '#')
	body = append(body, state...)
	body = append(body, text...)
	n := len(body)
	return append([]byte{byte(n), byte(n >> 8), byte(n >> 16), sequence}, body...)
}

// textPacket builds a packet that is a text.
func textPacket(sequence byte, text string) []byte {
	n := len(text)
	return append([]byte{byte(n), byte(n >> 8), byte(n >> 16), sequence}, text...)
}

// adjustGreeting sets the capability flags of the server's greeting: TLS offered or not, and never
// LOAD DATA LOCAL. A greeting that does not parse is left as it is.
func adjustGreeting(payload []byte, tls bool) {
	if len(payload) == 0 || payload[0] != packetGreeting {
		return
	}
	end := bytes.IndexByte(payload[1:], 0)
	at := 1 + end + 1 + 4 + 8 + 1 // version, connection id, first salt part, filler
	if end < 0 || at+2 > len(payload) {
		return
	}
	flags := binary.LittleEndian.Uint16(payload[at:])
	flags &^= flagLocalFiles | flagSSL
	if tls {
		flags |= flagSSL
	}
	binary.LittleEndian.PutUint16(payload[at:], flags)
}

// wantsTLS reports whether a client's first packet asks to go on in TLS.
func wantsTLS(payload []byte) bool {
	return len(payload) >= 4 && binary.LittleEndian.Uint32(payload)&flagSSL != 0
}

// The texts of the protocol implementation for a prepared statement that does not parse. It answers
// with errno 1105 before any handler is asked.
var (
	unknownError = []byte("#HY000unknown error: syntax error")
	syntaxError  = []byte("#42000")
)

const errParse = 1064

// namesSyntaxErrors returns p, in which an ERR packet about a statement that does not parse carries
// MySQL's number and SQLSTATE for it. p may be a packet or only its payload.
func namesSyntaxErrors(p []byte) []byte {
	for _, at := range []int{0, headerSize} {
		if len(p) > at+3 && p[at] == packetErr && bytes.HasPrefix(p[at+3:], unknownError) {
			q := bytes.Clone(p)
			binary.LittleEndian.PutUint16(q[at+1:], errParse)
			copy(q[at+3:], syntaxError)
			return q
		}
	}
	return p
}
