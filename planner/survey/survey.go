// Package survey tells what a statement is before it is planned: the tables and place holders of
// its bound tree, the hints and the form of its text, and what is not a query.
//
// Statements that would take private rows elsewhere (INSERT, CREATE TABLE … SELECT, SET, ANALYZE
// TABLE) are refused here.
package survey

import (
	"bytes"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/catalog"
	"scrim/functions"
	"scrim/internal/params"
	"scrim/internal/refuse"
	"scrim/planner/parse"
	"scrim/planner/rule"
	"scrim/planner/settings"
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
		if a, ok := e.(*functions.Aggregate); ok && a.Told != nil && slices.Contains([]functions.ErrorBar{functions.Low, functions.High, functions.Law}, a.Told.Function.ErrorBar) {
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

// windowBeside reports whether a query has a window function beside an aggregate or GROUP BY in one
// SELECT: the binder makes NULL of the window function there.
func windowBeside(q ast.SelectStatement) bool {
	found := false
	// Walk reports only what its callback returns, and these return no error.
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
		if s, ok := n.(*ast.Select); ok {
			over, grouped := false, len(s.GroupBy) > 0
			_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
				switch n := n.(type) {
				case *ast.Subquery:
					return false, nil
				case *ast.FuncExpr:
					over = over || n.Over != nil
					_, private := functions.ByName(n.Name.Lowered())
					_, bar := functions.ErrorBarByName(n.Name.Lowered())
					grouped = grouped || n.Over == nil && (n.IsAggregate() || private || bar)
				}
				return true, nil
			}, s.SelectExprs, s.OrderBy, s.Having)
			found = found || over && grouped
		}
		return true, nil
	}, q)
	return found
}

// Windowed refuses it.
func Windowed() error {
	return rule.Deny(rule.Window, refuse.Shape, "Aggregate in a derived table: SELECT g, c, RANK() OVER (ORDER BY c) FROM (SELECT g, COUNT(*) AS c FROM t GROUP BY g) x.",
		"A window function beside an aggregate over protected rows is not supported.")
}

// Kind deals with the statements that are not queries. handled is true where the planner
// has nothing to rewrite: the statement reads no rows, or is refused.
func Kind(ctx *sql.Context, c catalog.Reader, isDBA func(*sql.Context) bool, n sql.Node) (handled bool, err error) {
	reads := func(nodes ...sql.Node) bool {
		for _, n := range nodes {
			if n == nil {
				continue
			}
			f := Of(ctx, c, n)
			if len(f.Protected) > 0 || (len(f.Undeclared) > 0 && !isDBA(ctx)) {
				return true
			}
		}
		return false
	}
	write := func(what string) error {
		return rule.Deny(rule.Write, refuse.Context, "Store what a SELECT answered, from the client.",
			"%s cannot read protected tables.", what)
	}
	switch n := n.(type) {
	case *gmsplan.InsertInto:
		if reads(n.Source) || subqueriesRead(ctx, n, reads) {
			return true, write("INSERT")
		}
		return true, nil
	case *gmsplan.Update, *gmsplan.DeleteFrom:
		if !reads(n) {
			return true, nil
		}
		if !isDBA(ctx) {
			return true, write("UPDATE or DELETE by an analyst")
		}
		if joins(ctx, n) || subqueriesRead(ctx, n, reads) {
			return true, write("UPDATE or DELETE with a join or a subquery")
		}
		return true, nil
	case *gmsplan.CreateTable:
		if sel := n.Select(); sel != nil && reads(sel) {
			return true, rule.Deny(rule.CreateSelect, refuse.Context, "", "CREATE TABLE … SELECT cannot read protected tables.")
		}
		return true, nil
	case *gmsplan.TableCopier:
		if reads(n) {
			return true, rule.Deny(rule.CreateSelect, refuse.Context, "", "CREATE TABLE … SELECT cannot read protected tables.")
		}
		return true, nil
	case *gmsplan.Set:
		if reads(n) {
			return true, rule.Deny(rule.UserVariable, refuse.Context, "", "A variable cannot be set from protected tables.")
		}
		return true, nil
	case *gmsplan.AnalyzeTable:
		if reads(n) || len(n.Children()) == 0 && analyzes(n, c) {
			return true, rule.Deny(rule.Statistics, refuse.Context, "The planner needs no statistics.",
				"ANALYZE TABLE would keep exact statistics of protected rows.")
		}
		return true, nil
	}
	return SchemaOnly(ctx, n), nil
}

// analyzes reports whether ANALYZE TABLE names a protected table.
func analyzes(n *gmsplan.AnalyzeTable, c catalog.Reader) bool {
	return slices.ContainsFunc(n.Tables, func(t sql.Table) bool {
		st, ok := stored.Under(t)
		return ok && c.Table(st.StoreRef().String()).State == catalog.Protected
	})
}

// subqueriesRead reports whether a subquery expression of the statement satisfies reads.
func subqueriesRead(ctx *sql.Context, n sql.Node, reads func(...sql.Node) bool) bool {
	found := false
	tree.Inspect(ctx, n, nil, func(e sql.Expression) {
		if q, ok := e.(*gmsplan.Subquery); ok && reads(q.Query) {
			found = true
		}
	})
	return found
}

// joins reports whether a statement has a join.
func joins(ctx *sql.Context, n sql.Node) bool {
	found := false
	tree.Inspect(ctx, n, func(n sql.Node) {
		switch n.(type) {
		case *gmsplan.JoinNode, *gmsplan.SetOp, *gmsplan.SubqueryAlias:
			found = true
		}
	}, nil)
	return found
}

// SchemaOnly reports whether a node names tables for their definition only. What it does not know
// is treated as a query: refused when a protected scan is left in it.
func SchemaOnly(ctx *sql.Context, n sql.Node) bool {
	switch n := n.(type) {
	case *gmsplan.Filter: // SHOW … LIKE and WHERE
		return !tree.HasSubquery(ctx, n.Expression) && SchemaOnly(ctx, n.Child)
	case *gmsplan.Block: // ALTER TABLE of several clauses; what stands for one of keys has no table
		return !slices.ContainsFunc(n.Children(), func(c sql.Node) bool { return len(c.Children()) > 0 && !SchemaOnly(ctx, c) })
	case *gmsplan.DropTable, *gmsplan.RenameTable, *gmsplan.Truncate, *gmsplan.CreateView, *gmsplan.DropView, *gmsplan.Use,
		*gmsplan.AddColumn, *gmsplan.DropColumn, *gmsplan.RenameColumn, *gmsplan.ModifyColumn, *gmsplan.AlterPK,
		*gmsplan.CreateIndex, *gmsplan.AlterIndex, *gmsplan.CreateForeignKey, *gmsplan.DropForeignKey, *gmsplan.AlterAutoIncrement,
		*gmsplan.AlterDefaultSet, *gmsplan.AlterDefaultDrop, *gmsplan.CreateCheck, *gmsplan.DropCheck, *gmsplan.DropConstraint,
		*gmsplan.CreateTrigger, *gmsplan.CreateProcedure, *gmsplan.CreateEvent, *gmsplan.Call, *gmsplan.Describe,
		*gmsplan.LockTables, *gmsplan.UnlockTables, *gmsplan.AlterTableCollation, *gmsplan.AlterTableComment:
		return true
	}
	// SHOW … over the definition of tables: ShowColumns, ShowIndexes, ShowCreateTable and the like.
	t := reflect.TypeOf(n)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return strings.HasPrefix(t.Name(), "Show") && strings.HasSuffix(t.PkgPath(), "go-mysql-server/sql/plan")
}

// Text is what the statement's own text tells that its bound plan does not.
type Text struct {
	Hints   settings.Layer
	Explain bool // EXPLAIN
	Analyze bool // EXPLAIN ANALYZE
	Query   bool // a SELECT, a set operation, or EXPLAIN of one
	Binds   bool // has place holders
	Window  bool // has a window function beside an aggregate
	View    bool // CREATE VIEW: the definition is bound, and nothing runs
}

// setVar finds the SET_VAR hints inside one optimizer-hint comment.
var setVar = regexp.MustCompile(`(?i)\bSET_VAR\s*\(\s*([a-z0-9_]+)\s*=\s*('[^']*'|"[^"]*"|[^()'"\s]+)\s*\)`)

// ourName finds a parameter of ours in what is left of a comment: a hint that cannot be read must
// not be passed over, or the statement would cost something else than was meant.
var ourName = regexp.MustCompile(`(?i)\bdp_[a-z]`)

// ReadText reads the tree of the statement being executed, as the parser has left it.
func ReadText(ctx *sql.Context) (Text, error) {
	t := Text{Hints: settings.Layer{}}
	if ctx.Query() == "" {
		return t, nil
	}
	stmt, ok := parse.Statement(ctx)
	if !ok {
		return t, rule.Deny(rule.Context, refuse.Context, "Send it as a statement of its own.", "The text of the statement around a private query cannot be read.")
	}
	if e, ok := stmt.(*ast.Explain); ok {
		t.Explain, t.Analyze = true, e.Analyze
		stmt = e.Statement
	}
	if d, ok := stmt.(*ast.DDL); ok && d.ViewSpec != nil {
		t.View = true
	}
	sel, ok := stmt.(ast.SelectStatement)
	if !ok {
		return t, nil
	}
	t.Query, t.Window = true, windowBeside(sel)
	first := firstSelect(sel)
	err := ast.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.SQLVal:
			t.Binds = t.Binds || n.Type == ast.ValArg
		case *ast.Select:
			if n != first && slices.ContainsFunc(n.Comments, func(c []byte) bool { return isHint(c) && ourName.Match(c) }) {
				return false, rule.Deny(rule.Hint, refuse.Parameter, "Write it after the first SELECT.", "A hint on a privacy parameter holds for the whole statement, and stands in a part of it.")
			}
		}
		return true, nil
	}, sel)
	if err != nil || first == nil {
		return t, err
	}
	return t, t.readHints(first.Comments)
}

// firstSelect returns the SELECT after which the hints of a query stand.
func firstSelect(s ast.SelectStatement) *ast.Select {
	switch s := s.(type) {
	case *ast.Select:
		return s
	case *ast.SetOp:
		return firstSelect(s.Left)
	case *ast.ParenSelect:
		return firstSelect(s.Select)
	}
	return nil
}

func isHint(comment []byte) bool { return bytes.HasPrefix(comment, []byte("/*+")) }

// readHints reads SET_VAR of our parameters; hints of other names are MySQL's business.
func (t *Text) readHints(list ast.Comments) error {
	seen := map[string]bool{}
	for _, c := range list {
		if !isHint(c) {
			continue
		}
		s := string(c)
		if rest := setVar.ReplaceAllString(s, ""); ourName.MatchString(rest) {
			return rule.Deny(rule.Hint, refuse.Parameter, "Write it as SET_VAR(dp_epsilon=0.1).", "A hint on a privacy parameter cannot be read.")
		}
		for _, m := range setVar.FindAllStringSubmatch(s, -1) {
			name := strings.ToLower(m[1])
			if !strings.HasPrefix(name, "dp_") {
				continue
			}
			if seen[name] {
				return rule.Deny(rule.Hint, refuse.Parameter, "Set it once.", "The hint SET_VAR(%s) is repeated.", name)
			}
			seen[name] = true
			p, ok := params.ByName(name, params.Hint)
			if !ok {
				return rule.Deny(rule.Hint, refuse.Parameter, "Use "+params.Names(params.Hint)+".", "%s is not a parameter that SET_VAR can set.", name)
			}
			value := strings.Trim(m[2], `'"`)
			v, ok := p.Read(value)
			if !ok {
				return settings.BadParameter(p, value, "SET_VAR")
			}
			t.Hints[p] = v
		}
	}
	return nil
}
