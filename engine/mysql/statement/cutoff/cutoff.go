// Package cutoff ends statements early: at their time limit, when their client has gone away, and,
// where nothing else ends them, by closing the connection.
package cutoff

import (
	"context"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/mysql/session"
	"scrim/engine/mysql/wire"
)

// timeHint is MySQL's hint for the time limit of one SELECT, in milliseconds.
var timeHint = regexp.MustCompile(`(?is)^/\*\+.*\bMAX_EXECUTION_TIME\s*\(\s*([0-9]{1,15})\s*\)`)

// setTimeHint sets the variable for one statement.
var setTimeHint = regexp.MustCompile(`(?is)^/\*\+.*\bSET_VAR\s*\(\s*max_execution_time\s*=\s*([0-9]{1,15})\s*\)`)

// Limit gives a statement its time limit: the hint's, or the session's max_execution_time, which
// like MySQL's holds for SELECT, and here for EXPLAIN and CALL; and most, whatever the statement
// is, but for who fills tables or looks after the server or its collections. A statement that has
// turned out to read protected rows by then runs on to the next whole second, so that a client
// cannot use the limit as a fine clock on them: what reads protected rows notes so before the first
// one.
//
// What the store spills for a statement follows from rows: a join of every row with every other one
// of a value takes any disk. A limit in bytes would tell their number to who asks; time is measured
// by who asks anyhow, the limit is the operator's, and the charge stands when it is reached.
func Limit(ctx *sql.Context, s sqlparser.Statement, most time.Duration) (limited *sql.Context, end func(), err error) {
	limit, err := timeLimit(ctx, s)
	if most > 0 && (limit == 0 || limit > most) && !session.IsShuffler(ctx) && !session.IsImporter(ctx) {
		limit = most
	}
	if err != nil || limit == 0 {
		return ctx, func() {}, err
	}
	if limit%time.Second == 0 { // a context that others may rest on without a goroutine each
		c, cancel := context.WithTimeout(ctx.Context, limit)
		return ctx.WithContext(c), cancel, nil
	}
	own, _ := session.From(ctx)
	l := &limitedContext{Context: ctx.Context, done: make(chan struct{})}
	stop := make(chan struct{})
	go l.watch(limit, func() bool { return own == nil || own.TouchesProtected() }, stop)
	return ctx.WithContext(l), sync.OnceFunc(func() { close(stop) }), nil
}

// limitedContext is a context that ends by its time limit, or with its parent.
type limitedContext struct {
	context.Context
	done chan struct{}
	err  error // set before done is closed
}

// watch ends the context when it is time, unless stop comes before.
func (l *limitedContext) watch(limit time.Duration, protected func() bool, stop chan struct{}) {
	t := time.NewTimer(limit)
	defer t.Stop()
	l.err = context.Canceled
	defer close(l.done)
	for waited := false; ; waited = true {
		select {
		case <-stop:
			return
		case <-l.Context.Done():
			l.err = l.Context.Err()
			return
		case <-t.C:
		}
		rest := (limit + time.Second - 1).Truncate(time.Second) - limit
		if waited || rest == 0 || !protected() {
			l.err = context.DeadlineExceeded
			return
		}
		t.Reset(rest)
	}
}

// Done implements context.Context.
func (l *limitedContext) Done() <-chan struct{} { return l.done }

// Err implements context.Context.
func (l *limitedContext) Err() error {
	select {
	case <-l.done:
		return l.err
	default:
		return nil
	}
}

// timeLimit returns the time limit of a statement, 0 for none.
func timeLimit(ctx *sql.Context, s sqlparser.Statement) (time.Duration, error) {
	comments, ok := selectComments(s)
	if !ok {
		return 0, nil
	}
	v, err := ctx.GetSessionVariable(ctx, "max_execution_time")
	if err != nil {
		return 0, err
	}
	ms, _ := v.(int64)
	for _, c := range comments {
		for _, hint := range []*regexp.Regexp{timeHint, setTimeHint} {
			if m := hint.FindSubmatch(c); m != nil {
				ms, _ = strconv.ParseInt(string(m[1]), 10, 64)
			}
		}
	}
	const day = int64(24 * time.Hour / time.Millisecond)
	if ms <= 0 || ms > 365*day {
		return 0, nil
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// selectComments returns the comments behind the first SELECT of a statement that is a SELECT, or
// is limited like one.
func selectComments(s sqlparser.Statement) (sqlparser.Comments, bool) {
	switch s := s.(type) {
	case *sqlparser.Select:
		return s.Comments, true
	case *sqlparser.ParenSelect:
		return selectComments(s.Select)
	case *sqlparser.SetOp:
		return selectComments(s.Left)
	case *sqlparser.Explain: // analyses the statement, and EXPLAIN ANALYZE runs it
		return selectComments(s.Statement)
	case *sqlparser.Call: // may be given a statement, or read for long
		return nil, true
	}
	return nil, false
}

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

// CloseAfter is how long a statement may go on after it was to end. What goes on then is computing
// one value, which nothing can end. Tests make it longer, where a busy machine would take a second.
var CloseAfter = time.Second

// CloseLate closes the connection of a statement that goes on for too long after its context has
// ended, so that the client need not wait for what was killed, or is over its limit. ended says
// that the statement has ended.
func CloseLate(ctx context.Context, c *mysql.Conn) (ended func()) {
	over := make(chan struct{})
	var closing sync.Mutex // by which it has either ended or been closed
	undo := context.AfterFunc(ctx, func() {
		t := time.NewTimer(CloseAfter)
		defer t.Stop()
		select {
		case <-over:
		case <-t.C:
			closing.Lock()
			defer closing.Unlock()
			select {
			case <-over:
			default:
				_ = c.Conn.Close()
			}
		}
	})
	return func() {
		undo()
		closing.Lock()
		defer closing.Unlock()
		close(over)
	}
}
