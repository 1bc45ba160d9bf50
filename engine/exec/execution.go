package exec

import (
	"context"
	"fmt"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/engine/store"
	"scrim/internal/refuse"
	"scrim/planner"
)

// execution is one execution of a statement: run once, by whichever node asks first.
type execution struct {
	x         *Executor
	statement *planner.Statement
	principal string

	mu   sync.Mutex
	ran  bool
	err  error
	rows map[*planner.Release][]sql.Row
}

var _ planner.Execution = (*execution)(nil)

// Answer implements planner.Execution.
func (e *execution) Answer(ctx *sql.Context, r *planner.Release) ([]sql.Row, error) {
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
func (e *execution) run(ctx *sql.Context) (map[*planner.Release][]sql.Row, error) {
	answers, err := e.replays(ctx)
	if err != nil {
		return nil, notStarted(err)
	}
	var open []*planner.Release
	for _, r := range e.statement.Releases {
		if answers[r] == nil {
			open = append(open, r)
		}
	}
	if len(open) > 0 {
		receipt, err := e.x.Account.Reserve(ctx, e.request(open))
		if err != nil {
			return nil, err
		}
		err = e.release(ctx, open, answers)
		e.x.Account.Finish(receipt, outcome(err))
		if err != nil {
			return nil, failed(err)
		}
	}
	rows := make(map[*planner.Release][]sql.Row, len(answers))
	for _, r := range e.statement.Releases {
		if rows[r], err = answers[r].rows(ctx, r); err != nil {
			return nil, err
		}
	}
	if e.x.Ran != nil {
		e.x.Ran(ctx, len(e.statement.Releases)-len(open), len(open))
	}
	return rows, nil
}

// replays finds the releases whose answer is kept: same plan, same principal, same versions of all
// tables that it reads. The versions come from one snapshot, which is closed before any charge.
func (e *execution) replays(ctx context.Context) (map[*planner.Release]*answer, error) {
	snap, err := e.x.Store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	found := map[*planner.Release]*answer{}
	for _, r := range e.statement.Releases {
		key, err := answerKey(ctx, snap, e.principal, r)
		if err != nil {
			return nil, err
		}
		if b, ok := e.x.Account.Answer(key); ok {
			if a, ok := decodeAnswer(b); ok {
				found[r] = a
			}
		}
	}
	return found, nil
}

// request is the charge for the releases that are not replays: each protected table in full, each
// entity once a release.
func (e *execution) request(open []*planner.Release) accounting.Request {
	req := accounting.Request{Principal: e.principal, Statement: e.statement.Text}
	tables, entities := map[string]accounting.Loss{}, map[string]accounting.Loss{}
	for _, r := range open {
		for _, t := range r.Tables {
			tables[t] = tables[t].Add(r.Loss)
		}
		for _, n := range r.Entities {
			entities[n] = entities[n].Add(r.Loss)
		}
		req.Mechanisms = joinMechanisms(req.Mechanisms, r)
	}
	for _, c := range e.statement.Tables {
		if l, ok := tables[c.Account]; ok {
			req.Charges = append(req.Charges, accounting.Charge{Account: c.Account, Table: c.Table, Loss: l})
		}
	}
	for _, c := range e.statement.Entities {
		if l, ok := entities[c.Account]; ok {
			req.Charges = append(req.Charges, accounting.Charge{Account: c.Account, Entity: true, Loss: l})
		}
	}
	return req
}

// joinMechanisms appends the texts of a release's aggregates, for the ledger.
func joinMechanisms(text string, r *planner.Release) string {
	for _, a := range r.Aggregates {
		if text != "" {
			text += "; "
		}
		text += a.Text
	}
	if r.Selection != nil {
		text += "; key selection"
	}
	return text
}

// release runs the releases on one snapshot, opened after the charge, and keeps their answers.
func (e *execution) release(ctx *sql.Context, open []*planner.Release, answers map[*planner.Release]*answer) (err error) {
	// A panic here would be a visible, data-dependent end; it becomes the same failure as any other.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("exec: panic: %v", p)
		}
	}()
	snap, err := e.x.Store.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snap.Close()
	for _, r := range open {
		// After the snapshot: what it shows cannot be newer than the definitions that are looked up now.
		for _, d := range r.Defined {
			if err := e.x.Unchanged(ctx, d); err != nil {
				return err
			}
		}
		a, err := e.x.answer(ctx, snap, r)
		if err != nil {
			return err
		}
		answers[r] = a
		e.keep(ctx, snap, r, a)
		e.remember(r, a)
	}
	return nil
}

// keep stores an answer for replays. Failing to is no failure of the statement.
func (e *execution) keep(ctx context.Context, snap store.Snapshot, r *planner.Release, a *answer) {
	key, err := answerKey(ctx, snap, e.principal, r)
	if err == nil {
		var b []byte
		if b, err = a.encode(); err == nil {
			err = e.x.Account.PutAnswer(key, b)
		}
	}
	if err != nil {
		e.x.Lost(err)
	}
}

// tooFewRows is the warning for what is answered in all groups at once and is NULL in some of them.
func tooFewRows(text string) *sql.Warning {
	return &sql.Warning{
		Level:   "Warning",
		Code:    refuse.MySQLErrno,
		Message: fmt.Sprintf("Of %s, a sum or a mean is NULL where the noisy number of persons, or of rows in the group, is under the method's minimum. The charge stands.", text),
	}
}

// tooFew is the warning for aggregates that are NULL because too few persons contribute.
func tooFew(text string, needed int64) *sql.Warning {
	return &sql.Warning{
		Level: "Warning",
		Code:  refuse.MySQLErrno,
		Message: fmt.Sprintf("%s is NULL where its noisy number of persons is under the method's minimum; about %d persons are needed. The charge stands.",
			text, needed),
	}
}
