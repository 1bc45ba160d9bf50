package trace

import (
	"context"
	"errors"
	"slices"

	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/mysqlerr"
	"scrim/engine/store"
	"scrim/engine/watch"
	"scrim/internal/refuse"
)

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
