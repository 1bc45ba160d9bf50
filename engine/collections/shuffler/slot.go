package shuffler

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"

	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/seal"
	"scrim/internal/durable"
	"scrim/internal/refuse"
)

// errClosed is the answer of a shuffler that has been closed.
var errClosed = errors.New("shuffler: closed")

// request is a bundle that waits for its answer.
type request struct {
	hash   [32]byte // of the token
	digest [32]byte // of token and bundle
	sealed []byte   // its messages
	answer error
	done   chan struct{} // closed when there is one
}

// slot is a place with its batches. One goroutine owns them: bundles and what the operator asks for
// come one after another.
type slot struct {
	s     *Shuffler
	place place
	pin   *pin
	queue chan *request
	ask   chan func()

	open    *batch            // nil until the first bundle
	number  uint32            // of the open batch, or of the next one
	held    map[uint32]*batch // closed, and not yet acknowledged
	ended   bool
	reports atomic.Uint64 // of the open batch
	over    atomic.Bool   // ended, for those who look
}

func newSlot(s *Shuffler, p place, of *pin) *slot {
	return &slot{s: s, place: p, pin: of, number: 1, held: map[uint32]*batch{}, queue: make(chan *request, 1024), ask: make(chan func())}
}

// gathered bounds what one transaction takes: requests, and bytes.
const (
	gathered      = 4096
	gatheredBytes = 64 << 20
)

// run is the slot's goroutine. While one transaction is written others wait in the queue, and share
// the next one.
func (t *slot) run() {
	defer t.s.running.Done()
	defer t.closeFiles()
	if err := t.closeFull(); err != nil { // one that a crash has left
		t.s.log.Error().Err(err).Msg("a full batch could not be closed")
	}
	for {
		select {
		case <-t.s.quit:
			return
		case f := <-t.ask:
			f()
		case first := <-t.queue:
			t.take(t.gather(first))
		}
	}
}

func (t *slot) gather(first *request) []*request {
	list, bytes := []*request{first}, len(first.sealed)
	for len(list) < gathered && bytes < gatheredBytes {
		select {
		case r := <-t.queue:
			list, bytes = append(list, r), bytes+len(r.sealed)
		default:
			return list
		}
	}
	return list
}

// take answers requests. A batch that is full is closed before any token is looked at: which of
// them are spent is known from closed batches and from the open one, and must not change in
// between.
func (t *slot) take(list []*request) {
	rest, err := list, t.closeFull()
	for err == nil {
		var fresh []*request
		if fresh, err = t.unspent(rest); err != nil {
			break
		}
		if rest = fresh; len(rest) == 0 {
			break
		}
		var n int
		if n, err = t.store(rest); err != nil {
			break
		}
		rest = rest[n:]
		err = t.closeFull()
	}
	if err != nil {
		t.s.log.Error().Err(err).Msg("bundles could not be stored")
		for _, r := range rest {
			r.answer = err
		}
	}
	for _, r := range list {
		close(r.done)
	}
}

// closeFull closes the open batch if it is full.
func (t *slot) closeFull() error {
	if t.open == nil || t.open.n < t.s.limit(t.pin) {
		return nil
	}
	_, err := t.close(closing{})
	return err
}

// unspent answers the requests whose tokens have reported to closed batches, and returns the others
// in the order of their tokens' hashes.
func (t *slot) unspent(list []*request) (fresh []*request, err error) {
	err = t.s.db.View(func(tx *bolt.Tx) error {
		for _, r := range list {
			switch _, batch, ok := tokenAt(tx, r.hash); {
			case !ok:
				r.answer = unknownToken()
			case batch != 0:
				r.answer = t.again(r, batch)
			default:
				fresh = append(fresh, r)
			}
		}
		return nil
	})
	slices.SortStableFunc(fresh, func(a, b *request) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	return fresh, err
}

// again answers a request whose token has reported to a batch.
func (t *slot) again(r *request, batch uint32) error {
	if b := t.held[batch]; b != nil {
		return sameDigest(b.digest(r.hash), r.digest)
	}
	return spentToken()
}

// sameDigest is the answer to a bundle whose token has brought one before: the same one again is
// harmless.
func sameDigest(before []byte, now [32]byte) error {
	if bytes.Equal(before, now[:]) {
		return nil
	}
	return spentToken()
}

// store puts bundles into the open batch and returns how many of the list it has answered.
func (t *slot) store(list []*request) (n int, err error) {
	if t.ended {
		for _, r := range list {
			if r.answer = t.closed(); t.open != nil {
				if d := t.open.digest(r.hash); d != nil {
					r.answer = sameDigest(d, r.digest)
				}
			}
		}
		return len(list), nil
	}
	if t.open == nil {
		if t.open, err = t.s.openBatch(t.place, t.number); err != nil {
			return 0, err
		}
	}
	if n, err = t.open.add(list, t.s.limit(t.pin)-t.open.n); err != nil {
		return 0, err
	}
	t.reports.Store(t.open.n)
	t.s.at("accepted")
	return n, nil
}

// closed says that a place takes no bundles any more.
func (t *slot) closed() error {
	return refuse.New(refuse.ClosedToken, "The token is of round %d, which is closed at this shuffler.", t.place.round).
		With("Nothing is to be sent.")
}

// submit hands a request over and waits for its answer. Who gives up waiting may have been
// accepted.
func (t *slot) submit(ctx context.Context, r *request) error {
	select {
	case t.queue <- r:
	case <-t.s.quit:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-r.done:
		return r.answer
	case <-t.s.stopped:
		select {
		case <-r.done:
			return r.answer
		default:
			return errClosed
		}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// do runs f in the slot's goroutine and waits for it.
func (t *slot) do(f func() error) error {
	done := make(chan error, 1)
	select {
	case t.ask <- func() { done <- f() }:
	case <-t.s.quit:
		return errClosed
	}
	select {
	case err := <-done:
		return err
	case <-t.s.stopped:
		return errClosed
	}
}

func (t *slot) closeFiles() {
	if t.open != nil {
		t.open.db.Close()
	}
	for _, b := range t.held {
		b.db.Close()
	}
}

// tokenAt reads a token's place and the batch that it has reported to, 0 for none.
func tokenAt(tx *bolt.Tx, hash [32]byte) (p place, batch uint32, ok bool) {
	v := tx.Bucket(bucketTokens).Get(hash[:])
	if len(v) != placeSize+4 {
		return p, 0, false
	}
	return placeOf(v), binary.BigEndian.Uint32(v[placeSize:]), true
}

// bucketBundles is the one bucket of a batch's file: SHA-256(token) -> SHA-256(token | bundle),
// sealed messages. Its sequence is the number of its entries.
var bucketBundles = []byte("bundles")

// batch is a batch whose bundles are there.
type batch struct {
	number uint32
	path   string // without a suffix
	db     *bolt.DB
	n      uint64 // reports
}

// openBatch opens a batch's file, or makes it. Its name is durable before anything is in it.
func (s *Shuffler) openBatch(p place, number uint32) (*batch, error) {
	b := &batch{number: number, path: filepath.Join(s.dir, batchesDir, p.file(number))}
	var err error
	if b.db, err = openBolt(b.path + suffixStore); err != nil {
		return nil, err
	}
	err = b.db.Update(func(tx *bolt.Tx) error {
		bundles, err := tx.CreateBucketIfNotExists(bucketBundles)
		if err == nil {
			b.n = bundles.Sequence()
		}
		return err
	})
	if err == nil {
		err = durable.SyncDir(filepath.Dir(b.path))
	}
	if err != nil {
		b.db.Close()
		return nil, err
	}
	return b, nil
}

// digest returns what a token brought to the batch; nil if nothing.
func (b *batch) digest(hash [32]byte) (digest []byte) {
	_ = b.db.View(func(tx *bolt.Tx) error {
		if v := tx.Bucket(bucketBundles).Get(hash[:]); v != nil {
			digest = bytes.Clone(v[:sha256.Size])
		}
		return nil
	})
	return digest
}

// add puts in the bundles of tokens that are not there, as many as there is room for, and returns
// how many of the list it has looked at. Those whose token is there with another digest get an
// error in answers. All of it is one transaction.
func (b *batch) add(list []*request, room uint64) (looked int, err error) {
	added := uint64(0)
	err = b.db.Update(func(tx *bolt.Tx) error {
		bundles := tx.Bucket(bucketBundles)
		looked, added = 0, 0
		for _, r := range list {
			if v := bundles.Get(r.hash[:]); v != nil {
				r.answer = sameDigest(v[:sha256.Size], r.digest)
			} else if added == room {
				break
			} else {
				added++
				if err := bundles.Put(r.hash[:], append(r.digest[:], r.sealed...)); err != nil {
					return err
				}
			}
			looked++
		}
		return bundles.SetSequence(b.n + added)
	})
	if err == nil {
		b.n += added
	}
	return looked, err
}

// each calls f for every token, in the order of hashes.
func (b *batch) each(f func(hash, sealed []byte) error) error {
	return b.db.View(func(tx *bolt.Tx) error {
		return tx.Bucket(bucketBundles).ForEach(func(k, v []byte) error { return f(k, v[sha256.Size:]) })
	})
}

// erase closes and deletes the batch's files.
func (b *batch) erase() error {
	err := b.db.Close()
	for _, suffix := range []string{suffixBag, suffixStore} {
		err = errors.Join(err, durable.Remove(b.path+suffix))
	}
	return errors.Join(err, durable.SyncDir(filepath.Dir(b.path)))
}

// writeBag permutes the batch's messages into its bag, durably. most bounds the messages of one
// bundle.
func (s *Shuffler) writeBag(b *batch, most int) (messages uint64, digest []byte, err error) {
	piles, err := newScatter(exact.Secure(), filepath.Dir(b.path), int64(b.n)*int64(most)*int64(seal.SealedSize), s.memory)
	if err != nil {
		return 0, nil, err
	}
	defer piles.close()
	if err := b.each(func(_, sealed []byte) error {
		messages += uint64(len(sealed) / seal.SealedSize)
		return piles.add(sealed)
	}); err != nil {
		return 0, nil, err
	}
	h := sha256.New()
	err = durable.Replace(b.path+suffixBag, 0o600, func(w io.Writer) error { return piles.writeTo(io.MultiWriter(w, h)) })
	if err != nil {
		return 0, nil, err
	}
	return messages, h.Sum(nil), nil
}

// checkBag compares a bag on disk with what was recorded of it. A bag that changed is not sent: the
// server would have parts of two.
func checkBag(path string, r Record) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return err
	}
	if uint64(n) != r.Messages*uint64(seal.SealedSize) || !bytes.Equal(h.Sum(nil), r.Digest) {
		return fmt.Errorf("shuffler: the bag %s is damaged: SHA-256 is %s, want %s", path, hex.EncodeToString(h.Sum(nil)), hex.EncodeToString(r.Digest))
	}
	return nil
}
