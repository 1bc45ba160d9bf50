package duckdb

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/semaphore"

	"scrim/engine/store"
)

// gate lets statements run beside each other, or one snapshot alone. DuckDB has one memory limit
// for all: a statement that would end well by itself fails where the others hold the memory.
//
//	enter ─▶ statements, any number of them ─▶ leave
//	alone ─▶ waits for those that run; whoever enters waits ─▶ the function that it returned
//
// Who may come to the gate, and in which order, is a queue's matter. Whoever has entered must not
// enter again: somebody may be waiting to be alone.
type gate struct {
	places *semaphore.Weighted // a statement holds one, who is alone all
	life   context.Context     // ends with the store
	close  func()              // sends away whoever waits or comes; what runs goes on
}

// allPlaces are more than any number of statements at once.
const allPlaces = math.MaxInt32

func newGate() *gate {
	life, end := context.WithCancel(context.Background())
	return &gate{semaphore.NewWeighted(allPlaces), life, end}
}

// enter waits until nobody is alone.
func (g *gate) enter(ctx context.Context) error { return g.take(ctx, 1) }

func (g *gate) leave() { g.places.Release(1) }

// alone waits until nothing runs and keeps others out until the function that it returns is called.
func (g *gate) alone(ctx context.Context) (reopen func(), err error) {
	if err := g.take(ctx, allPlaces); err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { g.places.Release(allPlaces) }), nil
}

// take waits for places. Who came before is served before.
func (g *gate) take(ctx context.Context, places int64) error {
	if g.life.Err() == nil && g.places.TryAcquire(places) {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(g.life, cancel)()
	err := g.places.Acquire(ctx, places)
	if g.life.Err() == nil {
		return err
	}
	if err == nil {
		g.places.Release(places)
	}
	return store.ErrClosed
}

// Alone implements store.Snapshot. The connection that was used until now, whose transaction may
// have failed, is given up for one in a transaction of the same state.
func (s *snapshot) Alone(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return store.ErrClosed
	}
	if s.alone != nil {
		return internal("a snapshot that is alone already")
	}
	next, err := s.second()
	if err != nil {
		return classify(ctx, err)
	}
	defer next.Close()
	fixed := s.begun || s.over
	s.end() // others need not wait for its memory; copies of other servers' tables stay
	s.broken = true
	reopen, err := s.st.gate.alone(ctx)
	if err != nil {
		return classify(ctx, err)
	}
	s.st.forgetPlans()
	s.st.in.helpers.rests.Store(true)
	s.alone = func() {
		s.st.in.helpers.rests.Store(false)
		reopen()
	}
	next.mu.Lock()
	defer next.mu.Unlock()
	if next.closed { // the store was closed meanwhile
		return store.ErrClosed
	}
	s.pooled, next.pooled = next.pooled, s.pooled
	s.begun, next.begun, s.broken, next.broken = fixed, false, false, true
	s.once, s.tables = false, 0
	s.pooled.forget()
	if !fixed {
		err = s.start()
	}
	if err == nil {
		err = s.takeOver(ctx, next.pooled)
	}
	s.broken = err != nil
	return classify(ctx, err)
}

// Alive tells whether DuckDB runs statements, by one that needs nothing and waits for nobody who is
// alone.
func (s *Store) Alive(ctx context.Context) error {
	snap, err := s.connectSnapshot()
	if err != nil {
		return err
	}
	defer snap.Close()
	snap.mu.Lock()
	defer snap.mu.Unlock()
	if snap.closed {
		return store.ErrClosed
	}
	return snap.scan(ctx, query{"SELECT 1::BIGINT", nil, []store.ScanType{store.ScanInt64}, true}, nil, func(store.Chunk) error { return nil })
}

// forgetPlans gives back the memory that plans of idle connections hold.
func (s *Store) forgetPlans() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.idle {
		l.forget()
	}
}

// enter waits until a scan of a snapshot may run: until nobody else is alone, and there is memory
// for one more.
func (s *snapshot) enter(ctx context.Context) (leave func(), err error) {
	if err := errors.Join(s.st.Halted(), ctx.Err()); err != nil || s.alone != nil {
		return func() {}, err
	}
	return s.st.admit(ctx, s.st.scans)
}

const (
	// perScan is the memory that is counted on for a scan of a snapshot, so that as many run at
	// once as the memory limit allows for. A hash aggregate over texts or a window, on two threads,
	// spills in that much; what needs more is done again alone.
	perScan = 256 << 20
	// fewestScans run at once however small the limit: most scans are short and need little.
	fewestScans = 2
)

// scansAtOnce follows from the memory limit, as DuckDB writes it ("953.6 MiB").
func scansAtOnce(limit string) int {
	number, unit, _ := strings.Cut(limit, " ")
	bytes, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return fewestScans
	}
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB", "PiB"} {
		if bytes *= 1024; u == unit {
			return max(fewestScans, int(min(bytes/perScan, 1<<10)))
		}
	}
	return fewestScans
}

// queue gives statements places, and lets accounts take turns where there are too few: of those who
// wait, the account goes first that holds the fewest places, and of several the one whose last turn
// is the longest ago. So an account's hundreds of statements wait for each other, and the first one
// of another for the next place that becomes free.
type queue struct {
	places int
	spare  bool // an account that holds no place gets one at once, beyond the places that there are

	mu       sync.Mutex
	taken    int
	turns    uint64
	accounts map[string]*holder // that hold places or wait for one
}

// statementsAtOnce is how many statements of sessions run at once, but for one more of each account
// that has none: several for each thread, because some wait for the disk.
func statementsAtOnce(threads int) int { return max(16, 4*threads) }

// admit waits for a place of the context's account in a queue, and until nobody is alone in the
// store.
func (s *Store) admit(ctx context.Context, q *queue) (leave func(), err error) {
	free, err := q.enter(ctx, store.AccountOf(ctx))
	if err != nil {
		return nil, err
	}
	if err := s.gate.enter(ctx); err != nil {
		free()
		return nil, err
	}
	return func() {
		s.gate.leave()
		free()
	}, nil
}

// holder is an account in a queue.
type holder struct {
	taken   int
	turn    uint64          // of its last place, by queue.turns
	waiting []chan struct{} // closed with the place; the first has waited the longest
}

func newQueue(places int, spare bool) *queue {
	return &queue{places: places, spare: spare, accounts: map[string]*holder{}}
}

// enter waits for a place, which leave gives back.
func (q *queue) enter(ctx context.Context, account string) (leave func(), err error) {
	q.mu.Lock()
	h := q.accounts[account]
	if h == nil {
		h = &holder{}
		q.accounts[account] = h
	}
	leave = func() { q.leave(account, h) }
	if q.free(h) {
		q.give(h)
		q.mu.Unlock()
		return leave, nil
	}
	place := make(chan struct{})
	h.waiting = append(h.waiting, place)
	q.mu.Unlock()
	select {
	case <-place:
		return leave, nil
	case <-ctx.Done():
		q.giveUp(account, h, place)
		return nil, ctx.Err()
	}
}

func (q *queue) leave(account string, h *holder) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken--
	h.taken--
	q.serve()
	q.forget(account, h)
}

// giveUp takes back a wish for a place, or the place if it was given meanwhile.
func (q *queue) giveUp(account string, h *holder, place chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(h.waiting, place); i >= 0 {
		h.waiting = slices.Delete(h.waiting, i, i+1)
	} else {
		q.taken--
		h.taken--
		q.serve()
	}
	q.forget(account, h)
}

// free tells whether there is a place for one more statement of an account. Then nobody waits who
// goes before it. q.mu is held.
func (q *queue) free(h *holder) bool { return q.taken < q.places || q.spare && h.taken == 0 }

func (q *queue) give(h *holder) {
	q.turns++
	q.taken++
	h.taken++
	h.turn = q.turns
}

// serve gives out the places that are free. q.mu is held.
func (q *queue) serve() {
	for h := q.next(); h != nil && q.free(h); h = q.next() {
		q.give(h)
		close(h.waiting[0])
		h.waiting = slices.Delete(h.waiting, 0, 1)
	}
}

// next is the account whose turn it is, nil where none waits. q.mu is held.
func (q *queue) next() (first *holder) {
	for _, h := range q.accounts {
		if len(h.waiting) == 0 {
			continue
		}
		if first == nil || h.taken < first.taken || h.taken == first.taken && h.turn < first.turn {
			first = h
		}
	}
	return first
}

// forget drops an account that neither holds a place nor waits for one. q.mu is held.
func (q *queue) forget(account string, h *holder) {
	if h.taken == 0 && len(h.waiting) == 0 {
		delete(q.accounts, account)
	}
}
