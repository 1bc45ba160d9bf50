package push

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/functions/standard"
	"scrim/internal/collation"
	"scrim/internal/lists"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
	"scrim/planner/rel"
	"scrim/planner/tree"
)

// blockGroup is GROUP BY with COUNT, SUM, AVG, MIN and MAX. Expressions above it compute the
// grouping expressions again. So columns that are not keys by themselves are those of one row of
// the group, in which a grouping expression has its value of the group.
func (s *pusher) blockGroup(b *block, g *plan.GroupBy) (*block, error) {
	r := *b.rel
	r.Columns = nil
	var by, exprs []string
	var beside []int // places of the columns that are not keys
	for _, k := range g.GroupByExprs {
		x, err := s.Lower(tree.Unalias(k), b.rel.Resolve)
		if err != nil {
			return nil, err
		}
		by = append(by, x.SQL)
	}
	columns, parts := make([]rel.Column, len(g.SelectDeps)), make([][]int, len(g.SelectDeps))
	for i, e := range g.SelectDeps {
		c := rel.Column{Type: e.Type(s.ctx), Name: e.String()}
		if id, ok := e.(sql.IdExpression); ok {
			c.ID = id.Id()
		}
		var of []string
		key := false
		switch e := e.(type) {
		case *expression.GetField:
			x, ok := b.rel.Resolve(e)
			if !ok {
				return nil, rel.ErrStay
			}
			key = slices.Contains(by, x.SQL)
			x.Nullable = x.Nullable || !key
			c.Expr = x
		case sql.Aggregation:
			var err error
			if c.Expr, of, err = s.plainAggregate(b.rel, e); err != nil {
				return nil, err
			}
			if spread[plainName(nameOf(e))] != "" {
				// the binder takes the type of the argument
				s.types.Note(c.ID, c.Type, types.Float64)
			}
			key = true
		default:
			return nil, rel.ErrStay
		}
		if of == nil {
			of, c.Expr.SQL = []string{c.Expr.SQL}, "%[1]s"
		}
		for _, text := range of {
			at := slices.Index(exprs, text)
			if at < 0 {
				at, exprs, r.Columns = len(exprs), append(exprs, text), append(r.Columns, rel.Column{})
				if !key {
					beside = append(beside, at)
				}
			}
			parts[i] = append(parts[i], at)
		}
		columns[i] = c
	}
	if len(exprs) == 0 {
		return nil, rel.ErrStay
	}
	rel.OneRow("first", exprs, beside)
	// Without keys there is one row whatever the input; a constant aggregate makes that so.
	suffix := ""
	if len(by) > 0 {
		suffix = " GROUP BY " + sqltext.List(by)
	}
	out := s.Derived(&r, suffix, exprs)
	for i, c := range columns {
		names := lists.Map(parts[i], func(at int) any { return out.Columns[at].Expr.SQL })
		columns[i].Expr = lower.Expr{SQL: fmt.Sprintf(c.Expr.SQL, names...), Type: c.Expr.Type, Nullable: c.Expr.Nullable}
	}
	out.Columns = columns
	return &block{rel: out, worth: true}, nil
}

// spread names the store's functions of the spread of values.
var spread = map[string]string{"var_pop": "var_pop", "var_samp": "var_samp", "stddev_pop": "stddev_pop", "stddev_samp": "stddev_samp"}

// nameOf is the name of an aggregate.
func nameOf(a sql.Aggregation) string {
	if f, ok := a.(sql.FunctionExpression); ok {
		return f.FunctionName()
	}
	return ""
}

// plainAggregate translates one exact aggregate over public rows. Where it returns parts, which are
// aggregates of the store that others may have, too, the expression is a format of these: the store
// computes a part once, and reads its text once.
func (s *pusher) plainAggregate(r *rel.Relation, a sql.Aggregation) (x lower.Expr, parts []string, err error) {
	if w, ok := a.(sql.WindowAdaptableExpression); ok && w.Window() != nil {
		return x, nil, rel.ErrStay
	}
	if slices.Contains(ofTwo, nameOf(a)) && len(a.Children()) == 2 {
		x, err = s.twoArguments(r, a)
		return x, nil, err
	}
	a = standard.Plain(a)
	if len(a.Children()) != 1 {
		return x, nil, rel.ErrStay
	}
	if _, ok := a.Children()[0].(*expression.DistinctExpression); ok {
		return x, nil, rel.ErrStay
	}
	integer := lower.Type{Kind: lower.Int}
	if tree.CountsRows(a) {
		return lower.Expr{SQL: "count(*)", Type: integer}, nil, nil
	}
	if x, err = s.Lower(tree.Untuple(a.Children()[0]), r.Resolve); err != nil {
		return x, nil, err
	}
	x.Type.Members = "" // MIN and MAX are texts
	number := false
	switch a.(type) {
	case *aggregation.Sum, *aggregation.Avg:
		if x.Type.Kind == lower.Bool {
			x = lower.Convert(x, integer)
		}
	}
	switch x.Type.Kind {
	case lower.Int, lower.Double, lower.Decimal:
		number = true
	case lower.JSON, lower.Array, lower.Time, lower.Null:
		return x, nil, rel.ErrStay
	}
	switch a.(type) {
	case *aggregation.Count:
		return lower.Expr{SQL: "count(" + x.SQL + ")", Type: integer}, nil, nil
	case *aggregation.CountDistinct:
		return lower.Expr{SQL: "count(DISTINCT " + x.SQL + ")", Type: integer}, nil, nil
	case *aggregation.Min, *aggregation.Max:
		f, by := "min", collation.Bytes
		if _, most := a.(*aggregation.Max); most {
			f = "max"
		}
		if by, err = standard.Collation(s.ctx, f, tree.Untuple(a.Children()[0])); err != nil {
			return x, nil, err
		}
		if order := lower.By(x, by, collation.ForSort); order.SQL != x.SQL {
			return lower.Expr{SQL: "arg_" + f + "(" + x.SQL + ", " + order.SQL + ")", Type: x.Type, Nullable: true}, nil, nil
		}
		return lower.Expr{SQL: f + "(" + x.SQL + ")", Type: x.Type, Nullable: true}, nil, nil
	case *aggregation.Sum:
		if !number {
			break
		}
		text, t := sumOf(x)
		switch w, ok := x.Word(); {
		case x.Unrounded().SQL != x.SQL: // what is rounded is the sum
			text = fmt.Sprintf("CAST(sum(%s) AS DECIMAL(38,%d))", x.Unrounded().SQL, t.Scale)
		case x.Type.Kind == lower.Double:
			text, t = finite("CAST(sum("+x.SQL+") AS DOUBLE)"), lower.Type{Kind: lower.Double}
		case ok:
			// What is no machine word is added beside the words, which the store computes faster.
			text, parts = "coalesce(%[1]s + %[2]s, %[1]s, %[2]s)", []string{"sum(" + w + ")", "sum(" + x.BesideWord() + ")"}
		}
		return lower.Expr{SQL: text, Type: t, Nullable: true}, parts, nil
	default:
		if f := spread[plainName(nameOf(a))]; f != "" && number {
			// Of one value the store knows no sample variance either. Squares beyond DOUBLE are an
			// error of its own there, or an infinity.
			text := f + "(CAST(" + x.Unrounded().SQL + " AS DOUBLE))"
			return lower.Expr{SQL: finite(text), Type: lower.Type{Kind: lower.Double}, Nullable: true}, nil, nil
		}
	case *aggregation.Avg:
		if t := averageType(x.Type); t.Kind == lower.Decimal {
			if x.Unrounded().SQL != x.SQL {
				return lower.Expr{SQL: fmt.Sprintf("CAST(avg(%s) AS DECIMAL(38,%d))", x.Unrounded().SQL, t.Scale), Type: t, Nullable: true}, nil, nil
			}
			rows := "count(" + x.SQL + ")"
			if !x.Nullable {
				rows = "count(*)"
			}
			sum, of := sumOf(x)
			// a group has fewer than 10^15 rows
			q := lower.Quotient(lower.Expr{SQL: "%[1]s", Type: of}, lower.Expr{SQL: "%[2]s", Type: lower.Type{Kind: lower.Decimal, Precision: 15}})
			return lower.Expr{SQL: q.SQL, Type: t, Nullable: true}, []string{sum, rows}, nil
		}
		if number && x.Type.Kind != lower.Decimal { // of which the store computes in floating point
			return lower.Expr{SQL: finite("avg(" + x.SQL + ")"), Type: lower.Type{Kind: lower.Double}, Nullable: true}, nil, nil
		}
	}
	return x, nil, rel.ErrStay
}

// sumOf is the sum of a whole number or a DECIMAL, and its type.
func sumOf(x lower.Expr) (string, lower.Type) {
	t := lower.Type{Kind: lower.Decimal, Precision: 38, Scale: x.Type.Scale}
	if x.Type.Kind == lower.Int {
		return "CAST(sum(" + x.SQL + ") AS DECIMAL(38,0))", t
	}
	return "sum(" + x.SQL + ")", t
}

// finite raises an error where a DOUBLE is none.
func finite(text string) string {
	return "CASE WHEN isinf(" + text + ") THEN error('a DOUBLE value is out of range') ELSE " + text + " END"
}

// ofTwo are the aggregates of two numbers that the store has under the same names.
var ofTwo = []string{"corr", "covar_pop", "covar_samp", "regr_slope", "regr_intercept", "regr_r2"}

// twoArguments translates one of them, of rows that have both numbers. What is not defined is NULL,
// as it is in the SQL standard; the store has NaN for some of it.
func (s *pusher) twoArguments(r *rel.Relation, a sql.Aggregation) (lower.Expr, error) {
	var args []string
	for _, c := range a.Children() {
		x, err := s.Lower(tree.Untuple(c), r.Resolve)
		if err != nil {
			return x, err
		}
		switch x.Type.Kind {
		case lower.Bool, lower.Int, lower.UInt, lower.Decimal, lower.Double:
		default:
			return x, rel.ErrStay
		}
		args = append(args, "CAST("+x.SQL+" AS DOUBLE)")
	}
	text := nameOf(a) + "(" + sqltext.List(args) + ")"
	return lower.Expr{SQL: "CASE WHEN isfinite(" + text + ") THEN " + text + " END", Type: lower.Type{Kind: lower.Double}, Nullable: true}, nil
}

// averageType is the type of an average over public rows: four digits more than what it is of, as
// in MySQL, where the store has room for them.
func averageType(of lower.Type) lower.Type {
	switch {
	case of.Kind == lower.Decimal && (of.Scale+4)%9 == 0: // MySQL cuts it, as it divides in words of nine digits
	case of.Kind == lower.Int, of.Kind == lower.Decimal && of.Precision <= 18:
		return lower.Type{Kind: lower.Decimal, Precision: 38, Scale: of.Scale + 4}
	}
	return lower.Type{Kind: lower.Double}
}

// plainName spells the names that go-mysql-server gives its aggregates as SQL does.
func plainName(name string) string {
	switch strings.ToLower(name) {
	case "varpop", "variance":
		return "var_pop"
	case "varsamp":
		return "var_samp"
	case "stddevpop", "std", "stddev":
		return "stddev_pop"
	case "stddevsamp":
		return "stddev_samp"
	}
	return name
}
