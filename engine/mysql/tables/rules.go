package tables

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"scrim/functions/standard"
)

// Identifiers of the rules, outside the range that go-mysql-server uses.
const (
	writeRuleID  analyzer.RuleId = 20001
	insertRuleID analyzer.RuleId = 20002
	vectorRuleID analyzer.RuleId = 20009
	keyRuleID    analyzer.RuleId = 20003
)

// go-mysql-server takes the rules that run first from a variable of the process, and its own first
// rules look for keys in interfaces that the tables do not have. The rule leaves statements on
// other tables alone.
func init() {
	analyzer.OnceBeforeDefault = append([]analyzer.Rule{{Id: keyRuleID, Apply: replaceKeys}}, analyzer.OnceBeforeDefault...)
}

// replaceKeys replaces statements on keys by nodes of our own, refuses foreign keys, and sees the
// vectors that CREATE TABLE … SELECT selects: later, its columns are not known to be those of a
// table any more.
func replaceKeys(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	return transform.Node(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		switch n := n.(type) {
		case *plan.AlterIndex:
			if r := newAlterIndex(n); r != nil {
				return r, transform.NewTree, nil
			}
		case *plan.AlterPK:
			if r := newAlterPrimary(n); r != nil {
				return r, transform.NewTree, nil
			}
		case *plan.DropConstraint:
			if r := dropConstraint(n); r != nil {
				return r, transform.NewTree, nil
			}
		case *plan.CreateForeignKey, *plan.DropForeignKey:
			return nil, transform.SameTree, errForeignKeys
		case *plan.CreateTable:
			if _, ok := stored(n.Db); ok && len(n.ForeignKeys()) > 0 {
				return nil, transform.SameTree, errForeignKeys
			}
			if r := selectedVectors(ctx, n); r != nil {
				return r, transform.NewTree, nil
			}
		}
		return n, transform.SameTree, nil
	})
}

// Rules returns the analysis rules of the package. They belong at the front of
// analyzer.AlwaysBeforeDefault, which is also applied to the short rule sets of simple statements.
//
// They replace UPDATE and DELETE of stored tables by nodes that run as one statement in the store,
// mark the destination of an INSERT that goes on after a duplicate key, make vectors JSON, and
// refuse LOAD DATA.
func Rules() []analyzer.Rule {
	return []analyzer.Rule{
		{Id: writeRuleID, Apply: replaceStatements},
		{Id: insertRuleID, Apply: markInserts},
		{Id: vectorRuleID, Apply: plainVectors},
	}
}

// replaceStatements replaces and refuses statements on stored tables.
func replaceStatements(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	return transform.Node(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		var replaced sql.Node
		var err error
		switch n.(type) {
		case *plan.Update, *plan.DeleteFrom: // simple ones skip the rule that gives a SELECT its types
			if n, _, err = standard.Types(ctx, n); err != nil {
				return nil, transform.SameTree, err
			}
		}
		switch n := n.(type) {
		case *plan.Update:
			replaced, err = newUpdate(ctx, n)
		case *plan.DeleteFrom:
			replaced, err = newDelete(ctx, n)
		case *plan.LoadData:
			err = unsupported("Use INSERT, or scrim import while the server is stopped.", "LOAD DATA is not supported.")
		}
		if err != nil {
			return nil, transform.SameTree, err
		}
		if replaced == nil {
			return n, transform.SameTree, nil
		}
		return replaced, transform.NewTree, nil
	})
}

// markInserts makes INSERT IGNORE and INSERT ... ON DUPLICATE KEY UPDATE look for duplicates row by
// row, so that go-mysql-server can act on each, and gives the table its CHECKs.
func markInserts(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	return transform.Node(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		insert, ok := n.(*plan.InsertInto)
		eager := ok && (insert.Ignore || insert.OnDupExprs.HasUpdates())
		if !eager && (!ok || len(insert.Checks()) == 0) {
			return n, transform.SameTree, nil
		}
		dest, same, err := transform.Node(ctx, insert.Destination, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
			rt, ok := n.(*plan.ResolvedTable)
			if !ok {
				return n, transform.SameTree, nil
			}
			t, ok := asTable(rt.Table)
			if !ok || t.eager || len(t.checks) > 0 {
				return n, transform.SameTree, nil
			}
			marked := t.withChecks(ctx, insert.Checks())
			marked.eager = eager
			replaced, err := rt.ReplaceTable(ctx, marked)
			return replaced, transform.NewTree, err
		})
		if err != nil || same {
			return n, transform.SameTree, err
		}
		changed := insert.WithChecks(nil).(*plan.InsertInto) // the table looks at what it writes
		changed.Destination = dest
		return changed, transform.NewTree, nil
	})
}
