package cutoff

import (
	"context"
	"time"

	"github.com/dolthub/vitess/go/mysql"
)

// closeAfter is how long a statement may go on after it was to end. What goes on then is computing
// one value, which nothing can end.
const closeAfter = time.Second

// CloseLate closes the connection of a statement that goes on for too long after its context has
// ended, so that the client need not wait for what was killed, or is over its limit. ended says
// that the statement has ended.
func CloseLate(ctx context.Context, c *mysql.Conn) (ended func()) {
	over := make(chan struct{})
	undo := context.AfterFunc(ctx, func() {
		t := time.NewTimer(closeAfter)
		defer t.Stop()
		select {
		case <-over:
		case <-t.C:
			_ = c.Conn.Close()
		}
	})
	return func() {
		undo()
		close(over)
	}
}
