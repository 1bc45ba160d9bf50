package accounting

import (
	"context"
	"encoding/binary"
	"time"
	"unicode/utf8"

	bolt "go.etcd.io/bbolt"

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

// StoredAnswers lists what is stored, what goes last first, and the place of the last one looked
// at, for the Before of the next call: 0 when there is no more. An answer that was put within the
// last moment may be missing.
func (l *Ledger) StoredAnswers(ctx context.Context, f AnswerFilter) (out []StoredAnswer, next uint64, err error) {
	if err := l.Err(); err != nil {
		return nil, 0, err
	}
	if f.Limit <= 0 {
		f.Limit = readChunk
	}
	next = f.Before
	for more := true; more && len(out) < f.Limit; {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		err := guard(func() error {
			return l.db.View(func(tx *bolt.Tx) error {
				more = l.answers.page(tx, f, &out, &next)
				return nil
			})
		})
		if err != nil {
			return nil, 0, err
		}
		if !more {
			next = 0
		}
	}
	return out, next, nil
}

// page looks at up to readChunk answers before the place next.
func (a *answerStore) page(tx *bolt.Tx, f AnswerFilter, out *[]StoredAnswer, next *uint64) (more bool) {
	answers, c := tx.Bucket(answersBucket), tx.Bucket(orderBucket).Cursor()
	k, key := c.Last()
	if *next > 0 {
		if k, key = c.Seek(binary.BigEndian.AppendUint64(nil, *next)); k == nil {
			k, key = c.Last()
		}
		for k != nil && binary.BigEndian.Uint64(k) >= *next {
			k, key = c.Prev()
		}
	}
	for range readChunk {
		if k == nil {
			return false
		}
		if len(*out) >= f.Limit {
			return true
		}
		*next = binary.BigEndian.Uint64(k)
		e := answers.Get(key)
		if about, _, ok := splitAnswer(e); ok {
			if s, ok := decodeAbout(about); ok && (f.Principal == "" || f.Principal == s.Principal) {
				s.Bytes = answerSize(key, e)
				s.All, s.Own = a.used(string(key))
				*out = append(*out, s)
			}
		}
		k, key = c.Prev()
	}
	return k != nil
}

// splitAnswer divides a stored entry into what is told of it and the value.
func splitAnswer(e []byte) (about, value []byte, ok bool) {
	if len(e) < answerOverhead {
		return nil, nil, false
	}
	body := e[answerOverhead-aboutLength:]
	n := uint64(binary.BigEndian.Uint32(body))
	if n > uint64(len(body)-aboutLength) {
		return nil, nil, false
	}
	return body[aboutLength : aboutLength+n], body[aboutLength+n:], true
}

// answerSize is what an entry counts: its key, its value and what is told of it.
func answerSize(key, e []byte) int64 { return int64(len(key) + len(e) - answerOverhead) }
