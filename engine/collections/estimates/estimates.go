package estimates

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/collections"
	"scrim/engine/collections/local"
	"scrim/engine/collections/shuffle"
	"scrim/engine/mysql/virtual"
	"scrim/functions"
	"scrim/internal/lists"
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
	return plan.NillaryWithChildren(n, children...)
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
	rows, err := lists.Try(strata, func(s string) (sql.Row, error) { return n.row(ctx, s) })
	if err != nil {
		return nil, err
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

// answer is the answering of one row.
type answer struct {
	ctx      *sql.Context
	n        *Estimates
	stratum  string
	made     bool
	estimate collections.Estimate
	err      error
	warned   map[string]bool
}

// warn adds a warning to the session's, once a row.
func (a *answer) warn(text string) {
	if a.warned == nil {
		a.warned = map[string]bool{}
	}
	if !a.warned[text] {
		a.warned[text] = true
		a.ctx.Session.Warn(&sql.Warning{Level: "Warning", Code: refuse.MySQLErrno, Message: text})
	}
}

// get makes the estimate, and passes its warnings on.
func (a *answer) get() (collections.Estimate, error) {
	if a.made {
		return a.estimate, a.err
	}
	a.made = true
	a.estimate, a.err = a.n.rule.Collections.Estimate(a.ctx, a.n.source.name(), a.stratum)
	if a.err == nil {
		for _, w := range a.estimate.Info().Warnings {
			a.warn(w.Code + ": " + w.Text)
		}
	}
	return a.estimate, a.err
}

// value answers one function.
func (a *answer) value(o output) (any, error) {
	x, err := o.numbers(a.ctx)
	if err != nil {
		return nil, err
	}
	switch o.function.Question {
	case functions.AskCount:
		_, n, err := a.n.rule.Collections.Arrived(a.n.source.name(), a.stratum)
		return int64(n), err
	case functions.AskInfo:
		return a.info()
	}
	e, err := a.get()
	if err != nil {
		return nil, err
	}
	return ask(e, o.function.Question, x)
}

// ask puts a question to an estimate. x are the constants, as many as the function has.
func ask(e collections.Estimate, q functions.Question, x []float64) (any, error) {
	switch q {
	case functions.AskStdErr:
		return known(second(stdErr(e)))
	case functions.AskLow:
		return known(first(e.Interval(x[0])))
	case functions.AskHigh:
		return known(second(e.Interval(x[0])))
	case functions.AskSD:
		return known(first(e.SD()))
	case functions.AskSum:
		s, ok := e.(shuffle.Estimate)
		if !ok {
			return nil, refuse.New(refuse.Aggregate, "A collection of %s has no sum.", e.Info().Protocol).With("Ask for its mean.")
		}
		return known(first(s.Sum()))
	case functions.AskRange:
		return known(first(e.Range(x[0], x[1])))
	case functions.AskQuantile:
		return known(e.Quantile(x[0]))
	case functions.AskVector:
		v, _, err := e.Vector()
		if err != nil {
			return nil, err
		}
		list := make([]any, len(v))
		for i := range v {
			list[i], _ = known(v[i], nil)
		}
		return types.JSONDocument{Val: list}, nil
	}
	return known(first(e.Mean()))
}

// stdErr is that of the mean: of a number, or of a vector.
func stdErr(e collections.Estimate) (value, stderr float64, err error) {
	value, stderr, err = e.Mean()
	if err != nil {
		if _, s, other := e.Vector(); other == nil {
			return 0, s, nil
		}
	}
	return value, stderr, err
}

func first(x, _ float64, err error) (float64, error)  { return x, err }
func second(_, x float64, err error) (float64, error) { return x, err }

// known is a number as an SQL value, NULL where it is none.
func known(x float64, err error) (any, error) {
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return nil, err
	}
	return x, nil
}

// info tells about the estimate, or what has arrived and why there is no estimate.
func (a *answer) info() (any, error) {
	told := struct {
		local.Info
		Refused string `json:"no_estimate,omitempty"`
	}{}
	e, err := a.get()
	if err == nil {
		told.Info = e.Info()
	} else if r, ok := refuse.As(err); ok && r.Code != refuse.CollectionFilter {
		if told.Info, _, err = a.n.rule.Collections.Arrived(a.n.source.name(), a.stratum); err != nil {
			return nil, err
		}
		told.Refused = r.Cause
	} else {
		return nil, err
	}
	text, err := json.Marshal(told)
	if err != nil {
		return nil, err
	}
	doc, _, err := types.JSON.Convert(a.ctx, string(text))
	return doc, err
}

// number reads a constant.
func number(ctx *sql.Context, v any) (float64, bool) {
	if v == nil {
		return 0, false
	}
	x, _, err := types.Float64.Convert(ctx, v)
	f, ok := x.(float64)
	return f, err == nil && ok && !math.IsNaN(f) && !math.IsInf(f, 0)
}
