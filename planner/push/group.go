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
	for _, e := range g.SelectDeps {
		c := rel.Column{Type: e.Type(s.ctx), Name: e.String()}
		if id, ok := e.(sql.IdExpression); ok {
			c.ID = id.Id()
		}
		switch e := e.(type) {
		case *expression.GetField:
			x, ok := b.rel.Resolve(e)
			if !ok {
				return nil, rel.ErrStay
			}
			if !slices.Contains(by, x.SQL) {
				beside, x.Nullable = append(beside, len(exprs)), true
			}
			c.Expr = x
		case sql.Aggregation:
			x, err := s.plainAggregate(b.rel, e)
			if err != nil {
				return nil, err
			}
			c.Expr = x
			if spread[plainName(nameOf(e))] != "" {
				// the binder takes the type of the argument
				s.types.Note(c.ID, c.Type, types.Float64)
			}
		default:
			return nil, rel.ErrStay
		}
		exprs = append(exprs, c.Expr.SQL)
		r.Columns = append(r.Columns, c)
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
	return &block{rel: s.Derived(&r, suffix, exprs), worth: true}, nil
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

// plainAggregate translates one exact aggregate over public rows.
func (s *pusher) plainAggregate(r *rel.Relation, a sql.Aggregation) (lower.Expr, error) {
	if w, ok := a.(sql.WindowAdaptableExpression); ok && w.Window() != nil {
		return lower.Expr{}, rel.ErrStay
	}
	if slices.Contains(ofTwo, nameOf(a)) && len(a.Children()) == 2 {
		return s.twoArguments(r, a)
	}
	a = standard.Plain(a)
	if len(a.Children()) != 1 {
		return lower.Expr{}, rel.ErrStay
	}
	if _, ok := a.Children()[0].(*expression.DistinctExpression); ok {
		return lower.Expr{}, rel.ErrStay
	}
	integer := lower.Type{Kind: lower.Int}
	if tree.CountsRows(a) {
		return lower.Expr{SQL: "count(*)", Type: integer}, nil
	}
	x, err := s.Lower(tree.Untuple(a.Children()[0]), r.Resolve)
	if err != nil {
		return x, err
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
		return x, rel.ErrStay
	}
	switch a.(type) {
	case *aggregation.Count:
		return lower.Expr{SQL: "count(" + x.SQL + ")", Type: integer}, nil
	case *aggregation.CountDistinct:
		return lower.Expr{SQL: "count(DISTINCT " + x.SQL + ")", Type: integer}, nil
	case *aggregation.Min, *aggregation.Max:
		f, by := "min", collation.Bytes
		if _, most := a.(*aggregation.Max); most {
			f = "max"
		}
		if by, err = standard.Collation(s.ctx, f, tree.Untuple(a.Children()[0])); err != nil {
			return x, err
		}
		if order := lower.By(x, by, collation.ForSort); order.SQL != x.SQL {
			return lower.Expr{SQL: "arg_" + f + "(" + x.SQL + ", " + order.SQL + ")", Type: x.Type, Nullable: true}, nil
		}
		return lower.Expr{SQL: f + "(" + x.SQL + ")", Type: x.Type, Nullable: true}, nil
	case *aggregation.Sum:
		if !number {
			break
		}
		t := lower.Type{Kind: lower.Double}
		text := "CAST(sum(" + x.SQL + ") AS DOUBLE)"
		switch w, ok := x.Word(); {
		case x.Unrounded().SQL != x.SQL: // what is rounded is the sum
			t = lower.Type{Kind: lower.Decimal, Precision: 38, Scale: x.Type.Scale}
			text = fmt.Sprintf("CAST(sum(%s) AS DECIMAL(38,%d))", x.Unrounded().SQL, t.Scale)
		case x.Type.Kind == lower.Int:
			t = lower.Type{Kind: lower.Decimal, Precision: 38}
			text = "CAST(sum(" + x.SQL + ") AS DECIMAL(38,0))"
		case x.Type.Kind == lower.Decimal && !ok:
			t = lower.Type{Kind: lower.Decimal, Precision: 38, Scale: x.Type.Scale}
			text = "sum(" + x.SQL + ")"
		case ok:
			// What is no machine word is added beside the words, which the store computes faster.
			t = lower.Type{Kind: lower.Decimal, Precision: 38, Scale: x.Type.Scale}
			text = fmt.Sprintf("coalesce(sum(%[1]s) + sum(%[2]s), sum(%[1]s), sum(%[2]s))", w, x.BesideWord())
		}
		if t.Kind == lower.Double {
			text = finite(text)
		}
		return lower.Expr{SQL: text, Type: t, Nullable: true}, nil
	default:
		if f := spread[plainName(nameOf(a))]; f != "" && number {
			// Of one value the store knows no sample variance either. Squares beyond DOUBLE are an
			// error of its own there, or an infinity.
			text := f + "(CAST(" + x.Unrounded().SQL + " AS DOUBLE))"
			return lower.Expr{SQL: finite(text), Type: lower.Type{Kind: lower.Double}, Nullable: true}, nil
		}
	case *aggregation.Avg:
		if t := averageType(x.Type); t.Kind == lower.Decimal {
			return lower.Expr{SQL: fmt.Sprintf("CAST(avg(%s) AS DECIMAL(38,%d))", x.Unrounded().SQL, t.Scale), Type: t, Nullable: true}, nil
		}
		if number && x.Type.Kind != lower.Decimal { // of which the store computes in floating point
			return lower.Expr{SQL: finite("avg(" + x.SQL + ")"), Type: lower.Type{Kind: lower.Double}, Nullable: true}, nil
		}
	}
	return x, rel.ErrStay
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
