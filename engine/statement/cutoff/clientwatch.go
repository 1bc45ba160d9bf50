package cutoff

import (
	"context"
	"sync"
	"time"

	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/wire"
)

// WatchAfter is how long a statement runs before its client is watched for having gone away.
const WatchAfter = 200 * time.Millisecond

// Watch looks out for a client that goes away while its statement runs.
type Watch struct {
	end      context.CancelFunc
	timer    *time.Timer
	watching sync.WaitGroup
	stopped  bool
}

// WatchClient calls cancel when the client goes away. Stop must have run before the connection is
// read again.
func WatchClient(c *mysql.Conn, cancel func()) *Watch {
	ctx, end := context.WithCancel(context.Background())
	w := &Watch{end: end}
	w.watching.Add(1)
	w.timer = time.AfterFunc(WatchAfter, func() {
		defer w.watching.Done()
		if wire.Of(c).WaitForClient(ctx) {
			cancel()
		}
	})
	return w
}

// Stop ends the watch.
func (w *Watch) Stop() {
	if w.stopped {
		return
	}
	w.stopped = true
	if w.timer.Stop() {
		w.watching.Done()
	}
	w.end()
	w.watching.Wait()
}
