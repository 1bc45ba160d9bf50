package statement

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/rs/zerolog"

	"scrim/engine/audit"
	"scrim/engine/mysqlerr"
	"scrim/engine/session"
	"scrim/engine/statement/trace"
	"scrim/engine/store"
	"scrim/engine/watch"
)

// begin notes a statement that is about to run, for which the audit log must have a place.
func (h *Handler) begin(ctx context.Context, c *mysql.Conn, text string) (context.Context, *trace.Trace, error) {
	ctx, t := trace.New(store.ForAccount(ctx, session.PrincipalOf(c)), text)
	if h.Steps {
		t.NoteSteps(text)
	}
	var err error
	if t.Place, err = h.admit(); err != nil {
		return ctx, t, h.end(nil, c, t, err)
	}
	return ctx, t, nil
}

// end is the way out of every statement: it turns the error outward and tells how the statement
// ended. ctx may be nil.
func (h *Handler) end(ctx *sql.Context, c *mysql.Conn, t *trace.Trace, err error) error {
	f := mysqlerr.Context{Principal: c.User, ID: t.ID, Statement: mysqlerr.Statement{Text: t.Text()}}
	if ctx != nil {
		f.Statement.Database = ctx.GetCurrentDatabase()
		if s, ok := session.From(ctx); ok {
			f.Protected, f.Principal = s.TouchesProtected(), s.Principal()
		}
	}
	public := h.Errors.Public(err, f)
	if own, ok := mysqlerr.AsSQLError(public); ok && ctx != nil {
		warn(ctx, own, t.ID)
	}
	e := t.Event(c, ctx, err, public)
	if t.BringsReports() && err == nil {
		t.Place.Free()
		h.Observe(anonymous(e))
		return nil
	}
	t.Place.Write(audit.Of(e))
	h.tell(e)
	return public
}

// warn makes SHOW WARNINGS show the error, as MySQL does, and the id under which the server's logs
// have the statement.
func warn(ctx *sql.Context, e *mysql.SQLError, id string) {
	ctx.ClearWarnings()
	// The latest comes first.
	ctx.Session.Warn(&sql.Warning{Level: "Note", Code: mysql.ERUnknownError, Message: "The statement's id in the server's logs is " + id})
	ctx.Session.Warn(&sql.Warning{Level: "Error", Code: e.Num, Message: e.Message})
}

// tell hands the event to whoever watches, and writes the log's line: private statements and what
// did not succeed at the level info, the rest at debug. What clients are not told has a line of its
// own, under the same id.
func (h *Handler) tell(e watch.Event) {
	level := zerolog.DebugLevel
	if e.Private || e.Outcome != watch.Answered {
		level = zerolog.InfoLevel
	}
	if l := h.Errors.Log.WithLevel(level); l.Enabled() {
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
	h.Observe(e)
}

// anonymous is what is told of reports that were taken: that they were, to who counts statements.
// When which account sent them, and from where, is kept nowhere.
func anonymous(e watch.Event) watch.Event {
	return watch.Event{At: e.At, Duration: e.Duration, Statement: e.Statement, Digest: e.Digest, Outcome: e.Outcome}
}
