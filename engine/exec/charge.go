package exec

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/planner/plan"
)

// Paid returns the charge in the ledger that paid for the answer of a statement of one release, of
// the session's principal, and the versions of the tables that it was made from: nil where it is
// not of the data of now, or not kept.
func (x *Executor) Paid(ctx *sql.Context, s *plan.Statement) (charge uint64, versions []string) {
	if len(s.Releases) != 1 {
		return 0, nil
	}
	e, r := &execution{x: x, statement: s, principal: x.Principal(ctx)}, s.Releases[0]
	versions, err := x.Store.Versions(ctx, r.Reads...)
	if err != nil {
		return 0, nil
	}
	if f, ok := e.find(e.keys(r, versions)); ok {
		return f.about.Charge, versions
	}
	return 0, nil
}
