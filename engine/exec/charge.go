package exec

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/planner/plan"
)

// ChargeOf returns the charge in the ledger that paid for the answers of a statement, of the
// session's principal; 0 where they are not kept, or not all of one charge.
func (x *Executor) ChargeOf(ctx *sql.Context, s *plan.Statement) uint64 {
	e := &execution{x: x, statement: s, principal: x.Principal(ctx)}
	found, missing, err := e.replays(ctx)
	if err != nil || len(missing) > 0 {
		return 0
	}
	charge := uint64(0)
	for i, r := range s.Releases {
		if id := found[r].about.Charge; i == 0 {
			charge = id
		} else if id != charge {
			return 0
		}
	}
	return charge
}
