// Package turns divides the processors among statements that compute for long in the server's own
// process, so that short ones need not wait for them.
//
// A Seat is the place of a connection. Whoever computes for its statement calls Look now and then.
// For the first milliseconds of a statement that does nothing. Then the statement takes a turn, of
// which there is one less than there are processors, and when that is over it waits for the next:
//
//	Look ─▶ the statement is short, or its turn lasts   it goes on
//	     ─▶ its turn is over, nobody waits              it goes on with another one
//	     ─▶ its turn is over, others wait               it waits: the account goes first that
//	                                                    has had the least time
//
// Long is for a single step of many milliseconds, during which nothing looks. Rest gives the turn
// back, for one that is about to wait. Who does not look any more loses its turn after a while.
//
// The processor that is left over is for whoever begins a statement meanwhile. While nobody does,
// there is one turn more.
package turns

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
)

const (
	// slice is how long a turn lasts.
	slice = 2 * time.Millisecond
	// grace is how late a statement may look before its turn goes to another one.
	grace = 4 * slice
	// longest is how late it may look that takes a single step.
	longest = 100 * slice
	// calm is for how long nobody must have begun a statement before all processors compute.
	calm = time.Second
)

// Turns are the turns of a server.
type Turns struct {
	processors int
	start      time.Time
	begun      atomic.Int64 // when a statement began last, by clock

	mu       sync.Mutex
	holders  []*Seat
	accounts map[string]*account // that hold turns or wait for one
	floor    time.Duration       // the time of the account that was served last
}

// New returns the turns of so many processors.
func New(processors int) *Turns {
	return &Turns{processors: processors, start: time.Now(), accounts: map[string]*account{}}
}

// account is what an account has had since it came, and its statements that wait.
type account struct {
	had     time.Duration
	holding int
	waiting []*waiter // the first has waited the longest
}

// waiter is a statement that waits.
type waiter struct {
	seat  *Seat
	long  bool          // for a single step
	ready chan struct{} // closed with the turn
}

// clock is the time since the start, never 0.
func (t *Turns) clock() time.Duration { return time.Since(t.start) + 1 }

// take ends the turn of a seat, if it has one, and waits for the next.
func (t *Turns) take(ctx context.Context, s *Seat, long bool) error {
	w := &waiter{s, long, make(chan struct{})}
	t.mu.Lock()
	now := t.clock()
	t.back(s, now)
	a := t.account(s.account)
	a.waiting = append(a.waiting, w)
	t.serve(now)
	t.tidy()
	t.mu.Unlock()
	select {
	case <-w.ready:
		return ctx.Err()
	default:
		return t.wait(ctx, w)
	}
}

// wait waits for a turn, and looks meanwhile for those that nobody uses.
func (t *Turns) wait(ctx context.Context, w *waiter) error {
	late := time.NewTicker(grace)
	defer late.Stop()
	for {
		select {
		case <-w.ready:
			return ctx.Err()
		case <-ctx.Done():
			t.leave(w)
			return ctx.Err()
		case <-late.C:
			t.mu.Lock()
			t.serve(t.clock())
			t.tidy()
			t.mu.Unlock()
		}
	}
}

// leave takes back a wish for a turn, or the turn if it was given meanwhile and not lost since.
func (t *Turns) leave(w *waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a := t.accounts[w.seat.account]; a != nil {
		a.waiting = slices.DeleteFunc(a.waiting, func(v *waiter) bool { return v == w })
	}
	now := t.clock()
	t.back(w.seat, now)
	t.serve(now)
	t.tidy()
}

// end ends the turn of a seat.
func (t *Turns) end(s *Seat) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock()
	t.back(s, now)
	t.serve(now)
	t.tidy()
}

// account finds an account. One that comes has had as much time as who was served last. t.mu is
// held.
func (t *Turns) account(name string) *account {
	a := t.accounts[name]
	if a == nil {
		a = &account{had: t.floor}
		t.accounts[name] = a
	}
	return a
}

// tidy forgets accounts that neither hold a turn nor wait for one. t.mu is held.
func (t *Turns) tidy() {
	maps.DeleteFunc(t.accounts, func(_ string, a *account) bool {
		return a.holding == 0 && len(a.waiting) == 0
	})
}

// back takes the turn of a seat back, if it has one. t.mu is held.
func (t *Turns) back(s *Seat, now time.Duration) {
	i := slices.Index(t.holders, s)
	if i < 0 {
		return
	}
	t.holders = slices.Delete(t.holders, i, i+1)
	s.until.Store(0)
	a := t.accounts[s.account]
	a.had += now - s.since
	a.holding--
}

// serve hands out the turns that are free, and those whose statements do not look any more. t.mu is
// held.
func (t *Turns) serve(now time.Duration) {
	for _, s := range slices.Clone(t.holders) {
		if now > time.Duration(s.until.Load())+s.late {
			t.back(s, now)
		}
	}
	for len(t.holders) < t.places(now) {
		a := t.next()
		if a == nil {
			return
		}
		t.give(a, now)
	}
}

// places is how many turns there are.
func (t *Turns) places(now time.Duration) int {
	if now > time.Duration(t.begun.Load())+calm {
		return t.processors
	}
	return max(1, t.processors-1)
}

// next is the account that goes first, nil where none waits. t.mu is held.
func (t *Turns) next() (first *account) {
	for _, a := range t.accounts {
		if len(a.waiting) > 0 && (first == nil || a.had < first.had) {
			first = a
		}
	}
	return first
}

// give gives a turn to the first of an account that waits. t.mu is held.
func (t *Turns) give(a *account, now time.Duration) {
	w := a.waiting[0]
	a.waiting = slices.Delete(a.waiting, 0, 1)
	s := w.seat
	if !slices.Contains(t.holders, s) { // another goroutine of the statement may have it
		t.floor = max(t.floor, a.had)
		a.holding++
		t.holders = append(t.holders, s)
		s.since, s.late = now, grace
	}
	if w.long {
		s.late = longest
	}
	s.until.Store(int64(now + slice))
	close(w.ready)
}

// short is how long a statement goes on without turns.
const short = 5 * time.Millisecond

// Seat is the place of a connection, whose statements come one after another. A nil Seat has no
// turns and waits for none. Its methods may be called from several goroutines.
type Seat struct {
	turns   *Turns
	account string
	first   atomic.Int64 // when the statement looked first, by turns.clock; 0 before
	until   atomic.Int64 // the end of its turn, 0 without one; changed under turns.mu

	since time.Duration // when its turn began
	late  time.Duration // how late it may look then
}

// Seat returns the place of a new connection of an account. Nil turns have nil seats.
func (t *Turns) Seat(account string) *Seat {
	if t == nil {
		return nil
	}
	return &Seat{turns: t, account: account}
}

// Holder is a session that has a seat.
type Holder interface{ Seat() *Seat }

// Of returns the seat of the connection behind ctx, nil where there is none.
func Of(ctx *sql.Context) *Seat {
	if h, ok := ctx.Session.(Holder); ok {
		return h.Seat()
	}
	return nil
}

// Begin begins a statement.
func (s *Seat) Begin() {
	if s != nil {
		s.End()
		s.turns.begun.Store(int64(s.turns.clock()))
	}
}

// End ends it.
func (s *Seat) End() {
	if s != nil {
		s.first.Store(0)
		s.Rest()
	}
}

// Rest gives the turn back that the statement has. It takes another one when it looks again.
func (s *Seat) Rest() {
	if s != nil && s.until.Load() != 0 {
		s.turns.end(s)
	}
}

// Look is called now and then by whoever computes for the statement, and may wait: the caller must
// hold no lock. It returns the error of ctx.
func (s *Seat) Look(ctx context.Context) error {
	if s != nil {
		now := s.turns.clock()
		switch first := time.Duration(s.first.Load()); {
		case first == 0:
			s.first.Store(int64(now))
		case now > first+short && now > time.Duration(s.until.Load()):
			return s.turns.take(ctx, s, false)
		}
	}
	runtime.Gosched()
	return ctx.Err()
}

// Long is called before a step that computes for long and does not look, done after it. It may wait
// as Look does.
func (s *Seat) Long(ctx context.Context) (done func(), err error) {
	if s == nil {
		return func() {}, ctx.Err()
	}
	if err := s.turns.take(ctx, s, true); err != nil {
		return func() {}, err
	}
	return s.Rest, nil
}
