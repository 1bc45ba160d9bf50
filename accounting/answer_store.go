package accounting

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/internal/chain"
)

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
