package planner

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/refuse"
	"scrim/planner/keys"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// A subquery may aggregate rows of all persons for each row around it:
//
//	SELECT COUNT(*) FROM lineitem l JOIN part p ON p.id = l.part WHERE p.brand = 'b' AND l.qty < (SELECT 0.2 * AVG(m.qty) FROM lineitem m WHERE m.part = p.id)
//
// Where its rows are those that equal the row around in some columns, and the values which these
// have there are public, it is one GROUP BY by those values (keyedRows): it is released once, for
// all of them, and each row around is compared with what was released for its own. What is
// released follows from the query, the rows of the subquery and public values; which of the values
// any row around has plays no part in it.

// keyedAnswer is such a subquery.
type keyedAnswer struct {
	answer *plan.DPAggregate // nil where no row around can have a value
	around []sql.Expression  // over the rows around
	tuples *keys.Tuples      // their values
}

// keyedRows is the rows of such a subquery, with the number of the values that a row has as a
// column.
type keyedRows struct {
	gmsplan.UnaryNode
	exprs  []sql.Expression // over the rows
	tuples *keys.Tuples
	id     sql.ColumnId
}

func (n *keyedRows) IsReadOnly() bool { return true }
func (n *keyedRows) String() string   { return "KeyedRows" }

// WithChildren implements sql.Node.
func (n *keyedRows) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(children), 1)
	}
	out := *n
	out.Child = children[0]
	return &out, nil
}

// numbered is the relation of keyed rows. Values that tell persons apart are none to group by.
func (s *statement) numbered(n *keyedRows) (result, error) {
	child, err := s.build(n.Child, position{aggregate: true})
	if err != nil {
		return result{}, err
	}
	if child.rel == nil {
		return result{}, rule.Deny(rule.Subquery, refuse.Shape, "Join the answer of a derived table instead.",
			"The subquery aggregates a private answer for each row around it.")
	}
	for _, e := range n.exprs {
		if child.rel.IsUnit(e) || child.rel.TellsUnit(e) || child.rel.NamesPerson(e) {
			return result{}, rule.Deny(rule.UnitKey, refuse.Shape, "Compare columns that many persons share.",
				"The subquery would aggregate the rows of one person for each value of %s.", e)
		}
	}
	r, err := s.keys.Numbered(child.rel, n.exprs, n.tuples, n.id)
	return result{rel: r}, err
}

// answerEach releases the aggregate of a subquery for each of the values that the rows around have
// in the columns that it compares, once for all scans of these.
func (s *statement) answerEach(around *rel.Relation, g *gmsplan.GroupBy) (rel.Answers, error) {
	k, ok := s.keyed[g]
	if !ok {
		var err error
		if k, err = s.planKeyed(around, g); err != nil {
			return rel.Answers{}, err
		}
		s.keyed[g] = k
	}
	of, none, err := s.keys.Lookup(around, k.around, k.tuples)
	return rel.Answers{DPAggregate: k.answer, Of: of, None: none}, err
}

func (s *statement) planKeyed(around *rel.Relation, g *gmsplan.GroupBy) (*keyedAnswer, error) {
	rows, own, outer, err := s.compared(around, g)
	if err != nil {
		return nil, err
	}
	k := &keyedAnswer{around: outer}
	if k.tuples, err = s.keys.Tuples(around, outer); err != nil {
		return nil, err
	}
	err = s.Aside(func() error {
		if k.tuples == nil {
			r, err := s.rows(rows)
			if err != nil {
				return err
			}
			if r != nil {
				k.tuples, err = s.keys.Tuples(r, own)
			}
			if err != nil || k.tuples == nil {
				return noValues(err, around, outer)
			}
		}
		if k.tuples.Len() == 0 {
			return nil
		}
		n := &keyedRows{UnaryNode: gmsplan.UnaryNode{Child: rows}, exprs: own, tuples: k.tuples, id: s.NewID()}
		key := tree.Column(n.id, 0, types.Int64, "", "", keys.Names(own))
		r, err := s.groupBy(gmsplan.NewGroupBy(g.SelectDeps, []sql.Expression{key}, n), position{})
		if err == nil {
			k.answer, _ = r.node.(*plan.DPAggregate)
		}
		return err
	})
	return k, err
}

// noValues refuses columns whose values are not public, or the error that came before.
func noValues(err error, around *rel.Relation, columns []sql.Expression) error {
	if err != nil {
		return err
	}
	if !around.IsPrivate() {
		return rule.Deny(rule.Correlated, refuse.GroupKeys, "Narrow the rows around it by conditions on their own columns, or join the answer of a derived table.",
			"The subquery would be a private answer for each value of %s, of which there are more than %d.", columns[0], keys.MaxPublic)
	}
	return rule.Deny(rule.Correlated, refuse.GroupKeys,
		"Compare columns of a public table, narrowed by conditions on it, or columns whose domain a DBA declares with dp_set_domain; or the unit columns, where the person's own rows are meant.",
		"The subquery aggregates rows of other persons than the row around it, for each value of %s: these values are not public, or too many.", columns[0])
}

// compared takes the equalities of columns around out of the conditions of a subquery: own = outer,
// side by side. rows are those that meet the other conditions. Columns around may stand nowhere
// else below the aggregates.
func (s *statement) compared(around *rel.Relation, g *gmsplan.GroupBy) (rows sql.Node, own, outer []sql.Expression, err error) {
	var rest []sql.Expression
	rows = g.Child
	for {
		f, ok := rows.(*gmsplan.Filter)
		if !ok {
			break
		}
		rows = f.Child
		for _, c := range tree.Conjuncts(f.Expression) {
			inside, outside := s.sidesOf(around, c)
			switch {
			case inside != nil:
				own, outer = append(own, inside), append(outer, outside)
			case s.readsAround(around, c):
				return nil, nil, nil, onlyEqual(around, c)
			default:
				rest = append(rest, c)
			}
		}
	}
	tree.Inspect(s.ctx, gmsplan.NewGroupBy(g.SelectDeps, nil, rows), nil, func(e sql.Expression) {
		if err == nil && s.readsAround(around, e) {
			err = onlyEqual(around, e)
		}
	})
	if err == nil && len(own) == 0 {
		err = onlyEqual(around, g.SelectDeps[0])
	}
	if len(rest) > 0 {
		rows = gmsplan.NewFilter(s.ctx, expression.JoinAnd(rest...), rows)
	}
	return rows, own, outer, err
}

// sidesOf reads an equality of an expression over columns around and one over others.
func (s *statement) sidesOf(around *rel.Relation, c sql.Expression) (inside, outside sql.Expression) {
	eq, ok := c.(*expression.Equals)
	if !ok || tree.HasSubquery(s.ctx, c) {
		return nil, nil
	}
	a, b := eq.Left(), eq.Right()
	if s.readsAround(around, a) {
		a, b = b, a
	}
	if len(tree.Fields(s.ctx, a)) == 0 || s.readsAround(around, a) || !s.onlyAround(around, b) {
		return nil, nil
	}
	return a, b
}

// readsAround reports whether an expression has a column around, also within subqueries.
func (s *statement) readsAround(around *rel.Relation, e sql.Expression) bool {
	return tree.Contains(s.ctx, e, func(e sql.Expression) bool {
		q, ok := e.(*gmsplan.Subquery)
		return around.Has(tree.ID(e)) || ok && slices.ContainsFunc(around.Columns, func(c rel.Column) bool { return q.Correlated().Contains(c.ID) })
	})
}

// onlyAround reports whether all columns of an expression, of which there are some, are columns
// around.
func (s *statement) onlyAround(around *rel.Relation, e sql.Expression) bool {
	ids := tree.Fields(s.ctx, e)
	return len(ids) > 0 && !slices.ContainsFunc(ids, func(id sql.ColumnId) bool { return !around.Has(id) })
}

func onlyEqual(around *rel.Relation, e sql.Expression) error {
	if !around.IsPrivate() {
		return rule.Deny(rule.Correlated, refuse.Context,
			"Compare columns around it by = alone, in the WHERE of the subquery: WHERE b.part = a.part. Or join the answer of a derived table.",
			"The subquery would be a private query for every row: it aggregates rows that meet %s, which is no equality of a column of it with one around it.", e)
	}
	return rule.Deny(rule.Correlated, refuse.Shape,
		"Compare columns around it by = alone, in the WHERE of the subquery: WHERE b.part = a.part. Or compare the unit columns, WHERE b.unit = a.unit, where the person's own rows are meant; a join of aggregates per person serves, too.",
		"The subquery would let rows of one person decide about rows of another: it aggregates those that meet %s, which is no equality of a column of it with one around it.", e)
}
