package engine

import (
	"context"
	"sync"
	"time"

	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/wire"
)

// watchAfter is how long a statement runs before its client is watched for having gone away.
const watchAfter = 200 * time.Millisecond

// clientWatch looks out for a client that goes away while its statement runs.
type clientWatch struct {
	end      context.CancelFunc
	timer    *time.Timer
	watching sync.WaitGroup
	stopped  bool
}

// watchClient cancels the statement when its client goes away. stop must have run before the
// connection is read again.
func watchClient(c *mysql.Conn, cancel func()) *clientWatch {
	ctx, end := context.WithCancel(context.Background())
	w := &clientWatch{end: end}
	w.watching.Add(1)
	w.timer = time.AfterFunc(watchAfter, func() {
		defer w.watching.Done()
		if wire.Of(c).WaitForClient(ctx) {
			cancel()
		}
	})
	return w
}

// stop ends the watch.
func (w *clientWatch) stop() {
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
