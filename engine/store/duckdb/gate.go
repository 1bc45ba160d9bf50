package duckdb

import (
	"context"
	"sync"

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
	turn chan struct{} // held by who is alone or waits to be

	mu      sync.Mutex
	running int
	idle    chan struct{} // closed when nothing runs any more; nil while nobody waits for that
	open    chan struct{} // closed when others may enter again; nil while they may
	closed  bool
}

func newGate() *gate { return &gate{turn: make(chan struct{}, 1)} }

// enter waits until nobody is alone.
func (g *gate) enter(ctx context.Context) error {
	for {
		g.mu.Lock()
		wait := g.open
		if g.closed {
			g.mu.Unlock()
			return store.ErrClosed
		}
		if wait == nil {
			g.running++
			g.mu.Unlock()
			return nil
		}
		g.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running--; g.running == 0 && g.idle != nil {
		close(g.idle)
		g.idle = nil
	}
}

// alone waits until nothing runs and keeps others out until the function that it returns is called.
func (g *gate) alone(ctx context.Context) (reopen func(), err error) {
	select {
	case g.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		<-g.turn
		return nil, store.ErrClosed
	}
	g.open = make(chan struct{})
	var idle chan struct{}
	if g.running > 0 {
		idle = make(chan struct{})
		g.idle = idle
	}
	g.mu.Unlock()
	if idle != nil {
		select {
		case <-idle:
		case <-ctx.Done():
			g.reopen()
			return nil, ctx.Err()
		}
	}
	return sync.OnceFunc(g.reopen), nil
}

func (g *gate) reopen() {
	g.mu.Lock()
	g.letIn()
	g.idle = nil
	g.mu.Unlock()
	<-g.turn
}

// letIn wakes those who wait to enter. g.mu is held.
func (g *gate) letIn() {
	if g.open != nil {
		close(g.open)
		g.open = nil
	}
}

// close sends away whoever waits or comes. What runs goes on.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	g.letIn()
}
