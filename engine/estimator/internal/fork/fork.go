// Package fork runs pieces of work on all cores. A panic in one of them becomes one in who waits:
// in a goroutine of its own it would end the server, whatever the caller does about panics.
package fork

import "sync"

// Group is pieces of work that run at once. Its zero value is ready; it must not be copied.
type Group struct {
	wait sync.WaitGroup
	mu   sync.Mutex
	why  any // the first panic
}

// Go starts a piece of work.
func (g *Group) Go(work func()) {
	g.wait.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				g.mu.Lock()
				defer g.mu.Unlock()
				if g.why == nil {
					g.why = p
				}
			}
		}()
		work()
	})
}

// Wait waits until all work has ended. It panics with what a piece of it panicked with.
func (g *Group) Wait() {
	g.wait.Wait()
	if g.why != nil {
		panic(g.why)
	}
}
