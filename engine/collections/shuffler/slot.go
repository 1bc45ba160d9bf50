package shuffler

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"

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
