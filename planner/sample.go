package planner

import (
	"context"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/accounting/privacy"
	"scrim/internal/refuse"
	"scrim/planner/plan"
	"scrim/planner/rule"
	"scrim/planner/settings"
	"scrim/planner/stored"
	"scrim/planner/survey"
	"scrim/planner/tree"
)

// SampleNode is the plan of the values that a simulated collection is run over: one of each person of one protected table. It is a leaf that
// nobody can iterate: the executor scans it after a charge, chooses at most Slots of the persons, and what they hold goes into randomisers.
//
//	SELECT <values> FROM <table> WHERE … AND u IS NOT NULL      one row a person, see onePerPerson
//
// # Sensitivity
//
// The executor chooses Slots of the persons uniformly, all of them where there are no more, and fills the slots that are left over with the value for NULL;
// whoever uses the slots puts them into an order that is drawn uniformly and independently of them, for each run anew. So what is used is
// a multiset of Slots values, and neighbours move it by one element at most, under one and the same draw. Call a person present who has a row that the WHERE
// takes, and give each the value that onePerPerson picks, a function of the rows of that person and of a secret that all share. No identity, and no place of
// a row, plays a part.
//
//   - Add-remove: one person p is present or not, all others are as they were. If fewer than Slots others are present, p's value stands where the value for
//     NULL stood. Otherwise draw Slots of all with p, uniformly: where p is not among them, they are a uniform choice of the others; where p is, put
//     another person in p's place, uniformly of those who were not chosen, and they are one again. So there is a joint draw for both in which one place at most differs.
//   - Replace-one: p's rows are exchanged for other rows, of p or of another person q; the WHERE may take them or not. Where both are present, q stands wherever
//     p stood under the same draw; where one is, it is as with add-remove; where none is, nothing changes. n, which is public, is not used.
//
// Nothing else depends on rows: Slots is a constant of the caller, the text is a function of the query and the catalogue, and every
// expression is total, with NULL for a row in which it fails. A row whose person is NULL belongs to nobody and is left out. What holds for each secret and each
// draw holds on average over them.
type SampleNode struct {
	tree.KnownRows
	plan.Sample

	caps      []settings.Total // of the tables, by place: δ
	limits    []float64
	pureTable string
}

// String names the leaf.
func (n *SampleNode) String() string { return "Sample" }

// RowIter implements sql.ExecSourceRel: values of persons have no rows to show.
func (n *SampleNode) RowIter(*sql.Context, sql.Row) (sql.RowIter, error) {
	return nil, plan.ErrNoReservation
}

// WithChildren implements sql.Node.
func (n *SampleNode) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return tree.Leaf(n, children)
}

// Fits refuses a loss that the tables' policies do not allow to one statement.
func (n *SampleNode) Fits(l privacy.Loss) error {
	if n.pureTable != "" && !l.IsPure() {
		return rule.Deny(rule.Pure, refuse.SimulationSource, "Simulate over public data, or a protocol of the local model without the options gauss and zcdp.",
			"The guarantee of the collection is not a pure epsilon, and %s is on the pure account (delta 0).", n.pureTable)
	}
	for i, m := range n.limits {
		eps := float64(privacy.EpsilonOf(privacy.Loss{Rho: l.Rho, Pure: l.Pure}, privacy.Delta(n.caps[i].Delta)))
		if m > 0 && eps > m {
			return rule.Deny(rule.EpsilonCap, refuse.Parameter, "Simulate fewer runs, or a collection of a smaller epsilon.",
				"A statement on %s may cost at most epsilon %v, these runs cost %.4g.", n.Tables[i].Table, m, eps)
		}
	}
	return nil
}

type sampleKey struct{}

type sampling struct{ width, slots int }

// WithSample returns a context in which a query is planned as the source of a simulation: of width numbers, or one vector of as
// many, a row. The plan of one over a protected table has a SampleNode; any other is over public tables alone.
func WithSample(ctx *sql.Context, width, slots int) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx.Context, sampleKey{}, sampling{width, slots}))
}

// SampleOf finds the SampleNode in a plan; nil where there is none.
func SampleOf(ctx *sql.Context, n sql.Node) (s *SampleNode) {
	tree.Inspect(ctx, n, func(n sql.Node) {
		if x, ok := n.(*SampleNode); ok {
			s = x
		}
	}, nil)
	return s
}

// unsuitable refuses a source.
func unsuitable(format string, args ...any) error {
	return rule.Deny(rule.Sample, refuse.SimulationSource, "Simulate over SELECT columns or expressions FROM one table WHERE …, with one number a row, or as many as the collection has dimensions.", format, args...)
}

// sample plans the source of a simulation. Raw access plays no part: what is protected is charged, whoever asks.
func (p *Planner) sample(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, nested bool, want sampling) (sql.Node, error) {
	c := p.config.Catalog()
	f := survey.Of(ctx, c, n)
	switch {
	case len(f.Undeclared) > 0:
		return nil, unsuitable("%s has been declared neither protected nor public.", f.Undeclared[0])
	case len(f.Protected) == 0:
		return n, onlyStored(ctx, n)
	case nested || f.BindVars:
		return nil, unsuitable("The query on %s has a subquery or a place holder.", f.Protected[0])
	}
	t, err := survey.ReadText(ctx)
	if err != nil {
		return nil, err
	}
	if !t.Query || t.Explain {
		return nil, unsuitable("The source is not a SELECT.")
	}
	s, err := p.statement(ctx, a, c, t, f)
	if err != nil {
		return nil, err
	}
	out, err := s.sampleOf(n, want)
	if r, ok := refuse.As(err); ok && r.Code != refuse.Parameter && r.Code != refuse.SimulationSource {
		return nil, unsuitable("%s", r.Cause)
	}
	return out, err
}

// onlyStored refuses public sources that are not stored tables: views of the server's own state.
func onlyStored(ctx *sql.Context, n sql.Node) (err error) {
	tree.Inspect(ctx, n, func(n sql.Node) {
		if rt, ok := n.(*gmsplan.ResolvedTable); ok && !gmsplan.IsDualTable(rt.Table) {
			if _, ok := stored.Under(rt.Table); !ok {
				err = unsuitable("%s is not a stored table.", rt.Name())
			}
		}
	}, nil)
	return err
}

// sampleOf plans the source over a protected table: Project ─ Filter … ─ Table and nothing else.
func (s *statement) sampleOf(n sql.Node, want sampling) (sql.Node, error) {
	project, ok := n.(*gmsplan.Project)
	if !ok {
		return nil, unsuitable("%s over a protected table is not row by row.", shape(n))
	}
	if err := s.rowwise(project.Child); err != nil {
		return nil, err
	}
	if err := s.plainExpressions(project.Projections); err != nil {
		return nil, err
	}
	r, err := s.build(project.Child, position{aggregate: true})
	if err != nil {
		return nil, err
	}
	if r.rel == nil || !r.rel.IsPrivate() {
		return nil, unsuitable("The source has no rows of persons.")
	}
	if err := r.rel.Single(); err != nil {
		return nil, err
	}
	out := &SampleNode{Sample: plan.Sample{Width: want.width, Slots: want.slots}, pureTable: s.params.PureTable}
	columns, err := s.values(out, r.rel, project.Projections)
	if err != nil {
		return nil, err
	}
	out.Columns = project.Schema(s.ctx)
	for i, c := range out.Columns {
		out.Exprs = append(out.Exprs, tree.Column(sql.ColumnId(i+1), 0, c.Type, "", "", c.Name))
	}
	s.sampleScan(out, r.rel, columns)
	if err := s.samplable(out, r.rel); err != nil {
		return nil, err
	}
	return out, s.charged(out, r.rel)
}

// rowwise refuses what makes a row of several, or depends on others.
func (s *statement) rowwise(n sql.Node) error {
	switch n := n.(type) {
	case *gmsplan.Filter:
		if err := s.plainExpressions([]sql.Expression{n.Expression}); err != nil {
			return err
		}
		return s.rowwise(n.Child)
	case *gmsplan.TableAlias:
		return s.rowwise(n.Child)
	case *gmsplan.ResolvedTable:
		return nil
	}
	return unsuitable("%s over a protected table is not row by row.", shape(n))
}

// plainExpressions refuses subqueries, aggregates and window functions. What the translation does not know, volatile functions among it,
// it refuses itself.
func (s *statement) plainExpressions(list []sql.Expression) (err error) {
	for _, e := range list {
		tree.Contains(s.ctx, e, func(e sql.Expression) bool {
			switch e.(type) {
			case *gmsplan.Subquery, *gmsplan.InSubquery, *gmsplan.ExistsSubquery:
				err = unsuitable("A subquery over a protected table is not row by row.")
			case sql.Aggregation:
				err = unsuitable("An aggregate over a protected table is not row by row.")
			}
			return false
		})
	}
	return err
}

// shape names an operation.
func shape(n sql.Node) string {
	switch n.(type) {
	case *gmsplan.JoinNode:
		return "A join"
	case *gmsplan.Limit, *gmsplan.Offset, *gmsplan.TopN:
		return "LIMIT"
	case *gmsplan.Sort:
		return "ORDER BY"
	case *gmsplan.Distinct:
		return "DISTINCT"
	case *gmsplan.GroupBy, *gmsplan.Having:
		return "An aggregate"
	case *gmsplan.Window:
		return "A window function"
	case *gmsplan.SetOp:
		return "UNION"
	case *gmsplan.SubqueryAlias:
		return "A view or derived table"
	}
	return fmt.Sprintf("The operation %T", n)
}
