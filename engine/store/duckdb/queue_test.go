package duckdb

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// waitFor returns once n statements wait in the queue.
func (q *queue) waitFor(n int) {
	for have := -1; have != n; time.Sleep(time.Millisecond) {
		q.mu.Lock()
		have = 0
		for _, h := range q.accounts {
			have += len(h.waiting)
		}
		q.mu.Unlock()
	}
}

// TestQueueTakesTurns: the first statements of two accounts get the next places, however many of
// another's came before them, and from then on all three take turns.
func TestQueueTakesTurns(t *testing.T) {
	ctx, q := context.Background(), newQueue(2, false)
	type seat struct {
		account string
		leave   func()
	}
	got := make(chan seat, 300)
	ask := func(account string, n int) {
		for range n {
			go func() {
				leave, err := q.enter(ctx, account)
				must(t, err)
				got <- seat{account, leave}
			}()
		}
	}
	ask("crowd", 200)
	held := []seat{<-got, <-got}
	q.waitFor(198)
	ask("ann", 2)
	ask("bob", 2)
	q.waitFor(202)
	var order []string
	for len(order) < 202 {
		held[0].leave()
		next := <-got
		order = append(order, next.account)
		held = append(held[1:], next)
	}
	ann, bob := 0, 0
	for i, account := range order {
		switch {
		case account == "ann":
			ann++
		case account == "bob":
			bob++
		}
		if i == 2 && (ann == 0 || bob == 0) || i == 6 && ann+bob != 4 {
			t.Errorf("place %d: ann has had %d and bob %d of the first %v", i+1, ann, bob, order[:i+1])
		}
	}
	held[0].leave()
	held[1].leave()
	if q.taken != 0 || len(q.accounts) != 0 {
		t.Errorf("%d places are taken, %d accounts known, after the last has left", q.taken, len(q.accounts))
	}
}

// TestQueueSpare: an account that holds no place does not wait where there are spare ones; its
// second statement does.
func TestQueueSpare(t *testing.T) {
	ctx, q := context.Background(), newQueue(1, true)
	first, err := q.enter(ctx, "crowd")
	must(t, err)
	second, err := q.enter(ctx, "ann")
	must(t, err)
	short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	if _, err := q.enter(short, "ann"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want a wait", err)
	}
	first()
	if _, err := q.enter(short, "ann"); err == nil {
		t.Error("two places were given where there is one")
	}
	second()
	third, err := q.enter(ctx, "ann")
	must(t, err)
	third()
}

// TestQueueGivesUp: whoever does not wait any longer leaves no trace, also where the place comes at
// that moment.
func TestQueueGivesUp(t *testing.T) {
	q := newQueue(3, false)
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rand.IntN(2000))*time.Microsecond)
			defer cancel()
			if leave, err := q.enter(ctx, string(rune('a'+i%7))); err == nil {
				time.Sleep(time.Duration(rand.IntN(200)) * time.Microsecond)
				leave()
			}
		})
	}
	all.Wait()
	if q.taken != 0 || len(q.accounts) != 0 {
		t.Errorf("%d places are taken, %d accounts known, after the last has left", q.taken, len(q.accounts))
	}
}
