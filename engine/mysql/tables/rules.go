package tables

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression/function/vector"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/store"
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

// plainVectors makes the values that an INSERT has for columns of vectors JSON, as which they are
// written:
//
//	INSERT INTO t (v) VALUES (STRING_TO_VECTOR('[1, 2.5]'))   →   VALUES ('[1, 2.5]')
//
// The binary form that go-mysql-server gives them has single precision, and would be taken for bad
// JSON.
func plainVectors(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	return transform.Node(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		insert, ok := n.(*plan.InsertInto)
		if !ok {
			return n, transform.SameTree, nil
		}
		vectors := vectorColumns(insert)
		if len(vectors) == 0 {
			return n, transform.SameTree, nil
		}
		source, changed := jsonSource(ctx, insert.Source, vectors)
		if !changed {
			return n, transform.SameTree, nil
		}
		return insert.WithSource(source), transform.NewTree, nil
	})
}

// vectorColumns returns the positions, among the columns that an INSERT fills, of those of vectors.
func vectorColumns(insert *plan.InsertInto) []int {
	var t *Table
	transform.Inspect(insert.Destination, func(n sql.Node) bool {
		if rt, ok := n.(*plan.ResolvedTable); ok && t == nil {
			t, _ = asTable(rt.Table)
		}
		return t == nil
	})
	if t == nil {
		return nil
	}
	var out []int
	for i, c := range t.def.Columns {
		if !isVector(c) {
			continue
		}
		if len(insert.ColumnNames) == 0 {
			out = append(out, i)
		}
		for j, name := range insert.ColumnNames {
			if strings.EqualFold(name, c.Name) {
				out = append(out, j)
			}
		}
	}
	return out
}

// isVector reports whether a column holds arrays or lists, which are written as JSON.
func isVector(c store.Column) bool { return strings.HasSuffix(c.Type, "]") }

// jsonOf returns the JSON that STRING_TO_VECTOR is applied to, and other expressions as they are.
func jsonOf(e sql.Expression) sql.Expression {
	if v, ok := e.(*vector.StringToVector); ok {
		return v.Child
	}
	return e
}

// jsonSource returns the rows of an INSERT with JSON at the positions given.
func jsonSource(ctx *sql.Context, source sql.Node, at []int) (sql.Node, bool) {
	switch s := source.(type) {
	case *plan.Values:
		changed := false
		tuples := make([][]sql.Expression, len(s.ExpressionTuples))
		for i, tuple := range s.ExpressionTuples {
			var c bool
			tuples[i], c = jsonVectors(ctx, tuple, at)
			changed = changed || c
		}
		out := *s
		out.ExpressionTuples = tuples
		return &out, changed
	case *plan.Project:
		items, changed := jsonVectors(ctx, s.Projections, at)
		return plan.NewProject(ctx, items, s.Child), changed
	}
	return source, false
}

func jsonVectors(ctx *sql.Context, row []sql.Expression, at []int) ([]sql.Expression, bool) {
	out, changed := append([]sql.Expression(nil), row...), false
	for _, i := range at {
		if i >= len(out) {
			continue
		}
		switch e := out[i].(type) {
		case *vector.StringToVector:
			out[i], changed = e.Child, true
		default:
			if !e.Resolved() {
				continue // DEFAULT
			}
			if _, binary := e.Type(ctx).(types.VectorType); binary {
				out[i], changed = vector.NewVectorToString(ctx, e), true
			}
		}
	}
	return out, changed
}

// selectedVectors gives the columns of a CREATE TABLE … SELECT that are columns of vectors of a
// stored table that type, where go-mysql-server sees JSON. Expressions, and columns of derived
// tables and views, stay JSON. nil where nothing changes.
func selectedVectors(ctx *sql.Context, n *plan.CreateTable) sql.Node {
	// without options: nothing is declared but the name
	if _, ok := stored(n.Db); !ok || n.Select() == nil || n.TableOpts != nil {
		return nil
	}
	selected := n.Select().Schema(ctx)
	tables := namedTables(n.Select())
	schema, changed := n.PkSchema().Schema.Copy(), false
	if len(selected) != len(schema) {
		return nil
	}
	for i, c := range schema {
		from := selected[i]
		if t := tables[strings.ToLower(from.Source)]; t != nil && c.Name == from.Name && c.Type == types.JSON {
			if dim := t.dimension(c.Name); dim > 0 {
				c.Type, changed = types.VectorType{Dimensions: dim}, true
			}
		}
	}
	if !changed {
		return nil
	}
	return plan.NewCreateTableSelect(n.Db, n.Name(), n.IfNotExists(), n.Temporary(), n.Select(), &plan.TableSpec{
		Schema: sql.NewPrimaryKeySchema(schema), Collation: n.Collation,
	})
}

// namedTables lists the stored tables of a SELECT by the names that its columns give as their
// source; nil under a name that several have, or that is no stored table's.
func namedTables(n sql.Node) map[string]*Table {
	tables := map[string]*Table{}
	add := func(name string, t *Table) {
		name = strings.ToLower(name)
		if _, twice := tables[name]; twice {
			t = nil
		}
		tables[name] = t
	}
	transform.Inspect(n, func(n sql.Node) bool {
		switch n := n.(type) {
		case *plan.TableAlias:
			t, _ := storedTable(n.Child)
			add(n.Name(), t)
			return false
		case *plan.ResolvedTable:
			t, _ := storedTable(n)
			add(n.Name(), t)
		case *plan.SubqueryAlias:
			add(n.Name(), nil)
			return false
		}
		return true
	})
	return tables
}

// dimension is the length of the vectors of a column; 0 where it is none, or of another kind.
func (t *Table) dimension(column string) int {
	c, ok := columnOf(t.def, column)
	dim := 0
	if !ok {
		return 0
	}
	if _, err := fmt.Sscanf(c.Type, "DOUBLE[%d]", &dim); err != nil || dim > types.MaxVectorDimensions {
		return 0
	}
	return dim
}
