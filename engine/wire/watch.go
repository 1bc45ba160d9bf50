package wire

import (
	"context"
	"time"
)

// WaitForClient waits, while a statement runs, until its client goes away or sends COM_QUIT, which
// is true, or until ctx ends. A client may send its next commands already; they stay unread. It
// must have returned before the connection is read again.
func (c *Conn) WaitForClient(ctx context.Context) bool {
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = c.conn().SetReadDeadline(time.Unix(1, 0))
		close(interrupted)
	})
	gone := c.waitForEnd()
	if !stop() {
		<-interrupted
	}
	_ = c.conn().SetReadDeadline(time.Time{})
	return gone && ctx.Err() == nil
}

// waitForEnd looks at what comes until that is COM_QUIT or the end, or until no more can be looked
// at.
func (c *Conn) waitForEnd() (gone bool) {
	for {
		waiting := c.buffered.Buffered()
		if quits, more := hasQuit(c.buffered, waiting); quits || !more {
			return quits
		}
		if _, err := c.buffered.Peek(waiting + 1); err != nil {
			return true
		}
	}
}

type peeker interface{ Peek(n int) ([]byte, error) }

// hasQuit looks for COM_QUIT among n waiting bytes; more is false when later ones could not be
// seen.
func hasQuit(p peeker, n int) (quits, more bool) {
	b, _ := p.Peek(n)
	for len(b) > headerSize {
		size := payloadLength(b)
		if size == 1 && b[headerSize] == comQuit {
			return true, true
		}
		if len(b) < headerSize+size {
			break
		}
		b = b[headerSize+size:]
	}
	return false, n < chunk
}
