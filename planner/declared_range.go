package planner

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/remark"
	"scrim/planner/rel"
	"scrim/planner/tree"
)

// Tools ask for the ends of a column before they draw a slider or an axis: SELECT MIN(x), MAX(x)
// FROM t. The least and the greatest value are each one person's. What a slider needs, the range
// that x can have, a DBA may have declared; then the answer is that range: it costs nothing, no row
// is read, and a note says what it is. It is given only for the whole of one table, where the
// question can mean the column; with a condition, a key or another aggregate beside it, it can only
// mean the rows, and is answered from them, by what a number of persons are beyond.

// declaredRange answers a GROUP BY of MIN and MAX alone from declared domains; ok is false where it
// asks for something else, or where one of the columns has no declared range.
func (s *statement) declaredRange(g *plan.GroupBy, r *rel.Relation) (out result, ok bool, err error) {
	if len(g.GroupByExprs) > 0 || len(g.SelectDeps) == 0 || !r.BareTable() || !s.params.Rewrite() {
		return out, false, nil
	}
	row := make(sql.Row, len(g.SelectDeps))
	for i, e := range g.SelectDeps {
		var least bool
		switch e.(type) {
		case *aggregation.Min:
			least = true
		case *aggregation.Max:
		default:
			return out, false, nil
		}
		if row[i], err = s.declaredEnd(r, e.(sql.Aggregation), least); err != nil || row[i] == nil {
			return out, false, err
		}
	}
	leaf := tree.NoRows(s.ctx, g)
	leaf.Rows = []sql.Row{row}
	note := remark.New(remark.Declared, "MIN and MAX are the ends of the range that is declared for the column, not values of rows.").
		With("DP_MIN(x) and DP_MAX(x) tell of the rows, privately.")
	return result{node: &declared{*leaf, "DeclaredRange", note}}, true, nil
}

// declaredEnd is the declared least or greatest value of the column that an aggregate is of; nil
// where none is declared.
func (s *statement) declaredEnd(r *rel.Relation, e sql.Aggregation, least bool) (any, error) {
	if len(e.Children()) != 1 {
		return nil, nil
	}
	gf, ok := e.Children()[0].(*expression.GetField)
	if !ok {
		return nil, nil
	}
	var b *rel.Base
	if c := r.Find(gf); c != nil {
		b = r.PlainBase(*c)
	}
	if b == nil {
		return nil, nil
	}
	if d := b.DeclaredRange(); d != nil {
		x := d.Max
		if least {
			x = d.Min
		}
		if types.IsInteger(b.Type) {
			if x = math.Floor(d.Max); least {
				x = math.Ceil(d.Min)
			}
		}
		v, _, err := b.Type.Convert(s.ctx, x)
		return v, err
	}
	values, finite, err := s.keys.Values(b)
	if err != nil || !finite {
		return nil, nil
	}
	var end any
	for _, v := range values {
		if v == nil {
			continue
		}
		if end != nil {
			c, err := b.Type.Compare(s.ctx, v, end)
			if err != nil {
				return nil, err
			}
			if least && c >= 0 || !least && c <= 0 {
				continue
			}
		}
		end = v
	}
	return end, nil
}
