package planner

import (
	"scrim/planner/release"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/catalog"
	"scrim/internal/refuse"
	"scrim/planner/aggregate"
	"scrim/planner/keys"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/rule"
	"scrim/planner/settings"
	"scrim/planner/stored"
	"scrim/planner/tree"
)

// statement is the planning of one statement.
type statement struct {
	*rel.Writer
	keys         *keys.Finder
	releases     *release.Builder
	aggs         *aggregate.Binder
	ctx          *sql.Context
	catalog      catalog.Reader
	p            *Planner
	params       *settings.Settings
	retyped      tree.Types             // columns of answers whose type differs from what the binder said
	nodes        []*plan.DPAggregate    // in the order of the tree
	aggregations []*release.Aggregation // distinct releases

	privates map[sql.Node]bool // whether subtrees are rows of persons, as far as it was asked

	explains bool // the plan is only shown
}

// facts are what one look at a bound statement shows.
type facts struct {
	protected, undeclared []string
	bindVars              bool
	maxColumn             sql.ColumnId
}

// look collects the facts of a statement.
func look(ctx *sql.Context, c catalog.Reader, n sql.Node) facts {
	var f facts
	seen := map[string]bool{}
	tree.Inspect(ctx, n, func(n sql.Node) {
		if t, ok := n.(gmsplan.TableIdNode); ok {
			t.Columns().ForEach(func(id sql.ColumnId) { f.maxColumn = max(f.maxColumn, id) })
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
			f.protected = append(f.protected, name)
		case catalog.Undeclared:
			f.undeclared = append(f.undeclared, name)
		}
	}, func(e sql.Expression) {
		if id, ok := e.(sql.IdExpression); ok {
			f.maxColumn = max(f.maxColumn, id.Id())
		}
		if _, ok := e.(*expression.BindVar); ok {
			f.bindVars = true
		}
	})
	return f
}

// undeclared refuses tables without a policy.
func undeclared(names []string) error {
	return rule.Deny(rule.Undeclared, refuse.Undeclared, "", "%s has been declared neither protected nor public.", strings.Join(names, ", "))
}
