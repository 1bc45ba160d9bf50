package turns

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// compute looks every tenth of a millisecond for as long as d, and returns for how long it did
// something.
func compute(s *Seat, d time.Duration) (worked time.Duration) {
	const step = 100 * time.Microsecond
	for until := time.Now().Add(d); time.Now().Before(until); worked += step {
		time.Sleep(step)
		if s.Look(context.Background()) != nil {
			break
		}
	}
	return worked
}

// idle tells whether nobody holds a turn or waits for one.
func (t *Turns) idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.accounts) == 0 && len(t.holders) == 0
}

// TestAloneNobodyWaits: neither one statement, nor as many as there are processors while nobody
// else begins one.
func TestAloneNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := New(2)
		first, second := turns.Seat("ann"), turns.Seat("bob")
		first.Begin()
		if worked := compute(first, time.Second); worked < 999*time.Millisecond {
			t.Errorf("alone: %v of a second", worked)
		}
		second.Begin()
		compute(second, 2*calm)
		var both sync.WaitGroup
		for _, s := range []*Seat{first, second} {
			both.Go(func() {
				if worked := compute(s, time.Second); worked < 999*time.Millisecond {
					t.Errorf("two of two processors: %v of a second", worked)
				}
			})
		}
		both.Wait()
		first.End()
		second.End()
		if !turns.idle() {
			t.Error("turns are held at the end")
		}
	})
}

// TestAccountsShareTurns: beside eight statements of one account, another's one has half of the
// time, and somebody's short statement all that it wants.
func TestAccountsShareTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := New(2)
		var all sync.WaitGroup
		const d = 500 * time.Millisecond // in which it is not calm
		for range 8 {
			s := turns.Seat("many")
			s.Begin()
			all.Go(func() { compute(s, d); s.End() })
		}
		one, brief := turns.Seat("one"), turns.Seat("brief")
		one.Begin()
		all.Go(func() {
			if worked := compute(one, d); worked < d*2/5 || worked > d*3/5 {
				t.Errorf("one account of two had %v of %v, want half", worked, d)
			}
			one.End()
		})
		all.Go(func() {
			for range 50 {
				brief.Begin()
				if worked := compute(brief, 4*time.Millisecond); worked < 4*time.Millisecond {
					t.Errorf("a short statement had %v of 4 ms", worked)
				}
				brief.End()
				time.Sleep(5 * time.Millisecond)
			}
		})
		all.Wait()
		if !turns.idle() {
			t.Error("turns are held at the end")
		}
	})
}

// TestWhoDoesNotLookLosesItsTurn, after a while that is longer for a single step.
func TestWhoDoesNotLookLosesItsTurn(t *testing.T) {
	for _, c := range []struct {
		name        string
		sleeps      func(*Seat) error
		least, most time.Duration
	}{
		{"waiting", func(s *Seat) error { return s.Look(t.Context()) }, slice, slice + 2*grace},
		{"a long step", func(s *Seat) error { _, err := s.Long(t.Context()); return err }, longest, longest + 2*grace},
		{"resting", func(s *Seat) error { defer s.Rest(); return s.Look(t.Context()) }, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				turns := New(1)
				asleep, other := turns.Seat("asleep"), turns.Seat("other")
				asleep.Begin()
				other.Begin()
				for _, s := range []*Seat{asleep, other} { // both are long
					_ = s.Look(t.Context())
				}
				time.Sleep(2 * short)
				if err := c.sleeps(asleep); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				if err := other.Look(t.Context()); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took < c.least || took > c.most {
					t.Errorf("the other one waited %v, want %v to %v", took, c.least, c.most)
				}
				asleep.End()
				other.End()
				if !turns.idle() {
					t.Error("turns are held at the end")
				}
			})
		})
	}
}

// TestWaitingEndsWithTheContext, and leaves nothing.
func TestWaitingEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := New(1)
		long, killed := turns.Seat("long"), turns.Seat("killed")
		done, err := long.Long(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		if none, err := killed.Long(ctx); err == nil {
			t.Error("there is a turn for a statement that has ended")
		} else {
			none()
		}
		done()
		if !turns.idle() {
			t.Error("turns are held at the end")
		}
	})
}

// TestLeavingLate: a turn may have been given and lost before its statement finds that it has
// ended.
func TestLeavingLate(t *testing.T) {
	turns := New(1)
	s := turns.Seat("ann")
	turns.leave(&waiter{seat: s, ready: make(chan struct{})})
	if !turns.idle() {
		t.Error("turns are held at the end")
	}
}

// TestWithoutTurns: nobody waits.
func TestWithoutTurns(t *testing.T) {
	var none *Turns
	s := none.Seat("ann")
	s.Begin()
	done, err := s.Long(t.Context())
	if err != nil || s.Look(t.Context()) != nil {
		t.Error(err)
	}
	done()
	s.Rest()
	s.End()
}

// TestResting: an account whose statements give their turns back before they are over, and come
// again, gets no more than another.
func TestResting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := New(1)
		const d = 500 * time.Millisecond
		var all sync.WaitGroup
		for range 4 {
			s := turns.Seat("rests")
			s.Begin()
			all.Go(func() {
				for until := time.Now().Add(d); time.Now().Before(until); time.Sleep(slice / 2) {
					s.Rest()
					_ = s.Look(t.Context())
				}
				s.End()
			})
		}
		s := turns.Seat("works")
		s.Begin()
		if worked := compute(s, d); worked < d*2/5 {
			t.Errorf("one account of two had %v of %v, want half", worked, d)
		}
		s.End()
		all.Wait()
		if !turns.idle() {
			t.Error("turns are held at the end")
		}
	})
}

// TestNewcomers do not catch up with what others had before they came.
func TestNewcomers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := New(1)
		const d = 500 * time.Millisecond
		old, same, newer := turns.Seat("old"), turns.Seat("old"), turns.Seat("newer")
		old.Begin()
		same.Begin()
		var all sync.WaitGroup
		all.Go(func() { compute(same, 5*d); same.End() })
		all.Go(func() { time.Sleep(4 * d); newer.Begin(); compute(newer, d); newer.End() })
		compute(old, 4*d)
		if worked := compute(old, d); worked < d/5 {
			t.Errorf("a statement that is one of two of one account of two had %v of %v, want a quarter", worked, d)
		}
		old.End()
		all.Wait()
	})
}
