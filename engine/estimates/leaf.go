package estimates

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/engine/virtual"
	"scrim/functions"
	"scrim/internal/refuse"
)

// Estimates is a leaf of the plan: the answers from a collection, one row, or one a stratum. Like
// the planner's it has no expressions and no children, so that no later rule looks into it.
type Estimates struct {
	virtual.Leaf
	rule    *rule
	source  *source
	grouped bool
	first   *functions.Reported // for messages
	outputs []output
	carried []*expression.GetField
	exprs   []sql.Expression
	schema  sql.Schema
}

var (
	_ sql.ExecSourceRel      = (*Estimates)(nil)
	_ sql.Projector          = (*Estimates)(nil)
	_ sql.CollationCoercible = (*Estimates)(nil)
)

// IsReadOnly implements sql.Node.
func (n *Estimates) IsReadOnly() bool { return true }

// Schema implements sql.Node.
func (n *Estimates) Schema(*sql.Context) sql.Schema { return n.schema }

// ProjectedExprs implements sql.Projector: the parents find the columns by these ids.
func (n *Estimates) ProjectedExprs() []sql.Expression { return n.exprs }

// WithChildren implements sql.Node.
func (n *Estimates) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	if len(children) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(children), 0)
	}
	return n, nil
}

// String is what EXPLAIN prints.
func (n *Estimates) String() string {
	var parts []string
	for _, o := range n.outputs {
		if o.function != nil {
			parts = append(parts, o.text)
		}
	}
	text := fmt.Sprintf("Estimates(%s) from %s, %s; costs no budget", strings.Join(parts, ", "), n.source.name(), n.source.collection.Protocol)
	for _, c := range n.source.where {
		text += ", where " + c.String()
	}
	if n.grouped {
		text += ", by stratum"
	}
	return text
}

// RowIter implements sql.ExecSourceRel.
func (n *Estimates) RowIter(ctx *sql.Context, _ sql.Row) (sql.RowIter, error) {
	strata, err := n.strata(ctx)
	if err != nil {
		return nil, err
	}
	rows := make([]sql.Row, len(strata))
	for i, s := range strata {
		if rows[i], err = n.row(ctx, s); err != nil {
			return nil, err
		}
	}
	return sql.RowsToRowIter(rows...), nil
}

// strata lists those that the conditions leave: what they are is public, so that each declared one
// is in the answer, without reports too. Without GROUP BY one has to be left.
func (n *Estimates) strata(ctx *sql.Context) ([]string, error) {
	all := n.source.collection.Declaration.Strata
	if len(all) == 0 {
		all = []string{""}
	}
	var left []string
	for _, s := range all {
		in := true
		for _, c := range n.source.where {
			ok, err := sql.EvaluateCondition(ctx, c, sql.Row{s})
			if err != nil {
				return nil, err
			}
			in = in && sql.IsTrue(ok)
		}
		if in {
			left = append(left, s)
		}
	}
	if n.grouped || len(left) == 1 {
		return left, nil
	}
	name := n.source.name()
	if len(left) > 1 {
		return nil, refuse.New(refuse.CollectionFilter, "The collection %s has strata, each with an estimate of its own.", name).
			With("SELECT stratum, … FROM %s GROUP BY stratum, or WHERE stratum = '%s'.", name, left[0])
	}
	err := refuse.New(refuse.CollectionFilter, "The condition leaves no stratum of %s.", name)
	if all[0] == "" {
		return nil, err.With("The collection has no strata: leave the condition out.")
	}
	return nil, err.With("Its strata are '%s'.", strings.Join(all, "', '"))
}

// row answers for one stratum. All functions share one estimate, which is made if one of them needs
// it.
func (n *Estimates) row(ctx *sql.Context, stratum string) (sql.Row, error) {
	a := &answer{ctx: ctx, n: n, stratum: stratum}
	row := make(sql.Row, len(n.outputs))
	for i, o := range n.outputs {
		if o.stratum {
			row[i] = stratum
		}
		if o.function == nil {
			continue
		}
		v, err := a.value(o)
		if r, ok := refuse.As(err); ok && r.Code == refuse.TooFewReports && n.rule.NullIfFew(ctx) {
			a.warn(r.Cause)
			continue
		}
		if err != nil {
			return nil, err
		}
		row[i] = v
	}
	return row, nil
}
