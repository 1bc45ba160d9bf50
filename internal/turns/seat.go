package turns

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
)

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
