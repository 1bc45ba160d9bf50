package accounting

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/internal/boltfile"
	"scrim/accounting/internal/chain"
	"scrim/accounting/internal/codec"
	"scrim/accounting/internal/invalid"
)

// maxAnswerKey bounds the key of a stored answer. Callers use digests.
const maxAnswerKey = 1024

// PutAnswer keeps value under key, replacing what was there. It does not wait for the disk: an
// answer may be lost in a crash, which costs its next asker a new charge and nothing else. The
// oldest answers make room. It refuses keys that are empty or longer than 1024 bytes and values
// that alone exceed the limit. Nothing is told of it: StoredAnswers does not list it.
func (l *Ledger) PutAnswer(key, value []byte) error { return l.putAnswer(key, nil, value) }

// KeepAnswer is PutAnswer of an answer that StoredAnswers lists. The ID is given here.
func (l *Ledger) KeepAnswer(key, value []byte, about StoredAnswer) error {
	l.answers.mu.Lock()
	l.answers.lastID++
	about.ID = l.answers.lastID
	l.answers.mu.Unlock()
	return l.putAnswer(key, about.encode(), value)
}

func (l *Ledger) putAnswer(key, about, value []byte) error {
	if len(key) == 0 || len(key) > maxAnswerKey {
		return invalid.New("answer key: want 1 to %d bytes, have %d", maxAnswerKey, len(key))
	}
	if n := int64(len(key) + len(about) + len(value)); n > l.answers.limit {
		return invalid.New("answer: want at most %d bytes, have %d", l.answers.limit, n)
	}
	body := binary.BigEndian.AppendUint32(nil, uint32(len(about)))
	p := answerPut{bytes.Clone(key), append(append(body, about...), value...)}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault != nil {
		return l.fault
	}
	l.answers.mu.Lock()
	l.answers.pending[string(key)] = p.value
	l.answers.mu.Unlock()
	l.next.answers = append(l.next.answers, p)
	l.later()
	return nil
}

// Answer returns a copy of the value kept under key.
func (l *Ledger) Answer(key []byte) ([]byte, bool) {
	v, _, ok := l.Recall(key)
	return v, ok
}

// Recall is Answer with what is told of the answer, the zero value where that is nothing.
func (l *Ledger) Recall(key []byte) (value []byte, about StoredAnswer, ok bool) {
	e, ok := l.entry(key)
	if !ok {
		return nil, about, false
	}
	told, value, ok := splitAnswer(e)
	if !ok {
		return nil, about, false
	}
	about, _ = decodeAbout(told)
	return value, about, true
}

// entry returns a copy of what is stored under key, or on its way there: its first bytes, sequence
// and checksum, mean nothing.
func (l *Ledger) entry(key []byte) ([]byte, bool) {
	if len(key) == 0 || len(key) > maxAnswerKey || l.Err() != nil {
		return nil, false
	}
	l.answers.mu.Lock()
	v, ok := l.answers.pending[string(key)]
	l.answers.mu.Unlock()
	if ok {
		return append(make([]byte, answerOverhead-aboutLength), v...), true
	}
	err := boltfile.Guard(func() error {
		return l.db.View(func(tx *bolt.Tx) error {
			e := tx.Bucket(answersBucket).Get(key)
			if len(e) >= answerOverhead && answerSum(key, e[8+sha256.Size:]) == chain.Sum(e[8:8+sha256.Size]) {
				v, ok = bytes.Clone(e), true
			}
			return nil
		})
	})
	return v, ok && err == nil
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
		err := boltfile.Guard(func() error {
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

// Replay says that a stored answer was given again.
type Replay struct {
	Key                          []byte // of the answer
	Principal, Statement, Digest string // who got it, and the redacted statement that asked
	Owner                        string // the principal that the answer was released to
	Accounts                     []string
	Charge                       uint64 // the record of the charge that paid for it; 0: not known
}

// Reused counts a replay. The first of an answer to a principal in an hour of the clock writes an
// entry that names the charge which paid (Replayed); the others only count. So a dashboard that
// asks every second for a year writes 8,760 entries, not 31 million, and the ledger still tells who
// saw which answer in which hour. Counts are lost at a restart, entries are not. It does not wait
// and does not fail.
func (l *Ledger) Reused(r Replay) {
	now := l.now()
	l.answers.mu.Lock()
	u := l.answers.uses[string(r.Key)]
	if u == nil {
		u = new(use)
		if l.answers.uses == nil {
			l.answers.uses = map[string]*use{}
		}
		l.answers.uses[string(r.Key)] = u
	}
	u.all, u.recent = Uses{u.all.Hits + 1, now.UTC()}, true
	if r.Principal == r.Owner {
		u.own = Uses{u.own.Hits + 1, now.UTC()}
	}
	first := l.answers.log.first(now, r.Principal, r.Key)
	l.answers.mu.Unlock()
	if first {
		l.Replayed(r.Principal, r.Statement, r.Digest, r.Charge, r.Accounts)
	}
}

// StoredAnswer describes a stored answer, without the answer itself.
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

// decodeAbout is encode's inverse. ok is false for an answer without a description.
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

// replayHour is the time in which the replays of one answer to one principal share an entry.
const replayHour = time.Hour

// use is what is remembered of an answer's replays: of all, and of those to the principal that it
// was released to.
type use struct {
	all, own Uses
	recent   bool // since it was last passed over by eviction
}

// replayLog remembers which replays the current hour has recorded.
type replayLog struct {
	hour int64
	seen map[chain.Sum]bool
}

// first reports whether a replay is the first of its hour, and remembers it.
func (g *replayLog) first(now time.Time, principal string, key []byte) bool {
	if hour := now.UnixNano() / int64(replayHour); hour != g.hour || g.seen == nil {
		g.hour, g.seen = hour, map[chain.Sum]bool{}
	}
	b := binary.BigEndian.AppendUint64(nil, uint64(len(principal)))
	id := sha256.Sum256(append(append(b, principal...), key...))
	if g.seen[id] {
		return false
	}
	g.seen[id] = true
	return true
}

// used tells of an answer's replays.
func (a *answerStore) used(key string) (all, own Uses) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if u := a.uses[key]; u != nil {
		return u.all, u.own
	}
	return Uses{}, Uses{}
}

// spared reports whether an answer was used since eviction last came to it, and forgets that.
func (a *answerStore) spared(key string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	u := a.uses[key]
	if u == nil || !u.recent {
		return false
	}
	u.recent = false
	return true
}

// DefaultAnswerBytes bounds the stored answers when Options does not.
const DefaultAnswerBytes = 64 << 20

// readChunk is how many records one read transaction visits. A writer may have to wait for readers
// when the file grows, so none is kept open for long.
const readChunk = 1000

// answerStore keeps released answers, so that asking again costs nothing. It is a cache: an answer
// that is lost or does not match its checksum is only not found. Answers are post-processed
// releases and carry no loss of their own.
//
// The oldest answers make room for new ones. One that was replayed since eviction last came to it
// is passed over once, and counts as new.
type answerStore struct {
	limit int64

	mu sync.Mutex
	// put, not yet written: as they will be, without sequence and checksum
	pending map[string][]byte
	size    int64 // of what is on disk
	lastSeq uint64
	lastID  uint64
	uses    map[string]*use // by key, of those that were replayed
	log     replayLog
}

// answerPut is an answer on its way to the disk: its description (StoredAnswer) and its value.
type answerPut struct{ key, value []byte }

// answerOverhead is the part of an entry before the description and the value: sequence number,
// checksum, and the length of the former.
const (
	answerOverhead = 8 + sha256.Size + aboutLength
	aboutLength    = 4
)

// maxSpared is how many answers one eviction passes over.
const maxSpared = 8

func answerSum(key, value []byte) chain.Sum {
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(key))))
	h.Write(key)
	h.Write(value)
	return chain.Sum(h.Sum(nil))
}

// write puts answers into tx and evicts the oldest ones beyond the limit. Only the committer calls
// it.
func (a *answerStore) write(tx *bolt.Tx, puts []answerPut) error {
	if len(puts) == 0 {
		return nil
	}
	a.mu.Lock()
	w := answerWriter{a, tx.Bucket(answersBucket), tx.Bucket(orderBucket), a.size, a.lastSeq}
	a.mu.Unlock()
	for _, p := range puts {
		if err := w.drop(p.key); err != nil {
			return err
		}
		if err := w.put(p.key, p.value); err != nil {
			return err
		}
		if err := w.evict(); err != nil {
			return err
		}
	}
	a.mu.Lock()
	a.size, a.lastSeq = w.size, w.seq
	a.mu.Unlock()
	return nil
}

// answerWriter changes the two buckets together.
type answerWriter struct {
	*answerStore
	answers, order *bolt.Bucket
	size           int64
	seq            uint64
}

// put adds an answer that is not there, as the newest.
func (w *answerWriter) put(key, body []byte) error {
	w.seq++
	n := binary.BigEndian.AppendUint64(nil, w.seq)
	h := answerSum(key, body)
	e := append(append(bytes.Clone(n), h[:]...), body...)
	if err := w.answers.Put(key, e); err != nil {
		return err
	}
	w.size += answerSize(key, e)
	return w.order.Put(n, key)
}

// drop removes an answer, if it is there.
func (w *answerWriter) drop(key []byte) error {
	e := w.answers.Get(key)
	if len(e) < answerOverhead {
		return nil
	}
	w.size -= answerSize(key, e)
	if err := w.order.Delete(bytes.Clone(e[:8])); err != nil {
		return err
	}
	return w.answers.Delete(key)
}

// evict makes room: the oldest go, but those that were replayed of late become the newest.
func (w *answerWriter) evict() error {
	for spared := 0; w.size > w.limit; {
		_, oldest := w.order.Cursor().First()
		if oldest == nil {
			return nil
		}
		key := bytes.Clone(oldest)
		body := []byte(nil)
		if spared < maxSpared && w.spared(string(key)) {
			body = bytes.Clone(w.answers.Get(key)[8+sha256.Size:])
			spared++
		} else {
			w.forget(string(key))
		}
		if err := w.drop(key); err != nil {
			return err
		}
		if body != nil {
			if err := w.put(key, body); err != nil {
				return err
			}
		}
	}
	return nil
}

// forget drops what is remembered of an answer that is gone.
func (a *answerStore) forget(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.uses, key)
}

// written forgets the pending answers that are now on disk, unless a newer one has come.
func (a *answerStore) written(puts []answerPut) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range puts {
		if v, ok := a.pending[string(p.key)]; ok && sameSlice(v, p.value) {
			delete(a.pending, string(p.key))
		}
	}
}

// sameSlice reports whether two slices are one, not merely equal; empty ones always are.
func sameSlice(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// load counts what is on disk. Every answer must stand in both buckets.
func (a *answerStore) load(tx *bolt.Tx) error {
	answers, order := tx.Bucket(answersBucket), tx.Bucket(orderBucket)
	n := 0
	err := order.ForEach(func(k, key []byte) error {
		e := answers.Get(key)
		if len(k) != 8 || len(e) < answerOverhead || !bytes.Equal(e[:8], k) {
			return fmt.Errorf("stored answers do not match their order")
		}
		n++
		a.size += answerSize(key, e)
		a.lastSeq = binary.BigEndian.Uint64(k)
		if about, _, ok := splitAnswer(e); ok {
			if s, ok := decodeAbout(about); ok {
				a.lastID = max(a.lastID, s.ID)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return answers.ForEach(func(_, _ []byte) error {
		if n--; n < 0 {
			return fmt.Errorf("stored answers do not match their order")
		}
		return nil
	})
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

// splitAnswer divides a stored entry into its description and its value.
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

// answerSize is the size of an entry in bytes: its key, its description and its value.
func answerSize(key, e []byte) int64 { return int64(len(key) + len(e) - answerOverhead) }
