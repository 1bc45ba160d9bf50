package main

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// pace counts the deeds of clients whose server is about to be killed. The moment of a kill is a
// number of deeds and a part of the time that one takes, so that it falls into every phase of a
// deed on a fast machine and on a busy one.
type pace struct {
	mu     sync.Mutex
	done   int           // acknowledged
	took   time.Duration // by the last that was acknowledged
	due    int           // the deed after these is the one to kill in
	begun  chan struct{} // closed when that deed begins; nil if none is awaited
	failed chan error    // the first error while one is awaited
}

// deed runs a deed and counts it if it is acknowledged.
func (p *pace) deed(do func() error) error {
	p.mu.Lock()
	if p.begun != nil && p.done >= p.due {
		close(p.begun)
		p.begun = nil
	}
	p.mu.Unlock()
	start := time.Now()
	err := do()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.done++
		p.took = time.Since(start)
	} else if p.begun != nil {
		select {
		case p.failed <- err:
		default:
		}
	}
	return err
}

// after returns a function that waits until n more deeds are acknowledged and the next one has
// begun. Between the two calls the clients may be started.
func (p *pace) after(n int) (wait func(t *testing.T)) {
	begun, failed := make(chan struct{}), make(chan error, 1)
	p.mu.Lock()
	p.due, p.begun, p.failed = p.done+n, begun, failed
	p.mu.Unlock()
	return func(t *testing.T) {
		t.Helper()
		select {
		case <-begun:
		case err := <-failed:
			t.Fatalf("of %d deeds before the kill one failed: %v", n, err)
		case <-time.After(patience):
			t.Fatalf("waited %v in vain for %d deeds before the kill", patience, n)
		}
	}
}

// somewhere sleeps for a random part of the time that a deed takes, or a little longer.
func (p *pace) somewhere(r *rand.Rand) {
	p.mu.Lock()
	took := p.took
	p.mu.Unlock()
	time.Sleep(part(r, took))
}

// part draws a time from 0 to a quarter more than a deed took.
func part(r *rand.Rand, took time.Duration) time.Duration {
	return time.Duration(1.25 * r.Float64() * float64(took))
}
