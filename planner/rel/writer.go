package rel

import (
	"errors"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/catalog"
	"scrim/engine/store"
	"scrim/internal/refuse"
	"scrim/planner/canon"
	"scrim/planner/lower"
	"scrim/planner/plan"
	"scrim/planner/rule"
	"scrim/planner/stored"
	"scrim/planner/tree"
)

// ErrStay says that a relation of public rows is left to go-mysql-server: it is as nobody asked for
// it here, or the store might answer otherwise.
var ErrStay = errors.New("planner: not pushed down")

// Tables is what a writer knows of the tables that a statement reads.
type Tables struct {
	Catalog catalog.Reader
	// Find finds a stored table by schema.table. It may be nil where no protected table is read.
	Find func(name string) (stored.Table, bool)
	// LastColumn is the largest id of a column that the binder has given out.
	LastColumn sql.ColumnId
	// AsWritten says that public tables alone are read: operands and conditions keep their order.
	AsWritten bool
	// StoreMemory bounds what the store keeps in memory, in bytes; 0: no bound is known.
	StoreMemory int64
}

// Writer writes relations as SQL for the store, one scan after another.
type Writer struct {
	Tables
	ctx     *sql.Context
	nextCol sql.ColumnId
	defined map[store.TableRef]plan.Definition
	persons map[store.TableRef]string

	// Subquery translates a subquery in an expression of a statement on public tables; outer
	// resolves the columns of the rows around it. nil: such an expression is refused.
	Subquery func(e sql.Expression, outer lower.Columns) (lower.Expr, error)
	// Rows reads the rows of a subquery in an expression on protected rows: rows of persons, or
	// public ones. nil: such an expression is refused.
	Rows func(n sql.Node) (*Relation, error)
	// Answer releases an aggregate without keys, whose answer is a value of the rows being read.
	// nil: such a value is refused.
	Answer func(g *gmsplan.GroupBy) (*plan.DPAggregate, error)
	// AnswerEach releases an aggregate for each of the values that columns of the rows around it
	// have. nil: such a value is refused.
	AnswerEach func(around *Relation, g *gmsplan.GroupBy) (Answers, error)
	// Outer resolves the columns around the query being written, where it is a subquery.
	Outer lower.Columns

	binder  *lower.Binder  // of the scan being generated
	aliases int            // number of aliases given out in it
	counted map[string]int // columns of tables that it may read: see stored
}

// NewWriter returns a writer that has begun its first scan.
func NewWriter(ctx *sql.Context, t Tables) *Writer {
	w := &Writer{Tables: t, ctx: ctx, nextCol: t.LastColumn}
	w.Begin()
	return w
}

// Alias returns a fresh table alias of the scan being generated.
func (s *Writer) Alias() string {
	s.aliases++
	return "t" + strconv.Itoa(s.aliases)
}

// NewID returns a column id that the binder has not given out.
func (s *Writer) NewID() sql.ColumnId {
	s.nextCol++
	return s.nextCol
}

// Begin starts the generation of a scan: fresh values and aliases, so that the same subtree always
// gives the same text.
func (s *Writer) Begin() {
	s.binder, s.aliases, s.counted = &lower.Binder{Raise: s.AsWritten}, 0, nil
}

// Aside runs f, which generates other scans, and then goes on with the one being generated.
func (s *Writer) Aside(f func() error) error {
	binder, aliases, counted, subquery, outer := s.binder, s.aliases, s.counted, s.Subquery, s.Outer
	s.Subquery, s.Outer = nil, nil
	s.Begin()
	defer func() {
		s.binder, s.aliases, s.counted, s.Subquery, s.Outer = binder, aliases, counted, subquery, outer
	}()
	return f()
}

// Bind gives a value a place holder of the scan being generated.
func (s *Writer) Bind(v any) string { return s.binder.Bind(v) }

// Args are the values that were bound.
func (s *Writer) Args() []any { return s.binder.Args() }

// Definition is what the statement has planned a table with.
func (s *Writer) Definition(t store.TableRef) plan.Definition { return s.defined[t] }

// Persons tells which person a row of a table that was planned belongs to, as stored.Persons does.
func (s *Writer) Persons(t store.TableRef) string { return s.persons[t] }

// Lower translates an expression of a row.
func (s *Writer) Lower(e sql.Expression, cols lower.Columns) (lower.Expr, error) {
	return s.translate(lower.Lower, e, cols)
}

// predicate translates a condition on rows.
func (s *Writer) predicate(e sql.Expression, cols lower.Columns) (lower.Expr, error) {
	return s.translate(lower.LowerPredicate, e, cols)
}

func (s *Writer) translate(f func(*sql.Context, sql.Expression, *lower.Binder, lower.Columns) (lower.Expr, error), e sql.Expression, cols lower.Columns) (lower.Expr, error) {
	if outer := s.Outer; outer != nil {
		own := cols
		cols = func(gf *expression.GetField) (lower.Expr, bool) {
			if x, ok := own(gf); ok {
				return x, true
			}
			return outer(gf)
		}
	}
	var named []subquery
	if s.Subquery == nil && s.Answer != nil {
		var err error
		if e, cols, named, err = s.withoutSubqueries(e, cols, s.onlyAnswers); err != nil {
			return lower.Expr{}, err
		}
	} else if s.Subquery == nil {
		if err := s.NoSubquery(e); err != nil {
			return lower.Expr{}, err
		}
	} else {
		var err error
		if e, cols, named, err = s.withoutSubqueries(e, cols, s.Subquery); err != nil {
			return lower.Expr{}, err
		}
	}
	if s.AsWritten && lower.MayExceed(s.ctx, e) {
		return lower.Expr{}, ErrStay
	}
	if !s.AsWritten {
		e = canon.Expr(s.ctx, e, cols)
	}
	s.binder.Rows = len(named) > 0 || s.Outer != nil
	x, err := f(s.ctx, e, s.binder, cols)
	if err == nil && s.binder.Rows {
		if strings.Contains(x.SQL, "lambda ") {
			return x, ErrStay
		}
		x.SQL = withSubqueries(x.SQL, named)
	}
	return x, rule.By(rule.Expression, err)
}

// RunsOnBases refuses an expression over base columns that may not run on protected rows.
func (s *Writer) RunsOnBases(r *Relation, e sql.Expression) error {
	check := &Writer{ctx: s.ctx, binder: new(lower.Binder)}
	_, err := check.Lower(e, func(gf *expression.GetField) (lower.Expr, bool) {
		b := r.BaseByID(gf.Id())
		if b == nil {
			return lower.Expr{}, false
		}
		return b.Expr, true
	})
	return err
}

// NoSubquery refuses subquery expressions below an aggregate of protected rows.
func (s *Writer) NoSubquery(e sql.Expression) error {
	if tree.HasSubquery(s.ctx, e) {
		return rule.Deny(rule.Subquery, refuse.Shape, "Write it as a JOIN, or compute it in a statement of its own.",
			"A subquery in an expression on protected rows is not supported.")
	}
	return nil
}

// define records the definition that the statement has planned a table with.
func (s *Writer) define(t stored.Table, p catalog.Table) error {
	d := stored.Definition(s.ctx, t, p)
	if s.defined == nil {
		s.defined, s.persons = map[store.TableRef]plan.Definition{}, map[store.TableRef]string{}
	}
	if old, ok := s.defined[d.Ref]; ok && old != d {
		return plan.Changed(d.Ref)
	}
	s.defined[d.Ref], s.persons[d.Ref] = d, stored.Persons(t, p)
	return nil
}
