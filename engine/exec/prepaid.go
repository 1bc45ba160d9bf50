package exec

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/internal/refuse"
	"scrim/planner/plan"
)

// Prepay makes the charge for a statement durable whose answer is released later, part by part, and
// reads nothing. Each part is released by Continue.
func (x *Executor) Prepay(ctx *sql.Context, s *plan.Statement) (accounting.Receipt, error) {
	begun, err := x.Begin(ctx, s)
	if err != nil {
		return accounting.Receipt{}, err
	}
	if err := ctx.Err(); err != nil {
		return accounting.Receipt{}, notStarted(err)
	}
	return x.reserve(ctx, begun.(*execution).request(s.Releases))
}

// Prepaid ends what Prepay began: the statement may be continued, or err is why it may not. The
// charge stands.
func (x *Executor) Prepaid(receipt accounting.Receipt, err error) {
	x.Account.Finish(receipt, outcome(err))
}

// Continue releases a part of a statement that is paid for. release is handed a function that tells
// whether the tables are still defined as the plan took them, and has to call it when it has read
// them and before it keeps anything. It keeps all of the part or nothing. An error of it, and a
// panic, are told as one fixed text. It is for DBAs to call, who may read the rows: it runs beside
// other statements, and for want of memory it may fail as these do.
func (x *Executor) Continue(ctx *sql.Context, s *plan.Statement, release func(unchanged func() error) error) error {
	if err := x.Store.Room(); err != nil {
		return noRoom(err)
	}
	unchanged := func() error {
		for _, r := range s.Releases {
			for _, d := range r.Defined {
				if err := x.Unchanged(ctx, d); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := tried(func() error { return release(unchanged) }); err != nil {
		return &failure{refuse.New(refuse.Failed, "The release did not finish: nothing of it was kept or shown, and nothing was charged."), err}
	}
	return nil
}
