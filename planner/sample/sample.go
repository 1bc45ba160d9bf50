// Package sample plans the values that a simulated collection is run over: one value of each person
// of one protected table, of which an execution uses a fixed number.
package sample

import (
	"context"
	"fmt"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/accounting/privacy"
	"scrim/engine/store"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/rule"
	"scrim/planner/settings"
	"scrim/planner/stored"
	"scrim/planner/tree"
)

// Node is the plan of the values that a simulated collection is run over: one of each person of one
// protected table. It is a leaf that nobody can iterate: the executor scans it after a charge,
// chooses at most Slots of the persons, and what they hold goes into randomisers.
//
//	SELECT <values> FROM <table> WHERE … AND u IS NOT NULL      one row a person, see onePerPerson
//
// # Sensitivity
//
// The executor chooses Slots of the persons uniformly, all of them where there are no more, and
// fills the slots that are left over with the value for NULL; whoever uses the slots puts them into
// an order that is drawn uniformly and independently of them, for each run anew. So what is used is
// a multiset of Slots values, and neighbours move it by one element at most, under one and the same
// draw. Call a person present who has a row that the WHERE takes, and give each the value that
// onePerPerson picks, a function of the rows of that person and of a secret that all share. No
// identity, and no place of a row, plays a part.
//
//   - Add-remove: one person p is present or not, all others are as they were. If fewer than Slots
//     others are present, p's value stands where the value for NULL stood. Otherwise draw Slots of
//     all with p, uniformly: where p is not among them, they are a uniform choice of the others;
//     where p is, put another person in p's place, uniformly of those who were not chosen, and they
//     are one again. So there is a joint draw for both in which one place at most differs.
//   - Replace-one: p's rows are exchanged for other rows, of p or of another person q; the WHERE
//     may take them or not. Where both are present, q stands wherever p stood under the same draw;
//     where one is, it is as with add-remove; where none is, nothing changes. n, which is public,
//     is not used.
//
// Nothing else depends on rows: Slots is a constant of the caller, the text is a function of the
// query and the catalogue, and every expression is total, with NULL for a row in which it fails. A
// row whose person is NULL belongs to nobody and is left out. What holds for each secret and each
// draw holds on average over them.
type Node struct {
	tree.KnownRows
	plan.Sample

	caps      []settings.Total // of the tables, by place: δ
	limits    []float64
	pureTable string
}

// String names the leaf.
func (n *Node) String() string { return "Sample" }

// RowIter implements sql.ExecSourceRel: values of persons have no rows to show.
func (n *Node) RowIter(*sql.Context, sql.Row) (sql.RowIter, error) {
	return nil, plan.ErrNoReservation
}

// WithChildren implements sql.Node.
func (n *Node) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return tree.Leaf(n, children)
}

// Fits refuses a loss that the tables' policies do not allow to one statement.
func (n *Node) Fits(l privacy.Loss) error {
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

type wantedKey struct{}

// Wanted is what is wanted of a source: numbers a row, and at most so many persons.
type Wanted struct{ width, slots int }

// WantedBy is what a context wants of a source, if it does.
func WantedBy(ctx *sql.Context) (Wanted, bool) {
	want, ok := ctx.Value(wantedKey{}).(Wanted)
	return want, ok
}

// With returns a context in which a query is planned as the source of a simulation: of width
// numbers, or one vector of as many, a row. The plan of one over a protected table has a Node; any
// other is over public tables alone.
func With(ctx *sql.Context, width, slots int) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx.Context, wantedKey{}, Wanted{width, slots}))
}

// Of finds the Node in a plan; nil where there is none.
func Of(ctx *sql.Context, n sql.Node) (s *Node) {
	tree.Inspect(ctx, n, func(n sql.Node) {
		if x, ok := n.(*Node); ok {
			s = x
		}
	}, nil)
	return s
}

// Unsuitable refuses a source.
func Unsuitable(format string, args ...any) error {
	return rule.Deny(rule.Sample, refuse.SimulationSource, "Simulate over SELECT columns or expressions FROM one table WHERE …, with one number a row, or as many as the collection has dimensions.", format, args...)
}

// OnlyStored refuses public sources that are not stored tables: views of the server's own state.
func OnlyStored(ctx *sql.Context, n sql.Node) (err error) {
	tree.Inspect(ctx, n, func(n sql.Node) {
		if rt, ok := n.(*gmsplan.ResolvedTable); ok && !gmsplan.IsDualTable(rt.Table) {
			if _, ok := stored.Under(rt.Table); !ok {
				err = Unsuitable("%s is not a stored table.", rt.Name())
			}
		}
	}, nil)
	return err
}

// sampler plans one source.
type sampler struct {
	*rel.Writer
	ctx    *sql.Context
	params *settings.Settings
	rows   func(sql.Node) (*rel.Relation, error)
}

// Source plans the query n as a source. rows translates what the rows of persons come from.
func Source(w *rel.Writer, ctx *sql.Context, p *settings.Settings, rows func(sql.Node) (*rel.Relation, error), n sql.Node, want Wanted) (sql.Node, error) {
	s := &sampler{w, ctx, p, rows}
	return s.sampleOf(n, want)
}

// sampleOf plans the source over a protected table: Project ─ Filter … ─ Table and nothing else.
func (s *sampler) sampleOf(n sql.Node, want Wanted) (sql.Node, error) {
	project, ok := n.(*gmsplan.Project)
	if !ok {
		return nil, Unsuitable("%s over a protected table is not row by row.", shape(n))
	}
	if err := s.rowwise(project.Child); err != nil {
		return nil, err
	}
	if err := s.plainExpressions(project.Projections); err != nil {
		return nil, err
	}
	r, err := s.rows(project.Child)
	if err != nil {
		return nil, err
	}
	if r == nil || !r.IsPrivate() {
		return nil, Unsuitable("The source has no rows of persons.")
	}
	if err := r.Single(); err != nil {
		return nil, err
	}
	out := &Node{Sample: plan.Sample{Width: want.width, Slots: want.slots}, pureTable: s.params.PureTable}
	columns, err := s.values(out, r, project.Projections)
	if err != nil {
		return nil, err
	}
	out.Columns = project.Schema(s.ctx)
	for i, c := range out.Columns {
		out.Exprs = append(out.Exprs, tree.Column(sql.ColumnId(i+1), 0, c.Type, "", "", c.Name))
	}
	s.sampleScan(out, r, columns)
	if err := s.samplable(out, r); err != nil {
		return nil, err
	}
	return out, s.charged(out, r)
}

// rowwise refuses what makes a row of several, or depends on others.
func (s *sampler) rowwise(n sql.Node) error {
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
	return Unsuitable("%s over a protected table is not row by row.", shape(n))
}

// plainExpressions refuses subqueries, aggregates and window functions. What the translation does
// not know, volatile functions among it, it refuses itself.
func (s *sampler) plainExpressions(list []sql.Expression) (err error) {
	for _, e := range list {
		tree.Contains(s.ctx, e, func(e sql.Expression) bool {
			switch e.(type) {
			case *gmsplan.Subquery, *gmsplan.InSubquery, *gmsplan.ExistsSubquery:
				err = Unsuitable("A subquery over a protected table is not row by row.")
			case sql.Aggregation:
				err = Unsuitable("An aggregate over a protected table is not row by row.")
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

// values translates what is selected: as many numbers as are wanted, or one array.
func (s *sampler) values(out *Node, r *rel.Relation, list []sql.Expression) ([]string, error) {
	if len(list) == 1 && out.Width > 1 {
		x, err := s.Lower(tree.Unalias(list[0]), r.Resolve)
		if err != nil {
			return nil, err
		}
		x, ok := lower.Vector(x, out.Width)
		if !ok {
			return nil, Unsuitable("%s is no vector of %d numbers.", list[0], out.Width)
		}
		out.Array = true
		return []string{x.SQL}, nil
	}
	if len(list) != out.Width {
		return nil, Unsuitable("The source has %d columns, and a value of the collection %d.", len(list), out.Width)
	}
	columns := make([]string, len(list))
	for i, e := range list {
		x, err := s.Lower(tree.Unalias(e), r.Resolve)
		if err != nil {
			return nil, err
		}
		switch x.Type.Kind {
		case lower.Bool, lower.Int, lower.UInt, lower.Decimal, lower.Double:
		default:
			return nil, Unsuitable("%s is not a number.", e)
		}
		columns[i] = x.AsDouble()
	}
	return columns, nil
}

// sampleScan writes the scan.
func (s *sampler) sampleScan(out *Node, r *rel.Relation, columns []string) {
	u := r.UnitExpr().SQL
	items, names := []string{u + " AS u"}, make([]string, len(columns))
	for i, c := range columns {
		names[i] = "x" + strconv.Itoa(i)
		items = append(items, c+" AS "+names[i])
		out.Scan.Types = append(out.Scan.Types, store.ScanFloat64)
	}
	if out.Array {
		out.Scan.Types = []store.ScanType{store.ScanVector}
	}
	from := "SELECT " + sqltext.List(items) + s.Clause(r.With(u+" IS NOT NULL"))
	if !r.Unique {
		from = s.onePerPerson(from, names)
	}
	out.Scan.SQL = "SELECT " + sqltext.List(names) + " FROM (" + from + ") AS p"
	out.Scan.Args = s.Args()
	out.Scan = rel.Renumbered(out.Scan)
}

// samplable refuses what the store has no memory for: see storeHolds.
func (s *sampler) samplable(out *Node, r *rel.Relation) error {
	if !r.Unique && !s.StoreHolds(out.Width, rel.OrderedBytes) {
		return rule.Deny(rule.Memory, refuse.Option, "Have an operator raise --memory-limit.",
			"To keep one row of each person, the store orders values of %d numbers; with its memory limit of %d MiB it can order %d.",
			out.Width, s.StoreMemory>>20, s.MostOf(rel.OrderedBytes))
	}
	return s.CheckWidth(out.Scan.SQL)
}

// onePerPerson keeps one row of each person, by a keyed hash of what is selected of it; equal rows
// are numbered, so that each of them counts. Which one is kept depends on the person's rows and the
// secret alone, not on who the person is. Whether there are such rows is not looked at otherwise.
func (s *sampler) onePerPerson(from string, names []string) string {
	values := sqltext.List(names)
	rows := "SELECT u, " + values + ", row_number() OVER (PARTITION BY u, " + values + ") AS j FROM (" + from + ") AS r"
	secret := s.Bind(plan.SecretArg{Index: 0})
	return "SELECT u, " + values + " FROM (" + rows + ") AS j QUALIFY row_number() OVER (PARTITION BY u ORDER BY hash(" + values + ", j, CAST(" + secret + " AS BIGINT)), " + values + ") = 1"
}

// charged lists the accounts that a charge goes to: those of the table, of what it is linked to,
// and of the entity.
func (s *sampler) charged(out *Node, r *rel.Relation) error {
	seen := map[string]bool{}
	for _, t := range r.Private {
		if seen[t.Policy.Account] {
			continue
		}
		seen[t.Policy.Account] = true
		total, err := s.params.TotalFor(t.Policy)
		if err != nil {
			return err
		}
		out.Tables = append(out.Tables, plan.Charge{Account: t.Policy.Account, Table: t.Name})
		out.caps, out.limits = append(out.caps, total), append(out.limits, t.Policy.Defaults.MaxEpsilon)
	}
	out.Entities = []string{r.Entity}
	read := map[store.TableRef]bool{}
	for _, t := range r.Reads {
		if !read[t] {
			read[t] = true
			out.Reads, out.Defined = append(out.Reads, t), append(out.Defined, s.Definition(t))
		}
	}
	return nil
}
