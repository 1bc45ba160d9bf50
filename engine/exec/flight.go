package exec

import (
	"context"
	"slices"
	"sync"
)

// flights keeps what is asked several times at once from being charged several times: while one
// execution makes an answer, others that would find it wait. Tools do that: a dashboard draws eight
// charts over one query.
//
// Keys are taken in their order, each by one execution at a time, so no two executions wait for
// each other. Who waits is told by public facts: the keys of stored answers. The zero value is
// ready.
type flights struct {
	mu  sync.Mutex
	now map[string]chan struct{} // closed when the key is free again
}

// take takes keys, and returns how they are given back, and whether it had to wait: then an answer
// may be there.
func (f *flights) take(ctx context.Context, keys []string) (free func(), waited bool, err error) {
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	for i := 0; i < len(keys); {
		other := f.claim(keys[i])
		if other == nil {
			i++
			continue
		}
		waited = true
		select {
		case <-other:
		case <-ctx.Done():
			f.free(keys[:i])
			return nil, waited, ctx.Err()
		}
	}
	return func() { f.free(keys) }, waited, nil
}

// claim takes a key; where it is taken, it returns what is closed when it is free.
func (f *flights) claim(key string) chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if other := f.now[key]; other != nil {
		return other
	}
	if f.now == nil {
		f.now = map[string]chan struct{}{}
	}
	f.now[key] = make(chan struct{})
	return nil
}

func (f *flights) free(keys []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range keys {
		close(f.now[k])
		delete(f.now, k)
	}
}
