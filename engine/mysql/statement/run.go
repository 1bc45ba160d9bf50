package statement

import (
	"cmp"
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/rs/zerolog"

	"scrim/engine/mysql/browse"
	"scrim/engine/mysql/dialect"
	"scrim/engine/mysql/gate"
	"scrim/engine/mysql/mysqlerr"
	"scrim/engine/mysql/session"
	"scrim/engine/mysql/statement/cutoff"
	"scrim/engine/mysql/statement/processlist"
	"scrim/engine/mysql/statement/result"
	"scrim/engine/mysql/statement/trace"
	"scrim/engine/mysql/tables"
	"scrim/engine/mysql/wire"
	"scrim/engine/observe/audit"
	"scrim/engine/observe/watch"
	"scrim/engine/store"
	"scrim/planner/parse"
	"scrim/planner/settings"
)

// command is one statement to run.
type command struct {
	text     string
	multi    bool                // text may go on after the statement
	rest     string              // what follows text, in the client's character set
	prepared sqlparser.Statement // text, when it was prepared, with bindings for its question marks
	bindings map[string]sqlparser.Expr
}

// run executes one statement, sends its result, and returns what follows the statement in text.
func (h *Handler) run(ctx context.Context, c *mysql.Conn, cmd command, send wire.Send) (rest string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ctx, t, err := h.begin(ctx, c, cmd.text)
	if err != nil {
		return "", err
	}
	var sqlCtx *sql.Context
	err = mysqlerr.Guard(func() error {
		var err error
		if sqlCtx, err = h.Sessions.NewContextWithQuery(ctx, c, cmd.text); err != nil {
			return err
		}
		list := sqlCtx.ProcessList
		sqlCtx.ProcessList = processlist.Own{ProcessList: list, User: sqlCtx.Session.Client(), All: session.IsDBA(sqlCtx)}
		w := cutoff.WatchClient(c, cancel)
		defer w.Stop()
		if sqlCtx, err = list.BeginQuery(sqlCtx, t.Text()); err != nil {
			return err
		}
		defer list.EndQuery(sqlCtx)
		sql.StatusVariables.IncrementGlobal("Queries", 1)
		if err := sql.SessionCommandBegin(sqlCtx.Session); err != nil {
			return err
		}
		defer sql.SessionCommandEnd(sqlCtx.Session)
		rest, err = h.execute(sqlCtx, c, cmd, w, send)
		return err
	})
	if err = h.end(sqlCtx, c, t, err); err != nil {
		return "", err
	}
	return rest, nil
}

// execute parses, plans and runs a statement under its deadline.
func (h *Handler) execute(ctx *sql.Context, c *mysql.Conn, cmd command, w *cutoff.Watch, send wire.Send) (rest string, err error) {
	parsed, text, rest, err := h.read(ctx, cmd)
	if err != nil {
		return "", err
	}
	switch s := parsed.(type) {
	case *sqlparser.Prepare, *sqlparser.Deallocate:
		if err := h.named(ctx, s); err != nil {
			return "", err
		}
		return rest, send(&sqltypes.Result{}, rest != "")
	case *sqlparser.Execute:
		if cmd, err = h.executed(ctx, s); err != nil {
			return "", err
		}
		trace.Of(ctx).SetText(cmd.text)
		if parsed, text, _, err = h.read(ctx, cmd); err != nil {
			return "", err
		}
	case *sqlparser.Load:
		return rest, h.load(ctx, c, s, w, func(r *sqltypes.Result) error { return send(r, rest != "") })
	}
	if r, done, err := h.reports().Take(ctx, parsed, cmd.bindings); done || err != nil {
		if err != nil {
			return "", interrupted(ctx, err)
		}
		return rest, send(r, rest != "")
	}
	ctx = parse.WithStatement(ctx, text, parsed)
	limited, end, err := cutoff.Limit(ctx, parsed, time.Duration(h.Longest.Load()))
	if err != nil {
		return "", err
	}
	defer end()
	defer cutoff.CloseLate(limited.Context, c)()
	if len(cmd.bindings) > 0 {
		// The engine looks for a statement with bindings here, by its text.
		limited.Session.PrepareQuery(text, parsed)
		defer limited.Session.UnprepareQuery(text)
	}
	return rest, interrupted(limited, h.answer(limited, c, text, parsed, cmd.bindings, rest != "", send))
}

// read parses a statement and checks it.
func (h *Handler) read(ctx *sql.Context, cmd command) (s sqlparser.Statement, text, rest string, err error) {
	defer trace.Of(ctx).Step("parse")()
	if s, text, rest, err = h.parse(ctx, cmd); err == nil {
		err = h.check(ctx, text, s)
	}
	return s, text, rest, err
}

// check refuses what the account may not send, and makes the statement keep or clear the
// messages of the one before.
func (h *Handler) check(ctx *sql.Context, text string, s sqlparser.Statement) error {
	if err := gate.Confine(ctx, h.grants(), text, s); err != nil {
		return err
	}
	diagnose(ctx, s, text)
	return nil
}

// parse parses the command's statement, or the first of its statements, and returns its own text
// and what follows it.
func (h *Handler) parse(ctx *sql.Context, cmd command) (s sqlparser.Statement, text, rest string, err error) {
	if cmd.prepared != nil {
		return cmd.prepared, cmd.text, "", nil
	}
	s, text, rest, err = h.Engine.Parser.Parse(ctx, cmd.text, cmd.multi)
	if err != nil {
		return nil, "", "", unparsed(err)
	}
	text = cmp.Or(text, cmd.text)
	if strings.Contains(text, "?") && dialect.Placeholders(ctx, text) > 0 {
		return nil, "", "", sql.ErrUnboundPreparedStatementVariable.New("?")
	}
	if cmd.rest != "" {
		rest = cmd.rest
	}
	if rest != "" {
		trace.Of(ctx).SetText(text)
		if blank(rest) {
			rest = ""
		}
	}
	return s, text, rest, nil
}

// unparsed is the error of a text that the parser refuses.
func unparsed(err error) error {
	if errors.Is(err, sqlparser.ErrEmpty) {
		return mysql.NewSQLError(1065, "42000", "Query was empty")
	}
	if _, ok := mysqlerr.AsSQLError(err); ok {
		return err
	}
	return mysqlerr.OfParser(err)
}

// interrupted adds the context's end to an error that it caused, whatever the error says.
func interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return err
}

// answer runs the statement and sends the result.
func (h *Handler) answer(ctx *sql.Context, c *mysql.Conn, query string, parsed sqlparser.Statement, bindings map[string]sqlparser.Expr, more bool, send wire.Send) error {
	planned := trace.Of(ctx).Step("plan")
	schema, rows, err := queries{h.Engine}.begin(ctx, query, parsed, bindings)
	planned()
	if err != nil {
		return err
	}
	defer trace.Of(ctx).Step("rows")()
	last, err := result.Spool(tables.AsText(ctx, rows), schema, rows, func(r *sqltypes.Result) error { return send(r, more) })
	if err != nil {
		return err
	}
	if err := statusFlags(ctx, c); err != nil {
		return err
	}
	if last == nil {
		return nil
	}
	return send(last, more)
}

// statusFlags tells the client about autocommit and its transaction.
func statusFlags(ctx *sql.Context, c *mysql.Conn) error {
	auto, err := plan.IsSessionAutocommit(ctx)
	if err != nil {
		return err
	}
	c.StatusFlags &^= uint16(mysql.ServerStatusAutocommit) | uint16(mysql.ServerInTransaction)
	if auto {
		c.StatusFlags |= uint16(mysql.ServerStatusAutocommit)
	}
	if ctx.GetTransaction() != nil {
		c.StatusFlags |= uint16(mysql.ServerInTransaction)
	}
	return nil
}

// queries are planned and begun by the SQL engine.
type queries struct{ engine *sqle.Engine }

// begin plans a statement and begins its execution. A statement whose cost only a pilot can tell is
// run as its own pilot first: that is charged and recorded like any other statement, and its rows
// are dropped, but what they tell about their error is kept for the plan of the statement itself.
func (q queries) begin(ctx *sql.Context, text string, parsed sqlparser.Statement, bindings map[string]sqlparser.Expr) (sql.Schema, sql.RowIter, error) {
	schema, rows, err := q.planned(ctx, text, parsed, bindings)
	var needed *settings.PilotNeeded
	if !errors.As(err, &needed) {
		return schema, rows, err
	}
	if err := q.drop(settings.WithPilot(ctx, needed), text, parsed, bindings); err != nil {
		return nil, nil, err
	}
	return q.planned(settings.AfterPilot(ctx), text, parsed, bindings)
}

// planned plans a statement once more where the session has no current database and the binder
// wants one.
func (q queries) planned(ctx *sql.Context, text string, parsed sqlparser.Statement, bindings map[string]sqlparser.Expr) (sql.Schema, sql.RowIter, error) {
	schema, rows, _, err := q.engine.QueryWithBindings(ctx, text, parsed, bindings, &sql.QueryFlags{})
	if sql.ErrNoDatabaseSelected.Is(err) {
		return q.withoutDatabase(ctx, text, bindings, err)
	}
	return schema, rows, err
}

// drop runs a statement for what it leaves behind.
func (q queries) drop(ctx *sql.Context, text string, parsed sqlparser.Statement, bindings map[string]sqlparser.Expr) error {
	_, rows, err := q.planned(ctx, text, parsed, bindings)
	if err != nil {
		return err
	}
	for {
		if _, err = rows.Next(ctx); err != nil {
			break
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close(ctx))
}

// withoutDatabase plans a statement again for a session without a current database: the binder
// wants one to expand a view, even where every name is qualified. Nothing was executed before
// cause, and an unqualified name still ends in it.
func (q queries) withoutDatabase(ctx *sql.Context, query string, bindings map[string]sqlparser.Expr, cause error) (sql.Schema, sql.RowIter, error) {
	ctx.SetCurrentDatabase(sql.InformationSchemaDatabaseName)
	defer ctx.SetCurrentDatabase("")
	schema, rows, _, err := q.engine.QueryWithBindings(ctx, query, nil, bindings, &sql.QueryFlags{})
	if sql.ErrTableNotFound.Is(err) {
		err = cause
	}
	return schema, rows, err
}

// messageCounts are the variables that tell how many messages the statement before has left.
var messageCounts = regexp.MustCompile(`(?i)@@(?:(?:session|local)\s*\.\s*)?` + "`?(?:warning|error)_count")

// diagnose makes the statement keep or clear the messages of the one before it, as in MySQL: what
// shows them keeps them.
func diagnose(ctx *sql.Context, s sqlparser.Statement, text string) {
	own, ok := session.From(ctx)
	if !ok {
		return
	}
	show, ok := s.(*sqlparser.Show)
	switch _, named := s.(*sqlparser.Execute); {
	case named: // what it names is diagnosed
	case ok && strings.EqualFold(show.Type, "warnings"), browse.ShowsMessages(s):
		own.Diagnose(session.Keeps)
	case strings.Contains(text, "@@") && messageCounts.MatchString(text):
		own.Diagnose(session.Counts)
	default:
		own.Diagnose(session.Clears)
	}
}

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
	return encoded(c, public)
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
