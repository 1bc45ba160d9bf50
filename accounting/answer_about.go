package accounting

import (
	"encoding/binary"
	"time"
	"unicode/utf8"

	"scrim/accounting/internal/codec"
)

// StoredAnswer is what is told of a stored answer, besides the answer itself.
type StoredAnswer struct {
	ID        uint64    // grows with every answer that is stored
	At        time.Time // when it was released
	Principal string    // who paid
	Statement string    // redacted
	Digest    string
	Tables    []string // schema.table of what it reads
	Charge    uint64   // the record of the charge that paid; 0: not known
	Shared    bool     // the analysts of its tables find it, too

	// Found, not kept:
	Bytes int64 // that it takes of Options.AnswerBytes
	All   Uses  // by anybody
	Own   Uses  // by the principal who paid
}

// Uses are the replays of an answer since the ledger was opened.
type Uses struct {
	Hits uint64
	Last time.Time // zero: none
}

// maxAnswerStatement is how many bytes of a statement are kept with an answer.
const maxAnswerStatement = 2 << 10

// clipAnswer cuts a text to that, at a character's edge.
func clipAnswer(s string) string {
	if len(s) <= maxAnswerStatement {
		return s
	}
	n := maxAnswerStatement
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// encode writes what is kept with an answer:
//
//	version u8 = 1, id u64, unix nanos i64, principal, statement, digest, n uvarint, n × table, record of the charge u64, shared u8
func (s *StoredAnswer) encode() []byte {
	b := binary.BigEndian.AppendUint64([]byte{1}, s.ID)
	b = binary.BigEndian.AppendUint64(b, uint64(s.At.UnixNano()))
	b = codec.AppendText(codec.AppendText(codec.AppendText(b, s.Principal), clipAnswer(s.Statement)), s.Digest)
	b = binary.BigEndian.AppendUint64(codec.AppendTexts(b, s.Tables), s.Charge)
	return codec.AppendBool(b, s.Shared)
}

// decodeAbout is encode's inverse; false for an answer of which nothing is told.
func decodeAbout(b []byte) (s StoredAnswer, ok bool) {
	d := codec.NewDecoder(b)
	if d.Byte() != 1 {
		return s, false
	}
	s.ID = d.Uint64()
	s.At = time.Unix(0, int64(d.Uint64())).UTC()
	s.Principal, s.Statement, s.Digest = d.Text(), d.Text(), d.Text()
	s.Tables = d.Texts()
	s.Charge, s.Shared = d.Uint64(), d.Bool()
	return s, !d.Bad
}

// AnswerFilter chooses stored answers. Zero fields choose all.
type AnswerFilter struct {
	Principal string
	Before    uint64 // only answers whose place in the order of eviction is less; see StoredAnswers
	Limit     int    // at most so many
}
