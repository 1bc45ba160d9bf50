package survey

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/catalog"
	"scrim/functions"
	"scrim/internal/refuse"
	"scrim/planner/rule"
	"scrim/planner/stored"
	"scrim/planner/tree"
)

// Facts are what a bound statement shows.
type Facts struct {
	Protected, Undeclared []string
	BindVars              bool
	// Intervals says that an end of an interval is asked for, DP_LOW or DP_HIGH.
	Intervals bool
	MaxColumn sql.ColumnId
}

// Of collects the facts of a statement.
func Of(ctx *sql.Context, c catalog.Reader, n sql.Node) Facts {
	var f Facts
	seen := map[string]bool{}
	tree.Inspect(ctx, n, func(n sql.Node) {
		if t, ok := n.(gmsplan.TableIdNode); ok {
			t.Columns().ForEach(func(id sql.ColumnId) { f.MaxColumn = max(f.MaxColumn, id) })
		}
		rt, ok := n.(*gmsplan.ResolvedTable)
		if !ok {
			return
		}
		t, ok := stored.Under(rt.Table)
		if !ok {
			return
		}
		name := t.StoreRef().String()
		if seen[name] {
			return
		}
		seen[name] = true
		switch c.Table(name).State {
		case catalog.Protected:
			f.Protected = append(f.Protected, name)
		case catalog.Undeclared:
			f.Undeclared = append(f.Undeclared, name)
		}
	}, func(e sql.Expression) {
		if id, ok := e.(sql.IdExpression); ok {
			f.MaxColumn = max(f.MaxColumn, id.Id())
		}
		if a, ok := e.(*functions.Aggregate); ok && a.Told != nil && (a.Told.Function.ErrorBar == functions.Low || a.Told.Function.ErrorBar == functions.High) {
			f.Intervals = true
		}
		if _, ok := e.(*expression.BindVar); ok {
			f.BindVars = true
		}
	})
	return f
}

// Undeclared refuses tables without a policy.
func Undeclared(names []string) error {
	return rule.Deny(rule.Undeclared, refuse.Undeclared, "", "%s has been declared neither protected nor public.", strings.Join(names, ", "))
}
