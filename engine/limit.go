package engine

import (
	"regexp"
	"strconv"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// timeHint is MySQL's hint for the time limit of one SELECT, in milliseconds.
var timeHint = regexp.MustCompile(`(?is)^/\*\+.*\bMAX_EXECUTION_TIME\s*\(\s*([0-9]{1,15})\s*\)`)

// setTimeHint sets the variable for one statement.
var setTimeHint = regexp.MustCompile(`(?is)^/\*\+.*\bSET_VAR\s*\(\s*max_execution_time\s*=\s*([0-9]{1,15})\s*\)`)

// timeLimit returns the time limit of a statement, 0 for none: the hint's, or the session's
// max_execution_time, which like MySQL's holds for SELECT only. It is rounded up to whole seconds,
// so that a client cannot use it as a fine clock on protected rows.
func timeLimit(ctx *sql.Context, s sqlparser.Statement) (time.Duration, error) {
	comments, ok := selectComments(s)
	if !ok {
		return 0, nil
	}
	v, err := ctx.GetSessionVariable(ctx, "max_execution_time")
	if err != nil {
		return 0, err
	}
	ms, _ := v.(int64)
	for _, c := range comments {
		for _, hint := range []*regexp.Regexp{timeHint, setTimeHint} {
			if m := hint.FindSubmatch(c); m != nil {
				ms, _ = strconv.ParseInt(string(m[1]), 10, 64)
			}
		}
	}
	const day = int64(24 * time.Hour / time.Millisecond)
	if ms <= 0 || ms > 365*day {
		return 0, nil
	}
	return time.Duration((ms+999)/1000) * time.Second, nil
}

// selectComments returns the comments behind the first SELECT of a statement that is a SELECT.
func selectComments(s sqlparser.Statement) (sqlparser.Comments, bool) {
	switch s := s.(type) {
	case *sqlparser.Select:
		return s.Comments, true
	case *sqlparser.ParenSelect:
		return selectComments(s.Select)
	case *sqlparser.SetOp:
		return selectComments(s.Left)
	}
	return nil, false
}
