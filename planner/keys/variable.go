package keys

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/store"
	"scrim/functions/standard"
	"scrim/internal/lists"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/rule"
)

// MaxTried bounds the combinations of public values that expressions are evaluated on: the hours
// of 29 years.
const MaxTried = 1 << 18

// maxText bounds the texts of the public values of a statement's keys, in bytes of one answer of
// the store.
const maxText = 16 << 20

var errText = errors.New("planner: the public values have too much text")

// variable is a finite public table that expressions are made of: the values of a column, the rows
// of a public table, the moments at which the cells of a range begin, the tests of a CASE.
type variable struct {
	columns []virtual
	rows    []sql.Row
	run     *run   // in the place of rows
	from    string // where its values come from, for EXPLAIN
	found   bool   // by the planner, without a declaration
}

// size is the number of rows.
func (v *variable) size() int {
	if v.run != nil {
		return v.run.size()
	}
	return len(v.rows)
}

// row returns the row of a number.
func (v *variable) row(i int) sql.Row {
	if v.run != nil {
		return v.run.row(i)
	}
	return v.rows[i]
}

// items is SQL for the number of a row as n, and for its columns as c0, c1, and so on.
func (v *variable) items(b *lower.Binder) string {
	outer, inner := []string{"n"}, []string{"unnest(range(" + strconv.Itoa(v.size()) + ")) AS n"}
	for j, c := range v.columns {
		name := "c" + strconv.Itoa(j)
		if v.run != nil {
			outer = append(outer, v.run.sql(j)+" AS "+name)
			continue
		}
		inner = append(inner, unnested(b.Bind(jsonList(lists.Map(v.rows, func(row sql.Row) any { return Text(c.t, row[j]) }))))+" AS "+name)
		outer = append(outer, castText(name, c.lowered)+" AS "+name)
	}
	return "SELECT " + sqltext.List(outer) + " FROM (SELECT " + sqltext.List(inner) + ") AS v"
}

// virtual is a column of a variable. Expressions read it as a field of its id.
type virtual struct {
	id      sql.ColumnId
	t       sql.Type
	lowered lower.Type
}

// field reads a column of a variable.
func (v virtual) field() *expression.GetField {
	return expression.NewGetFieldWithTable(int(v.id), 0, v.t, "", "", columnName(v.id), true)
}

func columnName(id sql.ColumnId) string { return "v" + strconv.FormatUint(uint64(id), 10) }

// table evaluates expressions on all combinations of the rows of variables, and returns the
// distinct tuples of their values in the order of the first variable's rows, the second's within
// them, and so on. Of each list of conditions one has to hold. It reads no table:
//
//	SELECT <expressions>, <conditions> FROM (<first>) AS t0, (<second>) AS t1 GROUP BY ALL ORDER BY min(<number>)
//
// The store translates the expressions as it does for rows of persons: WEEK(d, 3) is then the same
// number whether its values are declared or selected. ok is false where nothing evaluates them.
func (s *Finder) table(vars []*variable, exprs []sql.Expression, conds [][]sql.Expression) (rows []sql.Row, ok bool, err error) {
	if plain := plainColumns(vars, exprs); len(conds) > 0 || !plain {
		if rows, ok, err = s.storeTable(vars, exprs, conds); ok || err != nil {
			return rows, ok, err
		}
	}
	return s.ownTable(vars, exprs, conds)
}

// plainColumns reports whether the expressions are columns of variables, or there are no variables.
func plainColumns(vars []*variable, exprs []sql.Expression) bool {
	for _, e := range exprs {
		if _, ok := e.(*expression.GetField); !ok {
			return len(vars) == 0
		}
	}
	return true
}

func (s *Finder) storeTable(vars []*variable, exprs []sql.Expression, conds [][]sql.Expression) ([]sql.Row, bool, error) {
	if s.Store == nil || product(vars) == 0 || len(vars) == 0 {
		return nil, false, nil
	}
	b := new(lower.Binder)
	read := map[sql.ColumnId]lower.Expr{}
	var from []string
	number := ""
	for i, v := range vars {
		alias := "t" + strconv.Itoa(i)
		for j, c := range v.columns {
			read[c.id] = lower.Expr{SQL: alias + ".c" + strconv.Itoa(j), Type: c.lowered, Nullable: true}
		}
		from = append(from, "("+v.items(b)+") AS "+alias)
		if number == "" {
			number = alias + ".n"
		} else {
			number = "(" + number + " * " + strconv.Itoa(v.size()) + " + " + alias + ".n)"
		}
	}
	columns := func(gf *expression.GetField) (lower.Expr, bool) { x, ok := read[gf.Id()]; return x, ok }
	var items []string
	var schema sql.Schema
	for _, e := range exprs {
		x, err := lower.Lower(s.ctx, e, b, columns)
		if err != nil {
			return nil, false, rule.By(rule.Expression, err)
		}
		schema = append(schema, &sql.Column{Name: "k" + strconv.Itoa(len(items)), Type: s.typeOf(e, x), Nullable: true})
		items = append(items, x.SQL+" AS k"+strconv.Itoa(len(items)))
	}
	holds := "CAST(1 AS BIGINT)"
	if len(conds) > 0 {
		var all []string
		for _, list := range conds {
			var any []string
			for _, c := range list {
				x, err := lower.LowerPredicate(s.ctx, c, b, columns)
				if err != nil {
					return nil, false, rule.By(rule.Expression, err)
				}
				any = append(any, x.SQL)
			}
			all = append(all, "("+join(any, " OR ")+")")
		}
		holds = "CASE WHEN " + join(all, " AND ") + " THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) END"
	}
	items = append(items, holds+" AS h")
	schema = append(schema, &sql.Column{Name: "h", Type: types.Int64})
	query := "SELECT " + sqltext.List(items) + " FROM " + sqltext.List(from) + " GROUP BY ALL ORDER BY min(" + number + ")"
	rows, err := s.storeRows(nil, rel.Renumbered(plan.Scan{SQL: query, Args: b.Args()}), schema)
	if err != nil || len(rows) == 0 {
		return nil, false, err
	}
	out := []sql.Row{}
	for _, row := range rows {
		if last := len(row) - 1; row[last] == int64(1) {
			out = append(out, row[:last])
		}
	}
	return out, true, nil
}

// storeRows runs a generated query, once a statement.
func (s *Finder) storeRows(reads []store.TableRef, query plan.Scan, schema sql.Schema) ([]sql.Row, error) {
	name := fmt.Sprintf("%s %q", query.SQL, query.Args)
	if rows, ok := s.stored[name]; ok {
		return rows, nil
	}
	it, err := s.Store.QueryTables(s.ctx, reads, query.SQL, query.Args, schema)
	if err != nil {
		return nil, err
	}
	defer it.Close(s.ctx)
	var out []sql.Row
	size := 0
	for {
		row, err := it.Next(s.ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		row = append(sql.Row(nil), row...)
		for i, v := range row {
			if text, ok := v.(string); ok {
				if size += len(text); size > maxText {
					return nil, errText
				}
			}
			if v != nil {
				if row[i], _, err = schema[i].Type.Convert(s.ctx, v); err != nil {
					return nil, err
				}
			}
		}
		out = append(out, row)
	}
	if s.stored == nil {
		s.stored = map[string][]sql.Row{}
	}
	s.stored[name] = out
	return out, nil
}

// ownTable is table by go-mysql-server's evaluator. A combination on which an expression fails has
// no values; a condition that fails may hold.
func (s *Finder) ownTable(vars []*variable, exprs []sql.Expression, conds [][]sql.Expression) ([]sql.Row, bool, error) {
	place := map[sql.ColumnId]int{}
	for _, v := range vars {
		for _, c := range v.columns {
			place[c.id] = len(place)
		}
	}
	at := func(e sql.Expression) (sql.Expression, error) {
		return placed(s.ctx, e, func(id sql.ColumnId) int { return place[id] })
	}
	var err error
	exprs = append([]sql.Expression(nil), exprs...)
	for i, e := range exprs {
		if exprs[i], err = at(e); err != nil {
			return nil, false, err
		}
		exprs[i] = standard.Typed(s.ctx, exprs[i])
	}
	tests := make([][]sql.Expression, len(conds))
	for i, list := range conds {
		for _, c := range list {
			x, err := at(c)
			if err != nil {
				return nil, false, err
			}
			tests[i] = append(tests[i], standard.Typed(s.ctx, x))
		}
	}
	out := []sql.Row{}
	seen := map[string]bool{}
	tried, failed := 0, 0
combinations:
	for c := range product(vars) {
		row := make(sql.Row, 0, len(place))
		for i, v := range vars {
			rest := c
			for _, w := range vars[i+1:] {
				rest /= w.size()
			}
			row = append(row, v.row(rest%v.size())...)
		}
		for _, list := range tests {
			if !s.anyHolds(list, row) {
				continue combinations
			}
		}
		tried++
		values := make(sql.Row, len(exprs))
		for i, e := range exprs {
			v, ok := evaluate(s.ctx, e, row, e.Type(s.ctx))
			if !ok {
				failed++
				continue combinations
			}
			values[i] = v
		}
		if name := RowName(values); !seen[name] {
			seen[name] = true
			out = append(out, values)
		}
	}
	return out, tried == 0 || failed < tried, nil
}

func (s *Finder) anyHolds(list []sql.Expression, row sql.Row) bool {
	return slices.ContainsFunc(list, func(c sql.Expression) bool {
		v, err := sql.EvaluateCondition(s.ctx, c, row)
		return err != nil || sql.IsTrue(v)
	})
}

// PublicRows reads columns of a public table: values of the types of a schema.
func (s *Finder) PublicRows(ref store.TableRef, columns []string, schema sql.Schema) ([]sql.Row, error) {
	items := lists.Map(columns, sqltext.StoreName)
	return s.storeRows([]store.TableRef{ref}, plan.Scan{SQL: "SELECT " + sqltext.List(items) + " FROM " + sqltext.StoreTable(ref.Schema, ref.Name)}, schema)
}

// evaluate computes a grouping expression on public values.
func evaluate(ctx *sql.Context, e sql.Expression, row sql.Row, t sql.Type) (any, bool) {
	v, err := e.Eval(ctx, row)
	if err != nil {
		return nil, false
	}
	if v == nil {
		return nil, true
	}
	v, _, err = t.Convert(ctx, v)
	return v, err == nil
}

// product is the number of combinations of the rows of variables, MaxTried+1 where there are more.
func product(vars []*variable) int {
	n := 1
	for _, v := range vars {
		if n *= v.size(); n > MaxTried {
			return MaxTried + 1
		}
	}
	return n
}

// RowName tells tuples of values apart.
func RowName(row sql.Row) string {
	name := ""
	for _, v := range row {
		name += fmt.Sprintf("%T %v\x00", v, v)
	}
	return name
}

func join(list []string, word string) string {
	s := list[0]
	for _, x := range list[1:] {
		s += word + x
	}
	return s
}

// unnested is SQL for the texts of a bound list, one a row.
func unnested(list string) string {
	return "unnest(from_json(CAST(" + list + " AS JSON), '[\"VARCHAR\"]'))"
}

// castText casts text to the type of a lowered column; the text is a public value that has the
// type.
func castText(x string, t lower.Type) string {
	switch t.Kind {
	case lower.Bool:
		return "CAST(" + x + " AS BOOLEAN)"
	case lower.Int:
		return "CAST(" + x + " AS BIGINT)"
	case lower.UInt:
		return "CAST(" + x + " AS UBIGINT)"
	case lower.Decimal:
		return fmt.Sprintf("CAST(%s AS DECIMAL(%d,%d))", x, t.Precision, t.Scale)
	case lower.Double:
		return "CAST(" + x + " AS DOUBLE)"
	case lower.Date:
		return "CAST(" + x + " AS DATE)"
	case lower.Datetime:
		return "CAST(" + x + " AS TIMESTAMP)"
	}
	return x
}

// jsonList writes a list for one bound value.
func jsonList(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("planner: a public domain cannot be written: " + err.Error())
	}
	return string(b)
}
