package keys

import (
	"fmt"
	"io"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/sqltext"
	"scrim/planner/lower"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/rule"
)

// storeImage evaluates a grouping expression on public values in the store, with the translation
// that rows of persons get: WEEK(d, 3) is then the same number whether its values are declared or
// selected. It reads no table:
//
//	SELECT <expression> FROM (SELECT CAST(v0 AS DATE) AS c0, n FROM (SELECT unnest(…) AS v0, unnest(…) AS n)) ORDER BY n
//
// nil where the expression is a column, or nothing evaluates queries. Without a type it is a
// condition, and gives 1 where it holds.
func (s *Finder) storeImage(e sql.Expression, t sql.Type, bases []*rel.Base, tuples [][]any) ([]any, error) {
	if _, plain := e.(*expression.GetField); plain || s.Store == nil || len(bases) == 0 || len(tuples[0]) == 0 {
		return nil, nil
	}
	b := new(lower.Binder)
	columns := func(gf *expression.GetField) (lower.Expr, bool) {
		for i, base := range bases {
			if base.ID == gf.Id() {
				return lower.Expr{SQL: "d.c" + strconv.Itoa(i), Type: base.Expr.Type, Nullable: true}, true
			}
		}
		return lower.Expr{}, false
	}
	translate := lower.Lower
	if t == nil {
		translate = lower.LowerPredicate
	}
	x, err := translate(s.ctx, e, b, columns)
	if err != nil {
		return nil, rule.By(rule.Expression, err)
	}
	if t == nil {
		t, x.SQL = types.Int64, "CASE WHEN "+x.SQL+" THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) END"
	}
	order := make([]int, len(tuples[0]))
	for i := range order {
		order[i] = i
	}
	inner := []string{"unnest(from_json(CAST(" + b.Bind(jsonList(order)) + " AS JSON), '[\"BIGINT\"]')) AS n"}
	outer := []string{"n"}
	for i, base := range bases {
		inner = append(inner, "unnest(from_json(CAST("+b.Bind(jsonList(tuples[i]))+" AS JSON), '[\"VARCHAR\"]')) AS v"+strconv.Itoa(i))
		outer = append(outer, castText("v"+strconv.Itoa(i), base.Expr.Type)+" AS c"+strconv.Itoa(i))
	}
	query := rel.Renumbered(plan.Scan{SQL: "SELECT " + x.SQL + " FROM (SELECT " + sqltext.List(outer) + " FROM (SELECT " + sqltext.List(inner) + ") AS v) AS d ORDER BY d.n", Args: b.Args()})
	name := fmt.Sprintf("%s %q", query.SQL, query.Args)
	if v, ok := s.stored[name]; ok {
		return v, nil
	}
	v, err := s.storeValues(query, t)
	if err != nil || len(v) != len(order) {
		return nil, err
	}
	if s.stored == nil {
		s.stored = map[string][]any{}
	}
	s.stored[name] = v
	return v, nil
}

// storeValues runs a query of one column without tables.
func (s *Finder) storeValues(query plan.Scan, t sql.Type) ([]any, error) {
	rows, err := s.Store.QueryTables(s.ctx, nil, query.SQL, query.Args, sql.Schema{{Name: "k", Type: t, Nullable: true}})
	if err != nil {
		return nil, err
	}
	defer rows.Close(s.ctx)
	var out []any
	for {
		row, err := rows.Next(s.ctx)
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		v := row[0]
		if v != nil {
			if v, _, err = t.Convert(s.ctx, v); err != nil {
				return nil, err
			}
		}
		out = append(out, v)
	}
}
