package shuffler

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"scrim/internal/durable"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// partMessages is how many messages a part of a bag holds: 4 MiB, which a server opens in some
// seconds.
const partMessages = 1 << 16

// closing says how a batch is closed.
type closing struct {
	destroy bool // one that is too small; else it stays open
	end     bool // no bundles are taken after it
}

// close closes the open batch: it is permuted if it has enough reports. It runs in the slot's
// goroutine. Once it has returned no report can join the batch, nor any of its tokens bring
// another.
func (t *slot) close(how closing) (r *Record, err error) {
	b := t.open
	if b != nil && b.n > 0 {
		if r, err = t.conclude(b, how.destroy); err != nil {
			return nil, err
		}
	}
	t.s.at("bag")
	if err := t.s.db.Update(func(tx *bolt.Tx) error { return t.record(tx, b, r, how.end) }); err != nil {
		return nil, err
	}
	t.s.at("closed")
	if how.end {
		t.ended = true
		t.over.Store(true)
	}
	if r == nil {
		return nil, nil
	}
	t.open, t.number = nil, b.number+1
	t.reports.Store(0)
	t.s.log.Info().Str("batch", t.name(b.number)).Str("state", string(r.State)).Uint64("reports", r.Reports).Uint64("messages", r.Messages).Msg("batch closed")
	if r.State == Destroyed {
		return r, b.erase()
	}
	t.held[b.number] = b
	t.s.wake()
	return r, nil
}

// conclude says what becomes of a batch, and writes the bag of one that is released.
func (t *slot) conclude(b *batch, destroy bool) (*Record, error) {
	least := t.pin.params.Batch.Min
	if b.n < least {
		if !destroy {
			return nil, t.short(b)
		}
		return &Record{State: Destroyed, Reports: b.n, Note: t.short(b).Cause}, nil
	}
	messages, digest, err := t.s.writeBag(b, t.pin.shape.Most)
	if err != nil {
		return nil, err
	}
	return &Record{State: Closed, Reports: b.n, Messages: messages, Part: t.s.part, Digest: digest}, nil
}

// short is the refusal to release a batch.
func (t *slot) short(b *batch) *refuse.Error {
	least := t.pin.params.Batch.Min
	return refuse.New(refuse.TooFewReports, "Batch %s has %d of the %d reports that it needs: %d are missing.", t.name(b.number), b.n, least, least-b.n).
		With("Wait for more, or destroy it with --destroy; its contributors cannot report again, and a retry is a new collection with retry_of.")
}

// record writes what close has done.
func (t *slot) record(tx *bolt.Tx, b *batch, r *Record, end bool) error {
	if end {
		if err := tx.Bucket(bucketEnded).Put(t.place.key(), nil); err != nil {
			return err
		}
	}
	if r == nil {
		return nil
	}
	tokens, value := tx.Bucket(bucketTokens), batchKey(t.place, b.number) // of the same form
	if err := b.each(func(hash, _ []byte) error { return tokens.Put(hash, value) }); err != nil {
		return err
	}
	return putJSON(tx.Bucket(bucketBatches), batchKey(t.place, b.number), r)
}

// name is how people are told of a batch.
func (t *slot) name(number uint32) string {
	p := t.pin.params
	name := fmt.Sprintf("%s round %d", p.Collection, p.Round)
	if p.Stratum != "" {
		name += fmt.Sprintf(" stratum %q", p.Stratum)
	}
	return fmt.Sprintf("%s cell %d number %d", name, t.place.cell, number)
}

// finish records that a closed batch is over and erases it.
func (t *slot) finish(number uint32, state State, note string) error {
	return t.do(func() error {
		err := t.s.db.Update(func(tx *bolt.Tx) error {
			r, err := recordAt(tx, t.place, number)
			if err != nil || r.State.over() {
				return err
			}
			r.State, r.Note, r.Digest = state, note, nil
			return putJSON(tx.Bucket(bucketBatches), batchKey(t.place, number), r)
		})
		if err != nil {
			return err
		}
		t.s.at("acknowledged")
		b := t.held[number]
		if b == nil {
			return nil
		}
		delete(t.held, number)
		return b.erase()
	})
}

// GiveUp erases closed batches that the server does not take, and returns how many. What it has of
// one it may keep; nothing else of them will ever be released.
func (s *Shuffler) GiveUp(which Selection) (n int, err error) {
	list, err := s.waiting()
	for _, w := range list {
		if !which.matches(w.slot) {
			continue
		}
		if err := w.slot.finish(w.number, Refused, "given up by the operator"); err != nil {
			return n, err
		}
		s.log.Warn().Str("batch", w.slot.name(w.number)).Msg("batch given up; it is erased")
		n++
	}
	return n, err
}

// Selection names places: those of a collection in a round, of a stratum, and of a cell.
type Selection struct {
	Collection string
	Round      int     // 0 for all
	Stratum    *string // nil for all
	Cell       *uint32 // nil for all
}

// matches tells whether a slot is meant.
func (w Selection) matches(t *slot) bool {
	return t.pin.of.named(w.Collection) && (w.Round == 0 || w.Round == int(t.place.round)) &&
		(w.Stratum == nil || strings.EqualFold(*w.Stratum, t.pin.params.Stratum)) && (w.Cell == nil || *w.Cell == t.place.cell)
}

// CloseBatches closes the open batches of the places, and takes no more bundles there unless goOn.
// If one has too few reports nothing is closed, but with destroy it is erased and the others are
// closed.
func (s *Shuffler) CloseBatches(ctx context.Context, which Selection, destroy, goOn bool) ([]Status, error) {
	slots := s.selected(which)
	if len(slots) == 0 {
		return nil, refuse.New(refuse.CollectionParameter, "No round of %.130q is pinned that this could mean.", which.Collection).
			With("scrim shuffle status lists what is pinned.")
	}
	if !destroy {
		if err := lists.Each(slots, (*slot).check); err != nil {
			return nil, err
		}
	}
	var done []Status
	for _, t := range slots {
		var r *Record
		var number uint32
		if err := t.do(func() (err error) {
			number = t.number
			r, err = t.close(closing{destroy: destroy, end: !goOn})
			return err
		}); err != nil {
			return done, err
		}
		if r != nil {
			done = append(done, t.status(number, *r, 0))
			if r.State == Destroyed {
				s.tellDestroyed(t, number, *r)
			}
		}
	}
	return done, nil
}

// check refuses to close a batch that is too small.
func (t *slot) check() error {
	return t.do(func() error {
		if t.open != nil && t.open.n > 0 && t.open.n < t.pin.params.Batch.Min {
			return t.short(t.open)
		}
		return nil
	})
}

// Reopen takes bundles again at places that were ended, for further people: into a batch of their
// own.
func (s *Shuffler) Reopen(which Selection) (int, error) {
	n := 0
	for _, t := range s.selected(which) {
		if err := t.do(func() error {
			if !t.ended {
				return nil
			}
			err := s.db.Update(func(tx *bolt.Tx) error { return tx.Bucket(bucketEnded).Delete(t.place.key()) })
			if err == nil {
				t.ended = false
				t.over.Store(false)
				n++
			}
			return err
		}); err != nil {
			return n, err
		}
	}
	return n, nil
}

// tellDestroyed tells the server that a batch will not come, as far as it can be reached: it
// answers a batch of so few reports by the refusal that its audit log keeps.
func (s *Shuffler) tellDestroyed(t *slot, number uint32, r Record) {
	part := t.part(number, r)
	part.Part, part.Parts = 1, 1
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
		defer cancel()
		_, err := s.upstream.Load(ctx, part)
		s.log.Warn().Str("batch", t.name(number)).Uint64("reports", r.Reports).Bool("told", rejected(err) != nil).Msg("batch destroyed: too few reports")
	}()
}

// removeStray deletes what crashes have left: files that belong to no batch that is open, or waits
// for the server.
func removeStray(dir string, wanted map[string]bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !wanted[e.Name()] {
			if err := os.Remove(dir + string(os.PathSeparator) + e.Name()); err != nil {
				return err
			}
		}
	}
	return durable.SyncDir(dir)
}

func recordAt(tx *bolt.Tx, p place, number uint32) (r Record, err error) {
	v := tx.Bucket(bucketBatches).Get(batchKey(p, number))
	if v == nil {
		return r, fmt.Errorf("shuffler: there is no batch %s", p.file(number))
	}
	return r, unmarshal(v, &r)
}

func numberAt(key []byte) uint32 { return binary.BigEndian.Uint32(key[placeSize:]) }
