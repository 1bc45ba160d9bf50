package exec

import (
	"context"
	"errors"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/accounting/record"
	"scrim/engine/estimator/noise"
	"scrim/engine/store"
	"scrim/internal/digest"
	"scrim/internal/refuse"
	"scrim/internal/remark"
	"scrim/internal/spent"
	"scrim/internal/spill"
	"scrim/planner/plan"
)

// Account is what the executor needs of the privacy account.
type Account interface {
	// Reserve makes a charge durable, or refuses it and changes nothing.
	Reserve(context.Context, accounting.Request) (accounting.Receipt, error)
	// Renew makes a charge again where windows have begun since: see accounting.Ledger.Renew.
	Renew(ctx context.Context, charge uint64) (accounting.Receipt, error)
	// Finish records how the execution ended. It never gives anything back.
	Finish(accounting.Receipt, record.Outcome)
	// Remark records what there is to say of the answer, "" for nothing.
	Remark(accounting.Receipt, string)
	// KeepAnswer and Recall keep released answers, so that asking again is free; Reused is told of
	// those that were given again.
	KeepAnswer(key, value []byte, about accounting.StoredAnswer) error
	Recall(key []byte) (value []byte, about accounting.StoredAnswer, ok bool)
	Reused(accounting.Replay)
	// Answer and PutAnswer keep what is not listed.
	Answer(key []byte) ([]byte, bool)
	PutAnswer(key, value []byte) error
}

// Executor implements planner.Executor. All fields are required. It is safe for concurrent use.
type Executor struct {
	Store   store.Store
	Account Account
	// Noise makes the noise of one estimator on one group. It is called in the order of groups and
	// aggregates, so that a test which injects a source gets the same answer every time.
	Noise func() noise.Noiser
	// Principal names the account that pays: user@host as authenticated.
	Principal func(*sql.Context) string
	// Owner names it apart from other accounts of that name: it gets the replays.
	Owner func(*sql.Context) string
	// Roles names the roles granted to it, whose budgets a charge counts for, too. Nil: none.
	Roles func(*sql.Context) []string
	// Units tells which entities are protected by period. Nil: none.
	Units UnitsOf
	// Fixed, if not nil, names the statement by which the client has fixed what its session reads,
	// "" if none has.
	Fixed func(*sql.Context) string
	// Unchanged returns an error if a table is not defined any more as a plan took it.
	Unchanged func(*sql.Context, plan.Definition) error
	// Memory bounds what the public sizes of one release take, in bytes: the numbers of an answer
	// in the groups that were selected. Plans whose sizes are all public have been compared with it
	// before.
	Memory int64
	// Spill gives the memory of what grows with the number of persons.
	Spill *spill.Pool
	// Lost is told when an answer could not be kept for replays; the answer itself is not affected.
	Lost func(error)

	flights flights
	counts  personCounts
	// Progress, if not nil, is told of each step of the plan that begins.
	Progress func(ctx *sql.Context, name string, step, steps int)
	// Ran, if not nil, is told of a statement that was answered how many of its releases were
	// replays and how many were charged.
	Ran func(ctx *sql.Context, replayed, charged int)
}

var _ plan.Executor = (*Executor)(nil)

// Begin implements planner.Executor. A release reads the newest data, which is not what a client
// expects that has fixed a snapshot.
func (x *Executor) Begin(ctx *sql.Context, s *plan.Statement) (plan.Execution, error) {
	if x.Fixed != nil {
		if by := x.Fixed(ctx); by != "" {
			return nil, refuse.New(refuse.Context, "A private query reads the newest data, not those that %s has fixed; nothing was charged.", by).
				With("End it with COMMIT, ROLLBACK or UNLOCK TABLES, and ask then.")
		}
	}
	remark.Begin(ctx)
	spent.Begin(ctx)
	e := &execution{x: x, statement: s, principal: x.Principal(ctx), owner: x.Owner(ctx), text: digest.Redact(s.Text)}
	e.digest = digest.Of(e.text)
	if x.Roles != nil {
		e.roles = x.Roles(ctx)
	}
	return e, nil
}

// failure is an error of the execution: the client sees a fixed refusal, the log the cause.
type failure struct {
	public *refuse.Error
	cause  error
}

// failed is an error after the charge.
func failed(cause error) error {
	return &failure{refuse.New(refuse.Failed, "The query on protected data did not finish; its charge stands."), cause}
}

// notStarted is an error before the charge.
func notStarted(cause error) error {
	return &failure{refuse.New(refuse.Failed, "The query on protected data could not be started; nothing was charged."), cause}
}

// Limit is a failure of a release whose released keys are too many: what was wanted, and what there
// is. It acts on released numbers only, and may be logged.
type Limit struct {
	What         string
	Wanted, Have int64
}

// Error tells what was wanted and what there is.
func (l *Limit) Error() string {
	return fmt.Sprintf("exec: want %d %s, at most %d may be", l.Wanted, l.What, l.Have)
}

// noRoom is a refusal before the charge: the disk has no room for what the query may spill.
func noRoom(cause error) error {
	return &failure{refuse.New(refuse.Space, "The server's directory for temporary files cannot be used, or its disk is nearly full; nothing was charged."), cause}
}

// Error is for the operators' log.
func (f *failure) Error() string { return "exec: protected query failed: " + f.cause.Error() }

// Unwrap gives the public refusal first: that is what errors.As finds.
func (f *failure) Unwrap() []error { return []error{f.public, f.cause} }

// outcome is how the ledger names the end of an execution.
func outcome(err error) record.Outcome {
	switch {
	case err == nil:
		return record.Answered
	case errors.Is(err, context.DeadlineExceeded):
		return record.TimedOut
	case errors.Is(err, context.Canceled):
		return record.Cancelled
	default:
		return record.Failed
	}
}
