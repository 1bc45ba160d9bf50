package planner

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"scrim/catalog"
	"scrim/planner/push"
	"scrim/planner/rel"
	"scrim/planner/survey"
)

// pushDown is the rule that hands whole queries on public tables to the store. With raw access a
// DBA's queries on protected tables are such, too. It runs after rewrite and touches only
// statements without protected and undeclared tables.
func (p *Planner) pushDown(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, scope *gmsplan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	if !scope.IsEmpty() || scope.RecursionDepth() > 0 || survey.SchemaOnly(ctx, n) {
		return n, transform.SameTree, nil
	}
	var c catalog.Reader = readable{p.config.Catalog(), p.config.Session.RawAccess(ctx), p.config.Session.IsDBA(ctx)}
	f := survey.Of(ctx, c, n)
	if len(f.Protected) > 0 || len(f.Undeclared) > 0 || f.BindVars {
		return n, transform.SameTree, nil
	}
	out, changed := push.Down(ctx, rel.Tables{Catalog: c, LastColumn: f.MaxColumn, StoreMemory: p.config.StoreMemory}, p.config.Public, n)
	if !changed {
		return n, transform.SameTree, nil
	}
	return out, transform.NewTree, nil
}

// readable shows the tables that a session may read as they are as public ones: protected tables to
// raw access, undeclared ones to a DBA. The store asks again before it hands rows out.
type readable struct {
	catalog.Reader
	raw, dba bool
}

// Table implements catalog.Reader.
func (r readable) Table(name string) catalog.Table {
	t := r.Reader.Table(name)
	if t.State == catalog.Protected && r.raw || t.State == catalog.Undeclared && r.dba {
		return catalog.Table{Name: t.Name, State: catalog.Public}
	}
	return t
}
