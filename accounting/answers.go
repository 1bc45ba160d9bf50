package accounting

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/internal/invalid"
)

// DefaultAnswerBytes bounds the stored answers when Options does not.
const DefaultAnswerBytes = 64 << 20

// maxAnswerKey bounds the key of a stored answer. Callers use digests.
const maxAnswerKey = 1024

// answerStore keeps released answers, so that asking again costs nothing. It is a cache: an answer
// that is lost or does not match its checksum is only not found. Answers are post-processed
// releases and carry no loss of their own.
//
// The oldest answers make room for new ones. One that was replayed since eviction last came to it
// is passed over once, and counts as new.
type answerStore struct {
	limit int64

	mu      sync.Mutex
	pending map[string][]byte // put, not yet written: as they will be, without sequence and checksum
	size    int64             // of what is on disk
	lastSeq uint64
	lastID  uint64
	uses    map[string]*use // by key, of those that were replayed
	log     replayLog
}

// answerPut is an answer on its way to the disk: what is told of it and the value.
type answerPut struct{ key, value []byte }

// answerOverhead is the part of an entry before what is told of it and the value: sequence number,
// checksum, and the length of the former.
const (
	answerOverhead = 8 + sha256.Size + aboutLength
	aboutLength    = 4
)

// maxSpared is how many answers one eviction passes over.
const maxSpared = 8

func answerSum(key, value []byte) sum {
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(key))))
	h.Write(key)
	h.Write(value)
	return sum(h.Sum(nil))
}

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
	err := guard(func() error {
		return l.db.View(func(tx *bolt.Tx) error {
			e := tx.Bucket(answersBucket).Get(key)
			if len(e) >= answerOverhead && answerSum(key, e[8+sha256.Size:]) == sum(e[8:8+sha256.Size]) {
				v, ok = bytes.Clone(e), true
			}
			return nil
		})
	})
	return v, ok && err == nil
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
