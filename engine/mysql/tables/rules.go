package tables

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"scrim/functions/standard"
	"scrim/planner/parse"
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

// replaceKeys replaces statements on keys by nodes of our own, and sees the vectors that CREATE
// TABLE … SELECT selects: later, its columns are not known to be those of a table any more.
func replaceKeys(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	return transform.Node(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		var r sql.Node
		var err error
		switch n := n.(type) {
		case *plan.Update:
			if isFound(ctx, n) {
				r, err = newFoundUpdate(ctx, a, n, flags)
			}
		case *plan.DeleteFrom:
			if isFound(ctx, n) {
				r, err = newFoundDelete(ctx, a, n, flags)
			}
		case *plan.AddColumn:
			if r, err = numbered(n, n.Db, n.Column(), n.TargetSchema()); err == nil {
				err = checkDeclared(ctx)
			}
		case *plan.ModifyColumn:
			if r, err = numbered(n, n.Db, n.NewColumn(), n.TargetSchema()); err == nil {
				err = checkDeclared(ctx)
			}
		case *plan.Block:
			return dropsFirst(ctx, n)
		case *plan.AlterIndex:
			r = clauseOf(n, n.Db)
		case *plan.AlterPK:
			if n.Action == plan.PrimaryKeyAction_Create {
				r = clauseOf(n, n.Db)
			}
		case *plan.DropConstraint:
			r = dropConstraint(n)
		case *plan.CreateForeignKey:
			r, err = foreignClause(ctx, n, n.DbProvider, n.Database())
		case *plan.DropForeignKey:
			r, err = foreignClause(ctx, n, n.DbProvider, n.Database())
		case *plan.RenameForeignKey:
			r, err = foreignClause(ctx, n, n.DbProvider, n.Database())
		case *plan.CreateTable:
			if _, ok := stored(n.Db); ok {
				r, err = withoutForeign(n)
			}
			if r == nil && err == nil {
				err = checkDeclared(ctx)
			}
			if r == nil && err == nil {
				r = selectedVectors(ctx, n)
			}
		}
		if r == nil && err == nil {
			return n, transform.SameTree, nil
		}
		return r, transform.NewTree, err
	})
}

// foreignClause is clauseOf for a node that names its database.
func foreignClause(ctx *sql.Context, n sql.Node, in sql.DatabaseProvider, database string) (sql.Node, error) {
	db, err := in.Database(ctx, database)
	return clauseOf(n, db), err
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
			if isFound(ctx, n) {
				return nil, transform.SameTree, unsupported("Send it as a statement of its own.", "UPDATE or DELETE of several tables, or with a subquery, is not supported here.")
			}
			if n, _, err = standard.Types(ctx, n, parse.FailsByZero(ctx)); err != nil {
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
		if !ok {
			return n, transform.SameTree, nil
		}
		into, computes := destination(insert)
		if computes = computes && into.computes; computes {
			assigns, err := into.checkGiven(insert)
			if err != nil {
				return nil, transform.SameTree, err
			}
			without := *insert
			insert, without.OnDupExprs = &without, assigns
		}
		eager := insert.Ignore || insert.OnDupExprs.HasUpdates()
		if !eager && !computes && !into.narrows() && len(insert.Checks()) == 0 {
			return n, transform.SameTree, nil
		}
		dest, same, err := transform.Node(ctx, insert.Destination, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
			if d, is := n.(*plan.InsertDestination); is && into != nil {
				return into.unfilled(d)
			}
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
