package duckdb

import (
	"context"
	"slices"
	"sync"

	"scrim/engine/store"
)

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
