// Package trace is what the server notes of one statement while it runs, and how it ended: for the
// log, the audit log and whoever watches. Of the statement's text it keeps what is left without its
// literals.
package trace

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/accounting"
	"scrim/engine/exec"
	"scrim/engine/mysql/mysqlerr"
	"scrim/engine/mysql/session"
	"scrim/engine/observe/audit"
	"scrim/engine/observe/watch"
	"scrim/engine/store"
	"scrim/internal/digest"
	"scrim/internal/refuse"
	"scrim/planner/plan"
)

// Trace is what the server notes of one statement. The methods that note something do nothing to a
// nil Trace, of a statement that no client asked for.
type Trace struct {
	ID      string
	Place   audit.Place // for its record in the audit log
	started time.Time
	text    string // without its literals

	mu                sync.Mutex // a plan may begin its parts at the same time
	private           bool
	replayed, charged int
	tables            []string

	reports bool // it brings reports to a collection

	steps *steps // nil where nobody wants to know
}

// New begins the trace of a statement; Of finds it in contexts made from the one that is returned.
func New(ctx context.Context, text string) (context.Context, *Trace) {
	t := &Trace{ID: NewID(), started: time.Now(), text: digest.Redact(text)}
	return context.WithValue(ctx, key{}, t), t
}

type key struct{}

// Of returns the trace of the statement that runs in ctx, nil where no client asked for it.
func Of(ctx context.Context) *Trace {
	t, _ := ctx.Value(key{}).(*Trace)
	return t
}

var idAlphabet = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewID names one statement in the log, the audit log and what the client is told: 40 random bits.
func NewID() string {
	var b [5]byte
	_, _ = rand.Read(b[:]) // never fails
	return strings.ToLower(idAlphabet.EncodeToString(b[:]))
}

// Text is the statement without its literals.
func (t *Trace) Text() string { return t.text }

// SetText says what is run in the place of the text that the trace began with.
func (t *Trace) SetText(text string) {
	if t != nil {
		t.text = digest.Redact(text)
	}
}

// Private notes that a private statement is about to be answered.
func (t *Trace) Private(s *plan.Statement) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.private = true
	for _, c := range s.Tables {
		if !slices.Contains(t.tables, c.Table) {
			t.tables = append(t.tables, c.Table)
		}
	}
}

// Reports notes that the statement brings reports to a collection.
func (t *Trace) Reports() {
	if t != nil {
		t.reports = true
	}
}

// Ran notes where the answers came from.
func (t *Trace) Ran(replayed, charged int) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.replayed += replayed
	t.charged += charged
	t.steps.endLast()
}

// BringsReports tells whether the statement brought reports to a collection.
func (t *Trace) BringsReports() bool { return t.reports }

// Event is the statement's event; cause is the error before it was turned outward as public. ctx
// may be nil.
func (t *Trace) Event(c *mysql.Conn, ctx *sql.Context, cause, public error) watch.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := watch.Event{
		ID: t.ID, At: t.started, Duration: time.Since(t.started), Client: c.ConnectionID, Principal: session.PrincipalOf(c),
		Statement: t.text, Digest: digest.Of(t.text),
		Private: t.private, Tables: t.tables,
	}
	if ctx != nil && ctx.Session != nil {
		e.Database = ctx.GetCurrentDatabase()
	}
	e.Outcome, e.Cause = ending(cause)
	t.steps.tell(&e, ctx)
	if own, ok := mysqlerr.AsSQLError(public); ok {
		e.Errno, e.SQLState = own.Num, own.State
	}
	if e.Outcome == watch.Answered {
		e.Replayed, e.Charged = t.replayed, t.charged
	}
	return e
}

// The causes of endings that are not refusals by one of our rules.
const (
	CausePrivilege = "PRIVILEGE"   // MySQL's own privileges
	CauseSyntax    = "SYNTAX"      // the statement could not be parsed
	CauseStatement = "STATEMENT"   // another of MySQL's conditions, told by the error's number
	CauseTime      = "TIME_LIMIT"  // max_execution_time, or the server's statement-time
	CauseEnded     = "INTERRUPTED" // KILL, a client that went away, or the end of the server
	CauseInternal  = "INTERNAL"    // what the client is not told, see the log
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
		return watch.TimedOut, cause(CauseTime)
	case errors.Is(err, context.Canceled), store.KindOf(err) == store.Interrupted:
		return watch.Cancelled, cause(CauseEnded)
	case refused:
		return watch.Failed, string(r.Code)
	}
	e, ok := mysqlerr.AsSQLError(mysqlerr.Condition(err))
	switch {
	case !ok:
		if mysqlerr.Expected(err) {
			return watch.Failed, CauseStatement
		}
		return watch.Failed, CauseInternal
	case slices.Contains(privilegeErrors, e.Num):
		return watch.Refused, CausePrivilege
	case e.Num == mysql.ERParseError || e.Num == 1065:
		return watch.Failed, CauseSyntax
	}
	return watch.Failed, CauseStatement
}

// privilegeErrors are MySQL's error numbers for what an account may not do.
var privilegeErrors = []int{mysql.ERDBAccessDenied, mysql.ERAccessDeniedError, 1095, 1142, 1143, mysql.ERSpecifiedAccessDenied, 1370, 1410}

// NotingExecutor is the executor that notes, in the session and in the trace, that protected tables
// are about to be read.
type NotingExecutor struct{ plan.Executor }

// Begin implements planner.Executor.
func (e NotingExecutor) Begin(ctx *sql.Context, s *plan.Statement) (plan.Execution, error) {
	if own, ok := session.From(ctx); ok {
		own.TouchProtected()
	}
	Of(ctx).Private(s)
	return e.Executor.Begin(ctx, s)
}

// NotingAccount is an account that notes what is charged in the trace.
type NotingAccount struct{ exec.Account }

// Reserve implements exec.Account.
func (a NotingAccount) Reserve(ctx context.Context, r accounting.Request) (accounting.Receipt, error) {
	t := Of(ctx)
	defer t.Step("reserve")()
	receipt, err := a.Account.Reserve(ctx, r)
	if err == nil {
		t.Charge(receipt.ID)
	}
	return receipt, err
}

// mostSteps bounds the steps of one statement that are noted.
const mostSteps = 256

// steps are the steps of a statement, with what observers of them want to know beside.
type steps struct {
	began  time.Time
	parent string

	mu      sync.Mutex // a plan may begin its parts at the same time
	list    []watch.Step
	open    []int       // those that have not ended, the innermost last
	reads   map[int]int // since the last charge: the steps of releases, by their numbers
	read    []bool      // which of list are steps of releases
	last    int         // the one of a release that has begun and not ended, -1 without
	charges []uint64
}

// traceparent is what clients put at the end of a statement to say what trace it is part of.
var traceparent = regexp.MustCompile(`/\*(?:[^*]*[,\s])?traceparent='([0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2})'[^*]*\*/[\s;]*$`)

// NoteSteps makes the trace note steps from here on. text is the statement as the client sent it.
func (t *Trace) NoteSteps(text string) {
	t.steps = &steps{began: t.started, reads: map[int]int{}, last: -1}
	if m := traceparent.FindStringSubmatch(text); m != nil {
		t.steps.parent = m[1]
	}
}

// nothing ends what was not begun.
var nothing = func() {}

// Step notes that a step begins; what it returns notes its end.
func (t *Trace) Step(name string) (end func()) {
	if t == nil || t.steps == nil {
		return nothing
	}
	t.steps.mu.Lock()
	defer t.steps.mu.Unlock()
	i, ok := t.steps.begin(name)
	if !ok {
		return nothing
	}
	return func() { t.steps.end(i) }
}

// Next notes that a step of the releases that were charged last begins, the number-th: the one
// before has ended. The last of them ends when the trace is told what Ran, or with the step that
// they are a part of. One that is done again, which follows from how much is read, is one step.
func (t *Trace) Next(name string, number int) {
	if t == nil || t.steps == nil {
		return
	}
	s := t.steps
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeLast()
	i, again := s.reads[number]
	if again {
		s.open = append(s.open, i)
	} else {
		var ok bool
		if i, ok = s.begin(name); !ok {
			return
		}
		s.read[i], s.reads[number] = true, i
	}
	s.last = i
}

// Charge notes an entry of the ledger.
func (t *Trace) Charge(entry uint64) {
	if t == nil || t.steps == nil {
		return
	}
	t.steps.mu.Lock()
	defer t.steps.mu.Unlock()
	t.steps.charges = append(t.steps.charges, entry)
	clear(t.steps.reads)
}

// begin begins a step within the innermost that is open. ok is false where there are too many.
func (s *steps) begin(name string) (i int, ok bool) {
	if i = len(s.list); i == mostSteps {
		return 0, false
	}
	within := -1
	if n := len(s.open); n > 0 {
		within = s.open[n-1]
	}
	s.list = append(s.list, watch.Step{Name: name, From: time.Since(s.began), Within: within})
	s.read = append(s.read, false)
	s.open = append(s.open, i)
	return i, true
}

func (s *steps) end(i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.close(i)
}

func (s *steps) endLast() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeLast()
}

func (s *steps) closeLast() {
	if s.last >= 0 {
		s.close(s.last)
		s.last = -1
	}
}

// close ends a step, and those within that nothing has ended.
func (s *steps) close(i int) {
	for at := len(s.open) - 1; at >= 0; at-- {
		if s.open[at] == i {
			s.list[i].To = time.Since(s.began)
			for _, inner := range s.open[at+1:] {
				s.list[inner].To = s.list[i].To
			}
			s.open = s.open[:at]
			return
		}
	}
}

// tell puts the steps into the event of the statement, which has ended. ctx may be nil.
//
// Of a private statement that gave no answer the steps of its releases are left out: how far it
// came may follow from rows.
//
// How long the statements of an analyst that touch no protected table take follows from public rows
// alone. A DBA may read and write the others, too, in more ways than are noted.
func (s *steps) tell(e *watch.Event, ctx *sql.Context) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.open {
		s.list[i].To = e.Duration
	}
	e.Steps, e.Charges, e.Parent = s.told(!e.Private || e.Outcome == watch.Answered), slices.Clone(s.charges), s.parent
	if ctx == nil {
		return
	}
	if own, ok := session.From(ctx); ok {
		e.Public = !e.Private && !own.TouchesProtected() && !session.IsDBA(ctx)
	}
}

// told are the steps, with those of releases or without.
func (s *steps) told(reads bool) []watch.Step {
	var out []watch.Step
	at := make([]int, len(s.list)) // where each is in out, or what it is a part of
	for i, step := range s.list {
		if step.Within >= 0 {
			step.Within = at[step.Within]
		}
		if at[i] = step.Within; reads || !s.read[i] {
			at[i] = len(out)
			out = append(out, step)
		}
	}
	return out
}
