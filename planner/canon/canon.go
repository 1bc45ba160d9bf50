// Package canon orders expressions, so that statements that differ in how they are written are
// planned alike, and one finds the other's stored answer:
//
//	operands of AND OR XOR = <=> + *, members of IN, a < b and b > a     in the order of their texts
//	1.0 and 1.00 in comparisons, 'x' and _utf8mb4'x'                     one spelling
//
// The planner orders by the same texts the conjuncts of WHERE and of inner joins, the two sides of
// inner and cross joins, the columns of SELECT and the keys of GROUP BY. White space, case,
// comments and the names of tables, columns and derived tables are in no scan; COUNT(1) is
// COUNT(*).
//
// All of it is done to what is executed, and the key of a release is a digest of what is executed.
// So each step has to preserve the meaning of a query, and none has to be complete: operands that
// are not ordered cost a second charge, and two queries of different meaning never share a key,
// because they do not execute the same.
package canon

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/planner/lower"
)

// Expr orders an expression of a private row: it has the same value on every row. cols tells which
// column of the relation a field is.
func Expr(ctx *sql.Context, e sql.Expression, cols lower.Columns) sql.Expression {
	out, _ := (&order{ctx, cols}).expr(e)
	return out
}

// Text is the text that an expression is ordered by among others: what is ordered alike has one
// text.
func Text(ctx *sql.Context, e sql.Expression, cols lower.Columns) string {
	_, text := (&order{ctx, cols}).expr(e)
	return text
}

// order orders one expression bottom-up. The texts that it orders by are no more than that: equal
// ones leave operands as they stand.
type order struct {
	ctx  *sql.Context
	cols lower.Columns
}

// last begins the texts of constants, so that they come after columns.
const last = "\xff"

func (c *order) expr(e sql.Expression) (sql.Expression, string) {
	switch e := e.(type) {
	case *expression.GetField:
		if x, ok := c.cols(e); ok {
			return e, fieldText(x.SQL)
		}
		return e, e.String()
	case *expression.Literal:
		return e, literalText(e)
	case *expression.Alias:
		return c.expr(e.Child)
	case *plan.Subquery:
		return e, e.String()
	case *expression.And:
		return c.chain(e, "and", expression.NewAnd)
	case *expression.Or:
		return c.chain(e, "or", expression.NewOr)
	case *expression.Xor:
		return c.pair(e, "xor", e.LeftChild, e.RightChild, expression.NewXor)
	case *expression.Arithmetic:
		if e.Op == "+" || e.Op == "*" {
			return c.pair(e, e.Op, e.LeftChild, e.RightChild, func(l, r sql.Expression) sql.Expression { return expression.NewArithmetic(l, r, e.Op) })
		}
	case *expression.InTuple:
		return c.in(e)
	case *expression.Between:
		return c.children(e, "between", plainDecimal)
	case expression.Comparer:
		if out, text, ok := c.comparison(e); ok {
			return out, text
		}
	}
	return c.children(e, describe(e), nil)
}

// fieldText orders columns by the names that they have in the store, whatever is written around
// them.
func fieldText(text string) string {
	if _, name, ok := strings.Cut(text, `."`); ok {
		name, _, _ = strings.Cut(name, `"`)
		return name + " " + text
	}
	return text
}

// children orders what is inside an expression; each is passed through f first, where there is one.
func (c *order) children(e sql.Expression, name string, f func(sql.Expression) sql.Expression) (sql.Expression, string) {
	before := e.Children()
	after, texts := make([]sql.Expression, len(before)), make([]string, len(before))
	changed := false
	for i, x := range before {
		if x == nil {
			return e, e.String()
		}
		y := x
		if f != nil {
			y = f(x)
		}
		after[i], texts[i] = c.expr(y)
		changed = changed || !same(after[i], x)
	}
	text := name + "(" + strings.Join(texts, ",") + ")"
	if !changed {
		return e, text
	}
	if out, err := e.WithChildren(c.ctx, after...); err == nil {
		return out, text
	}
	return e, text
}

// same reports whether two expressions are one. Tuples are slices and count as changed.
func same(a, b sql.Expression) bool {
	if _, ok := a.(expression.Tuple); ok {
		return false
	}
	return a == b
}

// describe names the kind of an expression, with what its children do not tell.
func describe(e sql.Expression) string {
	switch e := e.(type) {
	case sql.FunctionExpression:
		return e.FunctionName()
	case *expression.Arithmetic:
		return e.Op
	case *expression.Convert:
		return e.String()
	}
	return fmt.Sprintf("%T", e)
}

// chain orders the operands of AND or OR, however they are nested: both are associative and
// commutative in three-valued logic, and what runs on private rows has no side effects and raises
// nothing, so the order of evaluation shows nowhere.
func (c *order) chain(e sql.Expression, word string, join func(l, r sql.Expression) sql.Expression) (sql.Expression, string) {
	var exprs []sql.Expression
	var texts []string
	changed := false
	for _, x := range operands(e, word) {
		y, text := c.expr(x)
		exprs, texts, changed = append(exprs, y), append(texts, text), changed || !same(x, y)
	}
	if !sort.StringsAreSorted(texts) {
		sort.Stable(byText{texts, exprs})
		changed = true
	}
	text := word + "(" + strings.Join(texts, ",") + ")"
	if !changed {
		return e, text
	}
	out := exprs[0]
	for _, x := range exprs[1:] {
		out = join(out, x)
	}
	return out, text
}

// operands lists the operands of a chain of ANDs or ORs.
func operands(e sql.Expression, word string) []sql.Expression {
	switch j := e.(type) {
	case *expression.And:
		if word == "and" {
			return append(operands(j.LeftChild, word), operands(j.RightChild, word)...)
		}
	case *expression.Or:
		if word == "or" {
			return append(operands(j.LeftChild, word), operands(j.RightChild, word)...)
		}
	}
	return []sql.Expression{e}
}

// pair orders the operands of a commutative operator. Sums and products of more than two are not
// rearranged: rounding is not associative. A date and an interval stay where they are.
func (c *order) pair(e sql.Expression, name string, l, r sql.Expression, join func(l, r sql.Expression) sql.Expression) (sql.Expression, string) {
	_, interval := l.(*expression.Interval)
	if _, ok := r.(*expression.Interval); ok || interval {
		return c.children(e, name, nil)
	}
	x, a := c.expr(l)
	y, b := c.expr(r)
	if b < a {
		return join(y, x), name + "(" + b + "," + a + ")"
	}
	text := name + "(" + a + "," + b + ")"
	if same(x, l) && same(y, r) {
		return e, text
	}
	return join(x, y), text
}

// comparison orders the sides of a comparison; one that is turned around changes its direction.
func (c *order) comparison(e expression.Comparer) (sql.Expression, string, bool) {
	var turned func(l, r sql.Expression) sql.Expression
	word, back := "", ""
	switch e.(type) {
	case *expression.Equals:
		word, back, turned = "=", "=", func(l, r sql.Expression) sql.Expression { return expression.NewEquals(l, r) }
	case *expression.NullSafeEquals:
		word, back, turned = "<=>", "<=>", func(l, r sql.Expression) sql.Expression { return expression.NewNullSafeEquals(l, r) }
	case *expression.LessThan:
		word, back, turned = "<", ">", func(l, r sql.Expression) sql.Expression { return expression.NewGreaterThan(l, r) }
	case *expression.LessThanOrEqual:
		word, back, turned = "<=", ">=", func(l, r sql.Expression) sql.Expression { return expression.NewGreaterThanOrEqual(l, r) }
	case *expression.GreaterThan:
		word, back, turned = ">", "<", func(l, r sql.Expression) sql.Expression { return expression.NewLessThan(l, r) }
	case *expression.GreaterThanOrEqual:
		word, back, turned = ">=", "<=", func(l, r sql.Expression) sql.Expression { return expression.NewLessThanOrEqual(l, r) }
	default:
		return nil, "", false
	}
	x, a := c.expr(plainDecimal(e.Left()))
	y, b := c.expr(plainDecimal(e.Right()))
	if b < a || b == a && strings.HasPrefix(word, ">") {
		return turned(y, x), back + "(" + b + "," + a + ")", true
	}
	text := word + "(" + a + "," + b + ")"
	if same(x, e.Left()) && same(y, e.Right()) {
		return e, text, true
	}
	if out, err := e.WithChildren(c.ctx, x, y); err == nil {
		return out, text, true
	}
	return e, text, true
}

// in orders the members of a list, and takes each constant once.
func (c *order) in(e *expression.InTuple) (sql.Expression, string) {
	list, ok := e.Right().(expression.Tuple)
	if !ok {
		return c.children(e, "in", nil)
	}
	left, text := c.expr(plainDecimal(e.Left()))
	members := make([]sql.Expression, len(list))
	texts := make([]string, len(list))
	for i, m := range list {
		members[i], texts[i] = c.expr(plainDecimal(m))
	}
	sort.Stable(byText{texts, members})
	kept, names := members[:0], texts[:0]
	for i, m := range members {
		_, constant := m.(*expression.Literal)
		if w, ok := m.(interface{ Of(text string) string }); ok { // a text as a collation compares it
			_, constant = w.(sql.Expression).Children()[0].(*expression.Literal)
		}
		if constant && i > 0 && texts[i] == names[len(names)-1] {
			continue
		}
		kept, names = append(kept, m), append(names, texts[i])
	}
	out := expression.NewInTuple(left, expression.NewTuple(slices.Clone(kept)...))
	return out, "in(" + text + "," + strings.Join(names, ",") + ")"
}

// literalText tells constants apart: equal texts, equal constants.
func literalText(l *expression.Literal) string {
	switch v := l.Value().(type) {
	case *apd.Decimal:
		return last + "decimal " + v.Text('f')
	case []byte:
		return last + "bytes " + string(v)
	case string: // of whatever character set it was introduced in
		return last + "text " + v
	default:
		return fmt.Sprintf("%s%T %s %v", last, v, l.Typ, v)
	}
}

// plainDecimal drops the zeros behind the last digit of a DECIMAL constant that is compared: there,
// 1.0 is 1.00.
func plainDecimal(e sql.Expression) sql.Expression {
	l, ok := e.(*expression.Literal)
	if !ok {
		return e
	}
	d, ok := l.Value().(*apd.Decimal)
	if !ok || d.Form != apd.Finite || d.Exponent >= 0 {
		return e
	}
	var r apd.Decimal
	if r.Reduce(d); r.Exponent == d.Exponent {
		return e
	}
	if r.Exponent > 0 { // 10.0 is 10, not 1E+1
		if _, err := apd.BaseContext.Quantize(&r, d, 0); err != nil {
			return e
		}
	}
	return expression.NewLiteral(&r, l.Typ)
}

// byText sorts expressions by their texts.
type byText struct {
	texts []string
	exprs []sql.Expression
}

func (b byText) Len() int           { return len(b.texts) }
func (b byText) Less(i, j int) bool { return b.texts[i] < b.texts[j] }
func (b byText) Swap(i, j int) {
	b.texts[i], b.texts[j] = b.texts[j], b.texts[i]
	b.exprs[i], b.exprs[j] = b.exprs[j], b.exprs[i]
}
