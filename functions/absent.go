package functions

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/refuse"
)

// absent are aggregates of other servers that MySQL has not, with what is to be written instead on
// protected tables.
var absent = []struct{ name, instead string }{
	{"MEDIAN", "DP_MEDIAN(x),"},
	{"PERCENTILE_CONT", "DP_QUANTILE(x, q), as DP_QUANTILE(amount, 0.9),"},
	{"PERCENTILE_DISC", "DP_QUANTILE(x, q), as DP_QUANTILE(amount, 0.9),"},
}

// refusals are functions that refuse each call of an absent one, and name what serves.
func refusals() []sql.Function {
	var out []sql.Function
	for _, a := range absent {
		out = append(out, sql.FunctionN{Name: strings.ToLower(a.name), Fn: func(*sql.Context, ...sql.Expression) (sql.Expression, error) {
			return nil, refuse.New(refuse.Unsupported, "MySQL has no function %s.", a.name).
				With("Of protected tables ask for %s which takes one value a person, or with 'weight=row' each row; of public ones, number the rows by ROW_NUMBER() OVER (ORDER BY x) in a derived table.", a.instead)
		}})
	}
	return out
}
