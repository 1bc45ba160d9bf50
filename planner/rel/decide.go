package rel

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/functions/standard"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/planner/lower"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// A subquery in an expression on rows of persons decides about a row by other rows:
//
//	SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM lineitem l WHERE l.orderkey = o.id AND l.late = 1)
//
// Public rows may decide about any row, as in a join. Rows of persons may decide about rows of the
// same person alone. Then what a relation has of one person is a function of the rows of that
// person and of public rows: leaving the person out, or exchanging it, changes the rows of no other
// person. The condition is a filter to all that is done above, and no sensitivity changes. That
// holds of NOT EXISTS, NOT IN and values as it does of EXISTS, and of any expression around them.
//
// A row of a join off the units belongs to two persons (unit.go). The rows of a subquery that are
// of one of them decide about it as that person's side of the join does.
//
// That both rows have one person is proved as for a join (link, sameUnit): the conditions of the
// subquery are read over the rows around it and its own side by side, and an equality among them
// has to be one of the two units, or of columns that refer to one row that has the unit. All
// conditions are joined by AND, so a row of the subquery that counts meets the equality. The proof
// says that the answer means what is written. The generated SQL has the equality of the two units
// as a condition of its own beside it, so that rows of others are left out whatever was proved; it
// is left out where the link says the same by itself (spare).
//
// For x IN (SELECT y …) the equality may be x = y itself. Rows of others have other values then, or
// NULL. A NULL would make NOT IN unknown for all persons: this is allowed only where neither side
// is NULL on a row that has a person. Rows that belong to nobody decide about nothing.
//
// Nothing here fails by what is in the rows: EXISTS and IN take any number of rows, and a subquery
// that is a value aggregates without keys, so that it has one row.

// decider translates the subqueries of one expression on the rows of a relation.
type decider struct {
	*Writer
	around *Relation
	// what the subqueries read
	reads *Relation
}

// perRow translates an expression of one row, with the subqueries in it. filter says that it is a
// condition that keeps a row where it is true.
func (s *Writer) perRow(r *Relation, e sql.Expression, filter bool) (lower.Expr, error) {
	if s.AsWritten || s.Rows == nil || !tree.HasSubquery(s.ctx, e) {
		if filter {
			return s.predicate(e, r.Resolve)
		}
		return s.Lower(e, r.Resolve)
	}
	d := &decider{Writer: s, around: r, reads: new(Relation)}
	x, err := d.expression(e, filter)
	if err != nil {
		return x, err
	}
	r.Private = append(slices.Clone(r.Private), d.reads.Private...)
	r.Reads = append(slices.Clone(r.Reads), d.reads.Reads...)
	// A join that the text reads cannot be left out any more.
	r.links = slices.DeleteFunc(slices.Clone(r.links), func(j linkJoin) bool { return strings.Contains(x.SQL, r.units[j.unit].expr.SQL) })
	return x, nil
}

func (d *decider) expression(e sql.Expression, filter bool) (lower.Expr, error) {
	if filter {
		switch e := e.(type) {
		case *plan.InSubquery:
			return d.in(e, true)
		case *plan.ExistsSubquery:
			return d.exists(e.Query.Query, nil, true)
		}
	}
	before := d.Subquery
	d.Subquery = d.own
	defer func() { d.Subquery = before }()
	translate := lower.Lower
	if filter {
		translate = lower.LowerPredicate
	}
	x, err := d.translate(translate, e, d.around.Resolve)
	if err == ErrStay {
		err = rule.Deny(rule.Subquery, refuse.Shape, "Compute it in a derived table.", "An array function stands beside a subquery.")
	}
	return x, err
}

// own translates one subquery. Those within it are of other rows.
func (d *decider) own(e sql.Expression, _ lower.Columns) (lower.Expr, error) {
	d.Subquery = nil
	defer func() { d.Subquery = d.own }()
	switch e := e.(type) {
	case *plan.ExistsSubquery:
		return d.exists(e.Query.Query, nil, false)
	case *plan.InSubquery:
		return d.in(e, false)
	case *plan.Subquery:
		if d.isAnswer(e) {
			return d.onlyAnswers(e, nil)
		}
		return d.value(e.Query)
	}
	return lower.Expr{}, d.NoSubquery(e)
}

// exists translates EXISTS (…), whose rows have to meet the further conditions. keeps says that it
// holds of all rows that remain.
func (d *decider) exists(n sql.Node, more []sql.Expression, keeps bool) (lower.Expr, error) {
	if len(more) == 0 {
		n = rowsOf(n)
	}
	both, inner, err := d.beside(n, more)
	if err != nil {
		return lower.Expr{}, err
	}
	if err := d.proved(both, inner); err != nil {
		return lower.Expr{}, err
	}
	if keeps && !inner.IsPrivate() {
		d.around.know(inner, both.Known)
	}
	return lower.Expr{SQL: "(EXISTS (SELECT 1" + d.clauseOf(both, inner) + "))", Type: lower.Type{Kind: lower.Bool}}, nil
}

// rowsOf leaves out what does not matter to whether there is a row: what is selected, and in which
// order.
func rowsOf(n sql.Node) sql.Node {
	switch n.(type) {
	case *plan.Project, *plan.Distinct, *plan.Sort:
		return rowsOf(n.Children()[0])
	}
	return n
}

// in translates x IN (…). Where it keeps a row, it is the EXISTS of an equal value.
func (d *decider) in(e *plan.InSubquery, keeps bool) (lower.Expr, error) {
	q, ok := e.Right().(*plan.Subquery)
	if !ok {
		return lower.Expr{}, d.NoSubquery(e)
	}
	left := []sql.Expression{e.Left()}
	if row, ok := e.Left().(expression.Tuple); ok {
		left = row
	}
	n, list := listOf(d.ctx, q.Query)
	if len(list) != len(left) {
		return lower.Expr{}, d.NoSubquery(e)
	}
	var eqs []sql.Expression
	for i := range left {
		eq, err := standard.Collated(d.ctx, expression.NewEquals(left[i], list[i]))
		if err != nil {
			return lower.Expr{}, err
		}
		eqs = append(eqs, eq)
	}
	if keeps {
		return d.exists(n, eqs, true)
	}
	both, inner, err := d.beside(n, nil)
	if err != nil {
		return lower.Expr{}, err
	}
	_, proved := both.decides()
	proved = proved || !inner.IsPrivate()
	for _, eq := range eqs {
		if !proved {
			both.link(eq, false)
		}
	}
	if err := d.proved(both, inner); err != nil {
		return lower.Expr{}, err
	}
	if !proved {
		for i := range left {
			if !both.certain(left[i]) || !both.certain(list[i]) {
				return lower.Expr{}, rule.Deny(rule.Correlated, refuse.Shape, "Use NOT EXISTS with an equality of the unit columns.",
					"%s or %s may be NULL, and a NULL of one person would decide about the rows of all.", left[i], list[i])
			}
		}
	}
	if len(left) > 1 { // the store has no such comparison with rows around it
		return lower.Expr{}, rule.Deny(rule.Subquery, refuse.Shape, "Use [NOT] EXISTS with an equality for each.", "Several columns are compared by NOT IN with a subquery.")
	}
	sides := eqs[0].Children()
	x, err := d.Lower(sides[0], d.around.Resolve)
	if err != nil {
		return x, err
	}
	y, err := d.Lower(sides[1], both.Resolve)
	if err != nil {
		return y, err
	}
	x, y, ok = lower.Alike(x, y)
	if !ok {
		return x, rule.Deny(rule.Subquery, refuse.Shape, "CAST both to one type.", "%s and %s have types that are not compared by IN.", left[0], list[0])
	}
	return lower.Expr{SQL: "(" + x.SQL + " IN (SELECT " + y.SQL + d.clauseOf(both, inner) + "))", Type: lower.Type{Kind: lower.Bool}, Nullable: true}, nil
}

// listOf is the rows of a subquery and what it lists of them.
func listOf(ctx *sql.Context, n sql.Node) (rows sql.Node, list []sql.Expression) {
	switch n := n.(type) {
	case *plan.Distinct:
		return listOf(ctx, n.Child)
	case *plan.Sort:
		return listOf(ctx, n.Child)
	case *plan.Project:
		list = append(list, lists.Map(n.Projections, tree.Unalias)...)
		return n.Child, list
	}
	ids := tree.OutputIDs(n)
	for i, c := range n.Schema(ctx) {
		if i < len(ids) {
			list = append(list, tree.Column(ids[i], 0, c.Type, c.DatabaseSource, c.Source, c.Name))
		}
	}
	return n, list
}

// certain reports whether a column is not NULL on any row that has a person.
func (r *Relation) certain(e sql.Expression) bool {
	gf, ok := e.(*expression.GetField)
	if !ok {
		return false
	}
	c := r.Find(gf)
	return c != nil && !c.Extended && (c.Required || slices.ContainsFunc(c.tags, func(t tag) bool { return t.kind == tagUnit || t.kind == tagLink }))
}

// value translates a subquery that is a value: an aggregate without keys.
func (d *decider) value(n sql.Node) (lower.Expr, error) {
	var list []sql.Expression
	if p, ok := n.(*plan.Project); ok && len(p.Projections) == 1 {
		n, list = p.Child, p.Projections
	}
	g, ok := n.(*plan.GroupBy)
	if !ok || len(g.GroupByExprs) > 0 || list == nil {
		return lower.Expr{}, rule.Deny(rule.Subquery, refuse.Shape, "Aggregate in it: (SELECT MAX(x) FROM … WHERE b.unit = a.unit).",
			"A subquery whose value is compared with protected rows may have several rows.")
	}
	both, inner, err := d.beside(g.Child, nil)
	if err != nil {
		return lower.Expr{}, err
	}
	if err := d.proved(both, inner); err != nil {
		if d.AnswerEach != nil {
			return d.answerEach(g, list[0])
		}
		return lower.Expr{}, err
	}
	one, alias := new(Relation), d.Alias()
	var items []string
	for _, e := range g.SelectDeps {
		a, ok := e.(sql.Aggregation)
		if !ok {
			return lower.Expr{}, rule.Deny(rule.InnerAggregate, refuse.Shape, "Select aggregates only.", "The column %s in a subquery that aggregates is of any of its rows.", e)
		}
		x, err := d.aggregated(both, inner, a)
		if err != nil {
			return x, err
		}
		name := "a" + strconv.Itoa(len(items))
		items = append(items, x.SQL+" AS "+name)
		one.Columns = append(one.Columns, Column{ID: tree.ID(e), Name: name, Type: e.Type(d.ctx), Expr: lower.Expr{SQL: alias + "." + name, Type: x.Type, Nullable: true}})
	}
	rows := concat(d.around, one)
	x, err := d.Lower(tree.Unalias(list[0]), rows.Resolve)
	if err != nil {
		return x, err
	}
	return lower.Expr{SQL: "(SELECT " + x.SQL + " FROM (SELECT " + strings.Join(items, ", ") + d.clauseOf(both, inner) + ") AS " + alias + ")", Type: x.Type, Nullable: true}, nil
}

// aggregated is an aggregate of the rows of a subquery. Public DOUBLE values are added up as they
// are, which no person's rows change.
func (d *decider) aggregated(both, inner *Relation, a sql.Aggregation) (lower.Expr, error) {
	var f string
	switch standard.Plain(a).(type) {
	case *aggregation.Sum:
		f = "sum"
	case *aggregation.Avg:
		f = "avg"
	}
	if f != "" && !inner.IsPrivate() && len(a.Children()) == 1 {
		x, err := d.Lower(a.Children()[0], inner.Resolve)
		if err == nil && x.Type.Kind == lower.Double {
			return lower.Expr{SQL: f + "(" + x.SQL + ")", Type: x.Type, Nullable: true}, nil
		}
	}
	return d.exact(both, a)
}

// beside reads the rows of a subquery beside those around it, with the conditions of the subquery
// and the further ones. both has the columns and units of the rows around it first, and no
// condition or FROM item of theirs; inner is the subquery's alone.
func (d *decider) beside(n sql.Node, more []sql.Expression) (both, inner *Relation, err error) {
	var conds []sql.Expression
	for {
		f, ok := n.(*plan.Filter)
		if !ok {
			break
		}
		n, conds = f.Child, append(tree.Conjuncts(f.Expression), conds...)
	}
	if inner, err = d.Rows(n); err != nil {
		return nil, nil, err
	}
	around := *d.around
	around.where, around.links, around.spared = nil, nil, nil
	both = concat(&around, inner)
	both.outside = len(around.units)
	if conds = append(conds, more...); len(conds) > 0 {
		if both, err = d.Filter(both, expression.JoinAnd(conds...)); err != nil {
			return nil, nil, err
		}
	}
	return both, inner, nil
}

// proved refuses a subquery whose rows are not proved to be of one person of the row around it.
func (d *decider) proved(both, inner *Relation) error {
	if _, ok := both.decides(); ok || !inner.IsPrivate() {
		return nil
	}
	if !slices.ContainsFunc(d.around.Owners(), func(o Owner) bool { return o.Entity == inner.Entity }) {
		return rule.Deny(rule.JoinEntity, refuse.Shape, "Compare protected tables of one entity.",
			"A subquery over %s reads persons of another entity than the rows around it.", inner.PrivateNames())
	}
	return rule.Deny(rule.Correlated, refuse.Shape,
		inner.oneUnit("Compare the unit columns in its WHERE, for example WHERE b.unit = a.unit, or columns that link to the same row; a join of aggregates per person serves, too."),
		"The subquery over %s would let rows of one person decide about rows of another.", inner.PrivateNames())
}

// decides returns the unit of the rows around that all units of a subquery are proved to be; false
// where there is none.
func (r *Relation) decides() (int, bool) {
	if r.outside == len(r.units) {
		return 0, false
	}
	of := r.root(r.outside)
	for i := r.outside; i < len(r.units); i++ {
		if r.root(i) != of {
			return 0, false
		}
	}
	return of, of < r.outside
}

// clauseOf is the FROM and WHERE of a subquery, whose rows have the person of the row around it.
func (d *decider) clauseOf(both, inner *Relation) string {
	d.reads.Reads = append(d.reads.Reads, both.Reads[len(d.around.Reads):]...)
	for _, p := range both.Private[len(d.around.Private):] {
		p.Policy.Defaults.MaxRowsPerUnit = 0 // is of the rows that decide
		d.reads.Private = append(d.reads.Private, p)
	}
	rows := *both
	rows.from = inner.from
	if of, ok := both.decides(); ok {
		rows.where = slices.Clone(rows.where)
		for _, u := range both.units[both.outside:] {
			equal := u.expr.SQL + " = " + both.units[of].expr.SQL
			if u.expr.SQL != both.units[of].expr.SQL && !slices.Contains(rows.where, equal) {
				rows.where = append(rows.where, equal)
			}
		}
	}
	return d.Clause(&rows)
}
