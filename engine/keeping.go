package engine

import (
	"context"
	"sync"
)

// keeping is work beside the clients, which ends with the server.
type keeping struct {
	mu   sync.Mutex
	stop context.CancelFunc
	over bool
	done chan struct{}
}

// begin starts the work, unless the server has ended.
func (k *keeping) begin(work func(context.Context)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over || k.done != nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	k.stop, k.done = stop, make(chan struct{})
	go func() {
		defer close(k.done)
		work(ctx)
	}()
}

// end ends the work, and waits until it has.
func (k *keeping) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	if k.done != nil {
		k.stop()
		<-k.done
	}
}
