package planner

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/catalog"
	"scrim/engine/store"
	"scrim/internal/refuse"
	"scrim/planner/lower"
	"scrim/planner/plan"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// statement is the planning of one statement.
type statement struct {
	ctx     *sql.Context
	p       *Planner
	catalog catalog.Reader
	tables  func(name string) (Table, bool)
	params  *parameters
	binder  *lower.Binder  // of the scan being generated
	aliases int            // number of aliases given out in the scan being generated
	counted map[string]int // columns of tables that it may read: see stored
	nextCol sql.ColumnId
	retyped map[sql.ColumnId]sql.Type // columns of answers whose type differs from what the binder said
	nodes   []*plan.DPAggregate       // in the order of the tree
	drafts  []*draft                  // distinct releases
	defined map[store.TableRef]plan.Definition

	asWritten bool // public tables alone: operands and conditions keep their order

	images   map[string][]any  // values of grouping expressions that the store evaluated
	privates map[sql.Node]bool // whether subtrees are rows of persons, as far as it was asked

	explains  bool   // the plan is only shown
	pureTable string // a table on the pure account, for messages; "" where there is none
}

// alias returns a fresh table alias of the scan being generated.
func (s *statement) alias() string {
	s.aliases++
	return "t" + itoa(s.aliases)
}

// newID returns a column id that the binder has not given out.
func (s *statement) newID() sql.ColumnId {
	s.nextCol++
	return s.nextCol
}

// begin starts the generation of a scan: fresh values and aliases, so that the same subtree always
// gives the same text.
func (s *statement) begin() {
	s.binder, s.aliases, s.counted = new(lower.Binder), 0, nil
}

func (s *statement) tableByName(name string) (Table, bool) { return s.tables(name) }

// lower translates an expression of a private row.
func (s *statement) lower(e sql.Expression, cols lower.Columns) (lower.Expr, error) {
	if err := s.noSubquery(e); err != nil {
		return lower.Expr{}, err
	}
	if s.asWritten && lower.MayExceed(s.ctx, e) {
		return lower.Expr{}, errStay
	}
	x, err := lower.Lower(s.ctx, s.canonical(e, cols), s.binder, cols)
	return x, rule.By(rule.Expression, err)
}

// predicate translates a condition on private rows.
func (s *statement) predicate(e sql.Expression, cols lower.Columns) (lower.Expr, error) {
	if err := s.noSubquery(e); err != nil {
		return lower.Expr{}, err
	}
	if s.asWritten && lower.MayExceed(s.ctx, e) {
		return lower.Expr{}, errStay
	}
	x, err := lower.LowerPredicate(s.ctx, s.canonical(e, cols), s.binder, cols)
	return x, rule.By(rule.Expression, err)
}

// noSubquery refuses subquery expressions below an aggregate of protected rows.
func (s *statement) noSubquery(e sql.Expression) error {
	if tree.HasSubquery(s.ctx, e) {
		return rule.Deny(rule.Subquery, refuse.Shape, "Write it as a JOIN, or compute it in a statement of its own.",
			"A subquery in an expression on protected rows is not supported.")
	}
	return nil
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
		t, ok := storeTable(rt.Table)
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
