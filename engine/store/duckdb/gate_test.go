package duckdb

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"scrim/engine/store"
)

// stays tells whether nothing arrives for a while.
func stays(c <-chan struct{}) bool {
	select {
	case <-c:
		return false
	case <-time.After(20 * time.Millisecond):
		return true
	}
}

// started runs f and tells when it has returned.
func started(f func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	return done
}

func TestGate(t *testing.T) {
	ctx := context.Background()
	g := newGate()
	must(t, g.enter(ctx))
	must(t, g.enter(ctx))
	var reopen func()
	alone := started(func() {
		var err error
		if reopen, err = g.alone(ctx); err != nil {
			t.Error(err)
		}
	})
	if !stays(alone) {
		t.Fatal("alone beside two others")
	}
	late := started(func() {
		if err := g.enter(ctx); err != nil {
			t.Error(err)
		}
	})
	g.leave()
	if !stays(alone) || !stays(late) {
		t.Fatal("alone beside another, or let in before it")
	}
	g.leave()
	<-alone
	if !stays(late) {
		t.Fatal("let in beside who is alone")
	}

	// Who gives up waiting leaves no trace.
	short, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
	defer cancel()
	if err := g.enter(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if _, err := g.alone(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	reopen()
	reopen()
	<-late
	waiting, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
	defer cancel()
	if _, err := g.alone(waiting); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	must(t, g.enter(ctx))
	g.leave()
	g.leave()
	reopen, err := g.alone(ctx)
	must(t, err)

	// Closing sends away who waits.
	sent := started(func() {
		if err := g.enter(ctx); !errors.Is(err, store.ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
	next := started(func() {
		if _, err := g.alone(ctx); !errors.Is(err, store.ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
	if !stays(sent) {
		t.Fatal("let in beside who is alone")
	}
	g.close()
	<-sent
	reopen()
	<-next
}

// However many come and go, who is alone is alone.
func TestGateUnderLoad(t *testing.T) {
	ctx := context.Background()
	g := newGate()
	var inside, most atomic.Int64
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 500 {
				if (i+j)%5 > 0 {
					if err := g.enter(ctx); err != nil {
						t.Error(err)
					}
					inside.Add(1)
					inside.Add(-1)
					g.leave()
					continue
				}
				brief, cancel := context.WithTimeout(ctx, time.Duration(j%4)*time.Millisecond)
				if reopen, err := g.alone(brief); err == nil {
					most.Store(max(most.Load(), inside.Load()))
					reopen()
				}
				cancel()
			}
		})
	}
	group.Wait()
	equal(t, "inside while somebody was alone", most.Load(), int64(0))
	reopen, err := g.alone(ctx)
	must(t, err)
	reopen()
}

func TestScansAtOnce(t *testing.T) {
	for limit, want := range map[string]int{"95.3 MiB": 2, "1.0 GiB": 4, "953.6 MiB": 3, "16.0 GiB": 64, "2.0 TiB": 1024, "100 bytes": 2, "much": 2} {
		equal(t, limit, scansAtOnce(limit), want)
	}
}
