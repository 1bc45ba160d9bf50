package exec

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/engine/estimator/reconcile"
	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/internal/remark"
	"scrim/internal/spent"
	"scrim/planner/plan"
)

// execution is one execution of a statement: run once, by whichever node asks first.
type execution struct {
	x         *Executor
	statement *plan.Statement
	principal string
	owner     string // see Executor.Owner
	roles     []string
	text      string // of the statement, redacted
	digest    string // of text

	mu   sync.Mutex
	ran  bool
	err  error
	rows map[*plan.Release][]sql.Row
}

var _ plan.Execution = (*execution)(nil)

// Answer implements planner.Execution.
func (e *execution) Answer(ctx *sql.Context, r *plan.Release) ([]sql.Row, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.ran {
		e.ran = true
		e.rows, e.err = e.run(ctx)
	}
	if e.err != nil {
		return nil, e.err
	}
	rows, ok := e.rows[r]
	if !ok {
		return nil, fmt.Errorf("exec: release is not part of the statement")
	}
	return rows, nil
}

// run answers every release of the statement: stored ones for nothing, the rest after one charge.
func (e *execution) run(ctx *sql.Context) (map[*plan.Release][]sql.Row, error) {
	found, missing, err := e.replays(ctx)
	if err != nil {
		return nil, notStarted(err)
	}
	if e.statement.Viewed() && (len(missing) > 0 || e.statement.ViewsFirst) {
		return e.viewed(ctx)
	}
	if len(missing) > 0 {
		free, waited, err := e.x.flights.take(ctx, missing)
		if err != nil {
			return nil, notStarted(err)
		}
		defer free()
		if waited {
			if found, _, err = e.replays(ctx); err != nil {
				return nil, notStarted(err)
			}
		}
	}
	answers, err := e.answers(ctx, found)
	if err != nil {
		return nil, err
	}
	charged := len(answers) > len(found)
	answers, apart := reconciled(e.statement, answers)
	rows := make(map[*plan.Release][]sql.Row, len(answers))
	for _, r := range e.statement.Releases {
		if rows[r], err = answers[r].rows(r); err != nil {
			return nil, err
		}
	}
	e.reused(found)
	if e.x.Ran != nil {
		e.x.Ran(ctx, len(found), len(answers)-len(found))
	}
	return rows, e.tell(ctx, answers, apart, charged)
}

// tell tells the client the remarks on the statement's answers, charged ones and stored ones. Under
// dp_warnings = 'error' one of them that is a warning ends the statement. The answers have been
// paid for and kept by then, and the statement without that parameter has the same releases.
func (e *execution) tell(ctx *sql.Context, answers map[*plan.Release]*answer, apart reconcile.Apart, charged bool) error {
	if e.statement.Pilot {
		return nil
	}
	list := remarks(ctx, e.statement, answers, charged)
	if n := apart.Absent + apart.Off; n > 0 {
		list = append(list, totalsRemark(apart))
		remark.Sort(list)
	}
	remark.Add(ctx, list...)
	worst, weak := remark.Gravest(list)
	if !weak || !e.statement.Strict {
		return nil
	}
	cost := "It is a stored answer, for which nothing was charged now."
	if charged {
		cost = "The charge was made, and stands."
	}
	return refuse.New(refuse.WeakAnswer, "%s Under dp_warnings = 'error' the answer is not shown. %s", worst.Message(), cost)
}

// answers makes the answers that were not found, after one charge for all of them.
func (e *execution) answers(ctx *sql.Context, found map[*plan.Release]stored) (map[*plan.Release]*answer, error) {
	answers := map[*plan.Release]*answer{}
	var open []*plan.Release
	for _, r := range e.statement.Releases {
		if f, ok := found[r]; ok {
			answers[r] = f.answer
			spent.Replayed(ctx, spent.Entry{Charge: f.about.Charge, Accounts: r.Tables, Statement: e.text, Digest: e.digest})
		} else {
			open = append(open, r)
		}
	}
	if len(open) == 0 {
		return answers, nil
	}
	receipt, err := e.x.reserve(ctx, e.request(open))
	if err != nil {
		return nil, err
	}
	err = tried(func() error {
		err := e.release(ctx, open, answers, receipt)
		if err == nil {
			e.x.Account.Remark(receipt, e.summary(ctx, open, answers))
		}
		return err
	})
	e.x.Account.Finish(receipt, outcome(err))
	if err != nil {
		return nil, failed(err)
	}
	return answers, nil
}

// reserve makes a charge durable, unless the disk has no room for what it pays for. All charges are
// made here.
func (x *Executor) reserve(ctx *sql.Context, r accounting.Request) (accounting.Receipt, error) {
	if err := x.Store.Room(); err != nil {
		return accounting.Receipt{}, noRoom(err)
	}
	receipt, err := x.Account.Reserve(ctx, r)
	if err == nil {
		spent.Charged(ctx, receipt.ID)
	}
	return receipt, err
}

// reads are the tables that releases read, each once.
func reads(open []*plan.Release) (refs []store.TableRef) {
	for _, r := range open {
		for _, t := range r.Reads {
			if !slices.Contains(refs, t) {
				refs = append(refs, t)
			}
		}
	}
	return refs
}

// statements are all that the releases ask the store for, as far as they name tables.
func statements(open []*plan.Release) (list []string) {
	for _, r := range open {
		list = append(list, lists.Map(r.Scans, func(s plan.Scan) string { return s.SQL })...)
		if r.Persons != "" {
			list = append(list, r.Persons)
		}
	}
	return list
}

// summary is what the ledger says of the answers that were charged: released numbers and public
// facts, without literals of the statement, as remarks has them.
func (e *execution) summary(ctx *sql.Context, open []*plan.Release, answers map[*plan.Release]*answer) string {
	charged := map[*plan.Release]*answer{}
	for _, r := range open {
		charged[r] = answers[r]
	}
	return remark.Summary(remarks(ctx, e.statement, charged, true))
}

// release runs the releases on one snapshot, opened after the charge, and keeps their answers.
func (e *execution) release(ctx *sql.Context, open []*plan.Release, answers map[*plan.Release]*answer, receipt accounting.Receipt) error {
	snapshot := e.x.Store.Snapshot
	if len(open) == 1 && len(open[0].Scans) == 1 && open[0].Selection == nil && open[0].Persons == "" {
		snapshot = e.x.Store.Once
	}
	made, progress := make([]*answer, len(open)), e.x.progressOf(ctx, open)
	drawn := make([]draws, len(open))
	return e.x.onSnapshot(ctx, snapshot, func(snap store.Snapshot) error {
		return e.attempt(ctx, snap, open, answers, made, drawn, progress, receipt)
	})
}

// onSnapshot runs f on a snapshot, and where it had too little memory or disk because of what ran
// beside it once more, alone: whether a statement ends well must not follow from how many persons
// it reads together with what others read. That there was a first attempt must not be seen in what
// is released: that it failed may follow from the rows and from noise that was drawn before, of
// which the charge knows nothing. So the snapshot shows the same state, and f draws the same noise
// (draws): docs/proofs/again.md.
func (x *Executor) onSnapshot(ctx context.Context, open func(context.Context) (store.Snapshot, error), f func(store.Snapshot) error) error {
	// A panic would be a visible, data-dependent end; it becomes the same failure as any other.
	return tried(func() error {
		snap, err := open(ctx)
		if err != nil {
			return err
		}
		defer snap.Close()
		err = tried(func() error { return f(snap) })
		if !store.Crowded(err) {
			return err
		}
		if err = ctx.Err(); err == nil {
			err = snap.Alone(ctx)
		}
		if err != nil {
			return err
		}
		return f(snap)
	})
}

// attempt makes the answers on a snapshot that made lacks, and keeps all when all are there.
// Nothing is released from tables that are not defined any more as the plan took them: they are
// looked up when the scans have ended, and what was scanned cannot be newer than that.
func (e *execution) attempt(ctx *sql.Context, snap store.Snapshot, open []*plan.Release, answers map[*plan.Release]*answer, made []*answer, drawn []draws, progress *progress, receipt accounting.Receipt) error {
	if err := store.Pin(ctx, snap, reads(open), statements(open)); err != nil {
		return err
	}
	now, steps := maps.Clone(answers), 0
	lasting := ctx.WithContext(context.WithoutCancel(ctx.Context)) // what is drawn is kept though the client has gone
	for i, r := range open {
		progress.step = steps
		if steps += stepsOf(r); made[i] != nil {
			now[r] = made[i]
			continue
		}
		with, _, err := withAnswers(r, now)
		if err != nil {
			return err
		}
		drawn[i].fresh, drawn[i].next = e.x.drawn(receipt), 0
		a, err := e.x.answer(ctx, snap, with, progress, &drawn[i])
		for _, d := range r.Defined { // a change may be why a scan failed
			if err := e.x.Unchanged(lasting, d); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
		made[i], now[r] = a, a
	}
	for i, r := range open {
		answers[r] = made[i]
		if err := e.keep(lasting, snap, r, answers, receipt); err != nil {
			e.x.Lost(err)
		}
		e.remember(r, made[i])
	}
	return nil
}

// progress tells how far a statement is, in steps of the plan: their names and their number are
// public. How long one takes follows from the rows, as the time of the whole statement does. A step
// that begins again is not told again.
type progress struct {
	tell        func(name string, step, steps int) // nil where nobody wants to know
	step, steps int
	told        int // the highest step that was
}

// stepsOf is how many steps a release has.
func stepsOf(r *plan.Release) int {
	if r.Selection == nil {
		return len(r.Scans) + 1
	}
	return len(r.Scans) + 2
}

// progressOf is that of the releases of a statement.
func (x *Executor) progressOf(ctx *sql.Context, releases []*plan.Release) *progress {
	p := &progress{}
	if x.Progress == nil {
		return p
	}
	p.tell = func(name string, step, steps int) { x.Progress(ctx, name, step, steps) }
	for _, r := range releases {
		p.steps += stepsOf(r)
	}
	return p
}

// begin begins the next step.
func (p *progress) begin(format string, args ...any) {
	if p.step++; p.tell != nil && p.step > p.told {
		p.told = p.step
		p.tell(fmt.Sprintf(format, args...), p.step, p.steps)
	}
}
