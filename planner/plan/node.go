package plan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/accounting"
	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// ErrNoReservation is what a DPAggregate returns that is iterated outside a Budget node.
var ErrNoReservation = errors.New("planner: a DPAggregate cannot be iterated without a reservation that its Budget node hands it")

// DPAggregate is a leaf of the plan: the answers of one release. It has no expressions and no
// children, so no later rule looks into it or moves it.
type DPAggregate struct {
	Statement *Statement
	Release   *Release
	Exprs     []sql.Expression // one per column of the schema, with its column id
	Shown     sql.Schema
	Columns   []int  // of the release's rows, one per column of the schema
	Keys      int    // number of grouping expressions
	Feasible  []bool // of the rows of public keys, which to show; nil for all
}

var (
	_ sql.ExecSourceRel      = (*DPAggregate)(nil)
	_ sql.Projector          = (*DPAggregate)(nil)
	_ sql.CollationCoercible = (*DPAggregate)(nil)
)

// Resolved implements sql.Node.
func (n *DPAggregate) Resolved() bool { return true }

// IsReadOnly implements sql.Node.
func (n *DPAggregate) IsReadOnly() bool { return true }

// Schema implements sql.Node.
func (n *DPAggregate) Schema(*sql.Context) sql.Schema { return n.Shown }

// Children implements sql.Node.
func (n *DPAggregate) Children() []sql.Node { return nil }

// ProjectedExprs implements sql.Projector: the parents find the columns by these ids.
func (n *DPAggregate) ProjectedExprs() []sql.Expression { return n.Exprs }

// WithChildren implements sql.Node.
func (n *DPAggregate) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return plan.NillaryWithChildren(n, children...)
}

// CollationCoercibility implements sql.CollationCoercible.
func (n *DPAggregate) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 7
}

// String prints the release in one line.
func (n *DPAggregate) String() string {
	if n.Release == nil {
		return "DPAggregate"
	}
	return fmt.Sprintf("DPAggregate(%s)", strings.Join(lists.Map(n.Release.Aggregates, func(a Aggregate) string { return a.Text }), ", "))
}

// rows are those of all keys: it asks the execution that the Budget node began.
func (n *DPAggregate) rows(ctx *sql.Context) ([]sql.Row, error) {
	h, ok := ctx.Value(reservation{}).(*handed)
	if !ok || h.statement != n.Statement || n.Release == nil {
		return nil, ErrNoReservation
	}
	rows, err := h.execution.Answer(ctx, n.Release)
	if err == nil {
		h.answered.Store(true)
	}
	return rows, err
}

// Value is a released value: that of a column of the schema for the public key of a number.
func (n *DPAggregate) Value(ctx *sql.Context, key, column int) (any, error) {
	rows, err := n.rows(ctx)
	if err != nil {
		return nil, err
	}
	if key >= len(rows) {
		return nil, fmt.Errorf("planner: a value of key %d of %d is asked for", key, len(rows))
	}
	return rows[key][n.Columns[column]], nil
}

// RowIter implements sql.ExecSourceRel.
func (n *DPAggregate) RowIter(ctx *sql.Context, _ sql.Row) (sql.RowIter, error) {
	rows, err := n.rows(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]sql.Row, 0, len(rows))
	for i, row := range rows {
		if n.Feasible != nil && len(n.Feasible) == len(rows) && !n.Feasible[i] {
			continue
		}
		shown := make(sql.Row, len(n.Columns))
		for k, c := range n.Columns {
			shown[k] = row[c]
		}
		out = append(out, shown)
	}
	return sql.RowsToRowIter(out...), nil
}

// reservation is the context key of what a Budget node hands down.
type reservation struct{}

type handed struct {
	statement *Statement
	execution Execution
	answered  atomic.Bool // the answers are there: released now, or kept
}

// failed says of an error that comes after the answers that it does.
func (h *handed) failed(err error) error {
	if err == nil || err == io.EOF || !h.answered.Load() {
		return err
	}
	return &Computation{err, true}
}

// Budget is the root of a statement with private parts. It begins the execution and hands it to the
// DPAggregates below through the context, when the rows are set up and at every step.
type Budget struct {
	plan.UnaryNode
	Statement *Statement
	Executor  Executor
	Forecast  func(*sql.Context, *Statement) ([]accounting.Forecast, error) // nil: none
}

var (
	_ sql.ExecBuilderNode    = (*Budget)(nil)
	_ sql.CollationCoercible = (*Budget)(nil)
	_ sql.Describable        = (*Budget)(nil)
)

// IsReadOnly implements sql.Node.
func (b *Budget) IsReadOnly() bool { return b.Child.IsReadOnly() }

// WithChildren implements sql.Node.
func (b *Budget) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(b, len(children), 1)
	}
	n := *b
	n.UnaryNode = plan.UnaryNode{Child: children[0]}
	return &n, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (b *Budget) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, b.Child)
}

// String prints the private plan.
func (b *Budget) String() string { return Format(b.Statement) }

// Describe implements sql.Describable: EXPLAIN prints the private plan, with what the budgets say
// to it, and nothing of the nodes above it, which hold no estimate of rows.
func (b *Budget) Describe(ctx *sql.Context, _ sql.DescribeOptions) string {
	if b.Forecast != nil {
		if f, err := b.Forecast(ctx, b.Statement); err == nil {
			return format(b.Statement, f)
		}
	}
	return Format(b.Statement)
}

// DebugString prints the private plan.
func (b *Budget) DebugString(*sql.Context) string { return Format(b.Statement) }

// BuildRowIter implements sql.ExecBuilderNode.
func (b *Budget) BuildRowIter(ctx *sql.Context, builder sql.NodeExecBuilder, row sql.Row) (sql.RowIter, error) {
	if err := Verify(ctx, b.Statement, b); err != nil {
		return nil, &brokenPlan{err}
	}
	if err := b.rehearse(ctx, builder); err != nil {
		return nil, err
	}
	e, err := b.Executor.Begin(ctx, b.Statement)
	if err != nil {
		return nil, err
	}
	h := &handed{statement: b.Statement, execution: e}
	iter, err := builder.Build(h.in(ctx), b.Child, row)
	if err != nil {
		return nil, h.failed(err)
	}
	return &budgetIter{iter, h, &rangeCount{ranges: b.Statement.Ranges, outside: make([]int, len(b.Statement.Ranges)), strict: b.Statement.Strict}}, nil
}

// Reserved returns the context in which the DPAggregates of a statement have rows: those of an
// execution of it.
func Reserved(ctx *sql.Context, s *Statement, e Execution) *sql.Context {
	return (&handed{statement: s, execution: e}).in(ctx)
}

func (h *handed) in(ctx *sql.Context) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx.Context, reservation{}, h))
}

type budgetIter struct {
	sql.RowIter
	handed *handed
	ranges *rangeCount
}

func (i *budgetIter) Next(ctx *sql.Context) (sql.Row, error) {
	row, err := i.RowIter.Next(i.handed.in(ctx))
	switch err {
	case nil:
		err = i.ranges.add(ctx, row)
	case io.EOF:
		i.ranges.tell(ctx)
	}
	return row, i.handed.failed(err)
}

func (i *budgetIter) Close(ctx *sql.Context) error {
	return i.handed.failed(i.RowIter.Close(i.handed.in(ctx)))
}

// Executor runs releases. The engine implements it; the planner's nodes call it.
type Executor interface {
	// Begin is called once for each execution of a statement, by its Budget node. It reads and
	// charges nothing.
	Begin(ctx *sql.Context, s *Statement) (Execution, error)
}

// Execution is one execution of a statement. A DPAggregate node gets it from the Budget node above
// it, through the context, and cannot produce rows without it.
type Execution interface {
	// Answer returns the rows of one release of the statement, in group order: a stored answer when
	// there is one, else it makes the whole statement's reservation durable (the first call does),
	// scans and releases. A second call for the same release returns the same rows.
	Answer(ctx *sql.Context, r *Release) ([]sql.Row, error)
}

// Definition is what a plan took from the definition and the policy of a table that it reads: its
// columns, its primary key, its unit and its neighbour relation. An execution compares it with the
// one of its snapshot, so that a query that was planned before a change of either never scans after
// it.
type Definition struct {
	Ref  store.TableRef
	Text string // equal texts, equal definitions
	// Source is the kind of source that the table is read from, and what it promises; "" for the
	// store's own.
	Source string
}

// Changed refuses a statement whose tables were defined anew while it was planned or started.
func Changed(t store.TableRef) error {
	return refuse.New(refuse.Context, "The definition or the policy of %s changed while the query was starting.", t).With("Send it again.")
}
