package shuffler

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/rs/zerolog"
	bolt "go.etcd.io/bbolt"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/issue"
	"scrim/internal/refuse"
)

// When says at how many reports a batch closes by itself.
type When string

// The values of When.
const (
	AtMax      When = "max"      // n_max, beyond which the protocol allows none
	AtExpected When = "expected" // n_expected of the round
	AtMin      When = "min"      // n_min
)

// Options are what a Shuffler works with besides its directory.
type Options struct {
	Upstream Upstream
	When     When      // AtMax by default
	At       time.Time // closes every batch and ends every round then; zero: never
	Logger   zerolog.Logger
}

// Shuffler takes bundles and releases batches. It is safe for concurrent use.
type Shuffler struct {
	dir      string
	db       *bolt.DB
	id       string
	upstream Upstream
	options  Options
	log      zerolog.Logger
	memory   int64              // bytes that a permutation takes
	part     int                // messages of a part
	hook     func(point string) // tests end the process here

	mu          sync.RWMutex
	collections map[uint32]*collection
	pins        map[[32]byte]*pin
	slots       map[place]*slot
	sent        map[string]int    // parts of a bag that the server has taken, by file name
	trouble     map[string]string // why a bag is not released, by file name

	pinning sync.Mutex // one pin at a time
	issuing sync.Mutex

	ctx     context.Context // ends with quit
	cancel  context.CancelFunc
	quit    chan struct{}
	stopped chan struct{} // when all goroutines have ended
	woken   chan struct{}
	running sync.WaitGroup
	once    sync.Once
}

// Start opens a data directory, or makes it, and goes on where the last process has stopped.
func Start(dir string, o Options) (*Shuffler, error) { return start(dir, o, nil) }

// start is Start; change is for tests.
func start(dir string, o Options, change func(*Shuffler)) (*Shuffler, error) {
	db, err := openStore(dir)
	if err != nil {
		return nil, err
	}
	s := &Shuffler{
		dir: dir, db: db, id: identity(db), upstream: o.Upstream, options: o, log: o.Logger, memory: memoryOfPermutation, part: partMessages,
		collections: map[uint32]*collection{}, pins: map[[32]byte]*pin{}, slots: map[place]*slot{}, sent: map[string]int{}, trouble: map[string]string{},
		quit: make(chan struct{}), stopped: make(chan struct{}), woken: make(chan struct{}, 1),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if change != nil {
		change(s)
	}
	if err := s.load(); err != nil {
		for _, t := range s.slots {
			t.closeFiles()
		}
		return nil, errors.Join(err, db.Close())
	}
	for _, t := range s.slots {
		s.running.Add(1)
		go t.run()
	}
	s.running.Add(2)
	go s.releaser()
	go s.timer()
	return s, nil
}

// Close ends all work after the transactions under way. What was accepted stays.
func (s *Shuffler) Close() error {
	var err error
	s.once.Do(func() {
		close(s.quit)
		s.cancel()
		s.running.Wait()
		close(s.stopped)
		err = s.db.Close()
	})
	return err
}

func (s *Shuffler) at(point string) {
	if s.hook != nil {
		s.hook(point)
	}
}

// limit is the number of reports at which a batch closes.
func (s *Shuffler) limit(p *pin) uint64 {
	b := p.params.Batch
	switch s.options.When {
	case AtMin:
		return b.Min
	case AtExpected:
		return min(b.Max, max(b.Min, b.Expected))
	}
	return b.Max
}

// Accept takes a bundle. It returns once the bundle is durable, or was there before. Refusals:
// UnknownToken, SpentToken, ClosedToken, MalformedReport; they change nothing.
func (s *Shuffler) Accept(ctx context.Context, token, bundle []byte) error {
	if len(token) != issue.TokenSize {
		return unknownToken()
	}
	r := &request{hash: sha256.Sum256(token), done: make(chan struct{})}
	h := sha256.New()
	h.Write(token)
	h.Write(bundle)
	h.Sum(r.digest[:0])
	t, err := s.slotOf(r.hash, bundle)
	if err != nil {
		return err
	}
	if r.sealed, err = t.pin.shape.Check(bundle); err != nil {
		return err
	}
	return t.submit(ctx, r)
}

// slotOf finds where a token reports, if the bundle can be for it.
func (s *Shuffler) slotOf(hash [32]byte, bundle []byte) (*slot, error) {
	var where place
	var ok bool
	if err := s.db.View(func(tx *bolt.Tx) error { where, _, ok = tokenAt(tx, hash); return nil }); err != nil {
		return nil, err
	}
	if !ok {
		return nil, unknownToken()
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	t := s.slots[where]
	if len(bundle) < sha256.Size {
		return nil, refuse.New(refuse.MalformedReport, "%d bytes are not a bundle.", len(bundle))
	}
	of := s.pins[[32]byte(bundle)]
	switch {
	case of == nil:
		return nil, refuse.New(refuse.MalformedReport, "The bundle was made from parameters that this shuffler has not pinned.")
	case of.place.collection != where.collection:
		return nil, unknownToken()
	case t == nil:
		return nil, refuse.New(refuse.ClosedToken, "The token is of round %d, which has not begun.", where.round)
	case of != t.pin:
		return nil, refuse.New(refuse.ClosedToken, "The token is of round %d%s, and the bundle of round %d%s.",
			where.round, ofStratum(t.pin.params), of.params.Round, ofStratum(of.params))
	}
	return t, nil
}

func ofStratum(p *collect.Params) string {
	if p.Stratum == "" {
		return ""
	}
	return fmt.Sprintf(" of stratum %q", p.Stratum)
}

func unknownToken() error {
	return refuse.New(refuse.UnknownToken, "The token was not issued for a collection of this shuffler.")
}

func spentToken() error {
	return refuse.New(refuse.SpentToken, "The token has brought another bundle already, or its batch has been released.")
}

// timer closes all batches at the time that was set.
func (s *Shuffler) timer() {
	defer s.running.Done()
	if s.options.At.IsZero() {
		return
	}
	for {
		select {
		case <-s.quit:
			return
		case <-time.After(time.Until(s.options.At)):
		}
		if !time.Now().Before(s.options.At) {
			break
		}
	}
	for _, c := range s.all() {
		if _, err := s.CloseBatches(s.ctx, Selection{Collection: c.name}, true, false); err != nil && s.ctx.Err() == nil {
			s.log.Error().Err(err).Str("collection", c.name).Msg("batches could not be closed at the time that was set")
		}
	}
}

// load reads what is stored, opens the batches that are not over and deletes what belongs to none.
func (s *Shuffler) load() error {
	if err := s.db.View(s.loadPins); err != nil {
		return err
	}
	wanted := map[string]bool{}
	if err := s.db.View(func(tx *bolt.Tx) error { return s.loadBatches(tx, wanted) }); err != nil {
		return err
	}
	for p, t := range s.slots {
		wanted[p.file(t.number)+suffixStore] = true
	}
	dir := filepath.Join(s.dir, batchesDir)
	if err := removeStray(dir, wanted); err != nil {
		return err
	}
	for p, t := range s.slots {
		if exists(filepath.Join(dir, p.file(t.number)+suffixStore)) {
			b, err := s.openBatch(p, t.number)
			if err != nil {
				return err
			}
			t.open = b
			t.reports.Store(b.n)
		}
	}
	return nil
}

// loadBatches opens the batches that are closed and not over.
func (s *Shuffler) loadBatches(tx *bolt.Tx, wanted map[string]bool) error {
	return tx.Bucket(bucketBatches).ForEach(func(k, v []byte) error {
		var r Record
		if err := unmarshal(v, &r); err != nil {
			return err
		}
		t, number := s.slots[placeOf(k)], numberAt(k)
		if t == nil {
			return fmt.Errorf("shuffler: a batch of a round that is not pinned: %s", placeOf(k).file(number))
		}
		t.number = max(t.number, number+1)
		if r.State.over() {
			return nil
		}
		b, err := s.openBatch(t.place, number)
		if err != nil {
			return err
		}
		t.held[number] = b
		wanted[t.place.file(number)+suffixStore], wanted[t.place.file(number)+suffixBag] = true, true
		return nil
	})
}

func unmarshal(b []byte, v any) error {
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("shuffler: the store is damaged: %w", err)
	}
	return nil
}
