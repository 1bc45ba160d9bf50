package accounting

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"

	bolt "go.etcd.io/bbolt"
)

// DefaultAnswerBytes bounds the stored answers when Options does not.
const DefaultAnswerBytes = 64 << 20

// maxAnswerKey bounds the key of a stored answer. Callers use digests.
const maxAnswerKey = 1024

// answerStore keeps released answers, so that asking again costs nothing. It is a cache: an answer that
// is lost or does not match its checksum is only not found. Answers are post-processed releases and
// carry no loss of their own.
type answerStore struct {
	limit int64

	mu      sync.Mutex
	pending map[string][]byte // put, not yet written
	size    int64             // of what is on disk
	lastSeq uint64
}

// answerPut is an answer on its way to the disk.
type answerPut struct{ key, value []byte }

// answerOverhead is the part of an entry before the value: sequence number and checksum.
const answerOverhead = 8 + sha256.Size

func answerSum(key, value []byte) sum {
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(key))))
	h.Write(key)
	h.Write(value)
	return sum(h.Sum(nil))
}

// PutAnswer keeps value under key, replacing what was there. It does not wait for the disk: an answer
// may be lost in a crash, which costs its next asker a new charge and nothing else. The oldest answers
// make room. It refuses keys that are empty or longer than 1024 bytes and values that alone exceed the
// limit.
func (l *Ledger) PutAnswer(key, value []byte) error {
	if len(key) == 0 || len(key) > maxAnswerKey {
		return invalid("answer key: want 1 to %d bytes, have %d", maxAnswerKey, len(key))
	}
	if n := int64(len(key) + len(value)); n > l.answers.limit {
		return invalid("answer: want at most %d bytes, have %d", l.answers.limit, n)
	}
	p := answerPut{bytes.Clone(key), bytes.Clone(value)}
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
	if len(key) == 0 || len(key) > maxAnswerKey || l.Err() != nil {
		return nil, false
	}
	l.answers.mu.Lock()
	v, ok := l.answers.pending[string(key)]
	l.answers.mu.Unlock()
	if ok {
		return bytes.Clone(v), true
	}
	err := guard(func() error {
		return l.db.View(func(tx *bolt.Tx) error {
			e := tx.Bucket(answersBucket).Get(key)
			if len(e) < answerOverhead {
				return nil
			}
			if value := e[answerOverhead:]; answerSum(key, value) == sum(e[8:answerOverhead]) {
				v, ok = bytes.Clone(value), true
			}
			return nil
		})
	})
	return v, ok && err == nil
}

// write puts answers into tx and evicts the oldest ones beyond the limit. Only the committer calls it.
func (a *answerStore) write(tx *bolt.Tx, puts []answerPut) error {
	if len(puts) == 0 {
		return nil
	}
	a.mu.Lock()
	size, seq := a.size, a.lastSeq
	a.mu.Unlock()
	answers, order := tx.Bucket(answersBucket), tx.Bucket(orderBucket)
	drop := func(key []byte) error {
		e := answers.Get(key)
		if len(e) < answerOverhead {
			return nil
		}
		size -= int64(len(key) + len(e) - answerOverhead)
		if err := order.Delete(bytes.Clone(e[:8])); err != nil {
			return err
		}
		return answers.Delete(key)
	}
	for _, p := range puts {
		if err := drop(p.key); err != nil {
			return err
		}
		seq++
		n := binary.BigEndian.AppendUint64(nil, seq)
		h := answerSum(p.key, p.value)
		if err := answers.Put(p.key, append(append(bytes.Clone(n), h[:]...), p.value...)); err != nil {
			return err
		}
		if err := order.Put(n, p.key); err != nil {
			return err
		}
		size += int64(len(p.key) + len(p.value))
		for size > a.limit {
			_, oldest := order.Cursor().First()
			if oldest == nil {
				break
			}
			if err := drop(bytes.Clone(oldest)); err != nil {
				return err
			}
		}
	}
	a.mu.Lock()
	a.size, a.lastSeq = size, seq
	a.mu.Unlock()
	return nil
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
		a.size += int64(len(key) + len(e) - answerOverhead)
		a.lastSeq = binary.BigEndian.Uint64(k)
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
