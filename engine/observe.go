package engine

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/rs/zerolog"

	"scrim/engine/audit"
	"scrim/engine/mysqlerr"
	"scrim/engine/store"
	"scrim/engine/watch"
	"scrim/internal/digest"
	"scrim/internal/refuse"
	"scrim/planner/plan"
)

// observed is what the server notes of one statement while it runs. Of the text it keeps the redacted form only.
type observed struct {
	id       string
	started  time.Time
	redacted string
	place    audit.Place // for its record

	mu                sync.Mutex // a plan may begin its parts at the same time
	private           bool
	replayed, charged int
	tables            []string

	reports bool // it brings reports to a collection
}

// observe begins to note a statement; at finds it again in contexts made from the one that is returned.
func observe(ctx context.Context, text string) (context.Context, *observed) {
	o := &observed{id: newID(), started: time.Now(), redacted: digest.Redact(text)}
	return context.WithValue(ctx, observedKey{}, o), o
}

type observedKey struct{}

// at returns the notes of the statement that runs in ctx, nil where no client asked for it.
func at(ctx context.Context) *observed {
	o, _ := ctx.Value(observedKey{}).(*observed)
	return o
}

var idAlphabet = base32.StdEncoding.WithPadding(base32.NoPadding)

// newID names one statement in the log, the audit log and what the client is told: 40 random bits.
func newID() string {
	var b [5]byte
	_, _ = rand.Read(b[:]) // never fails
	return strings.ToLower(idAlphabet.EncodeToString(b[:]))
}

// narrow says that only the first statement of the text is run.
func (o *observed) narrow(first string) {
	if o != nil {
		o.redacted = digest.Redact(first)
	}
}

// begin notes a statement that is about to run, for which the audit log must have a place.
func (h *handler) begin(ctx context.Context, c *mysql.Conn, text string) (context.Context, *observed, error) {
	ctx, o := observe(store.ForAccount(ctx, principalOf(c)), text)
	var err error
	if o.place, err = h.admit(); err != nil {
		return ctx, o, h.end(nil, c, o, err)
	}
	return ctx, o, nil
}

// begin notes that a private statement is about to be answered.
func (o *observed) begin(s *plan.Statement) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.private = true
	for _, c := range s.Tables {
		if !slices.Contains(o.tables, c.Table) {
			o.tables = append(o.tables, c.Table)
		}
	}
}

// submits notes that the statement brings reports to a collection.
func (o *observed) submits() {
	if o != nil {
		o.reports = true
	}
}

// ran notes where the answers came from.
func (o *observed) ran(replayed, charged int) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.replayed += replayed
	o.charged += charged
}

// event is the statement's event; cause is the error before it was turned outward as public.
func (o *observed) event(c *mysql.Conn, ctx *sql.Context, cause, public error) watch.Event {
	o.mu.Lock()
	defer o.mu.Unlock()
	e := watch.Event{
		ID: o.id, At: o.started, Duration: time.Since(o.started), Client: c.ConnectionID, Principal: principalOf(c),
		Statement: o.redacted, Digest: digest.Of(o.redacted),
		Private: o.private, Tables: o.tables,
	}
	if ctx != nil && ctx.Session != nil {
		e.Database = ctx.GetCurrentDatabase()
	}
	e.Outcome, e.Cause = ending(cause)
	if own, ok := mysqlerr.AsSQLError(public); ok {
		e.Errno, e.SQLState = own.Num, own.State
	}
	if e.Outcome == watch.Answered {
		e.Replayed, e.Charged = o.replayed, o.charged
	}
	return e
}

// The causes of endings that are not refusals by one of our rules.
const (
	causePrivilege = "PRIVILEGE"   // MySQL's own privileges
	causeSyntax    = "SYNTAX"      // the statement could not be parsed
	causeStatement = "STATEMENT"   // another of MySQL's conditions, told by the error's number
	causeTime      = "TIME_LIMIT"  // max_execution_time
	causeEnded     = "INTERRUPTED" // KILL, a client that went away, or the end of the server
	causeInternal  = "INTERNAL"    // what the client is not told, see the log
)

// ending names how a statement ended and why, from the error before it was turned outward.
func ending(err error) (watch.Outcome, string) {
	if err == nil {
		return watch.Answered, ""
	}
	r, refused := mysqlerr.RefusedBy(err)
	cause := func(other string) string {
		if refused {
			return string(r.Code)
		}
		return other
	}
	switch {
	case refused && r.Code != refuse.Failed && r.Code != refuse.Ledger:
		return watch.Refused, string(r.Code)
	case errors.Is(err, context.DeadlineExceeded):
		return watch.TimedOut, cause(causeTime)
	case errors.Is(err, context.Canceled), store.KindOf(err) == store.Interrupted:
		return watch.Cancelled, cause(causeEnded)
	case refused:
		return watch.Failed, string(r.Code)
	}
	e, ok := mysqlerr.AsSQLError(mysqlerr.Condition(err))
	switch {
	case !ok:
		if mysqlerr.Expected(err) {
			return watch.Failed, causeStatement
		}
		return watch.Failed, causeInternal
	case slices.Contains(privilegeErrors, e.Num):
		return watch.Refused, causePrivilege
	case e.Num == mysql.ERParseError || e.Num == 1065:
		return watch.Failed, causeSyntax
	}
	return watch.Failed, causeStatement
}

// privilegeErrors are MySQL's error numbers for what an account may not do.
var privilegeErrors = []int{mysql.ERDBAccessDenied, mysql.ERAccessDeniedError, 1095, 1142, 1143, mysql.ERSpecifiedAccessDenied, 1370, 1410}

// tell hands the event to whoever watches, and writes the log's line: private statements and what did not succeed at the
// level info, the rest at debug. What clients are not told has a line of its own, under the same id.
func (h *handler) tell(e watch.Event) {
	level := zerolog.DebugLevel
	if e.Private || e.Outcome != watch.Answered {
		level = zerolog.InfoLevel
	}
	if l := h.errors.Log.WithLevel(level); l.Enabled() {
		l = l.Str("id", e.ID).Str("principal", e.Principal).Uint32("connection", e.Client).Str("outcome", string(e.Outcome)).
			Dur("ms", e.Duration).Str("digest", e.Digest).Str("statement", e.Statement)
		if e.Errno != 0 {
			l = l.Int("errno", e.Errno).Str("cause", e.Cause)
		}
		if e.Private {
			l = l.Strs("tables", e.Tables).Int("replayed", e.Replayed).Int("charged", e.Charged)
		}
		l.Msg("statement")
	}
	h.observe(e)
}

// observe hands an event to whoever watches.
func (s *Server) observe(e watch.Event) { s.observers.Statement(e) }
