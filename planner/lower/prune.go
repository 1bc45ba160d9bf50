package lower

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/planner/tree"
)

// condition translates what stands where NULL is false: a condition by itself, and the operands of
// AND and OR in it. One that compares a column of days or moments, as it is read, with a constant
// becomes one on the column itself: false where the comparison is NULL, because a column outside
// the years 1 to 9999 is read as NULL.
func (l *lowerer) condition(e sql.Expression) (Expr, error) {
	operand := func(e sql.Expression) (Expr, error) { return l.nested(e, l.condition) }
	switch e.(type) {
	case *expression.And:
		return l.junction(e, " AND ", operand)
	case *expression.Or:
		return l.junction(e, " OR ", operand)
	}
	if x, ok, err := l.pruning(e); ok || err != nil {
		return x, err
	}
	return l.truth(e)
}

// pruning is condition of a comparison of such a column with a constant; ok is false for others.
func (l *lowerer) pruning(e sql.Expression) (x Expr, ok bool, err error) {
	switch e := e.(type) {
	case *expression.Between:
		return l.pruningPair(">=", e.Val, e.Lower, "<=", e.Upper)
	case *expression.Equals, *expression.LessThan, *expression.LessThanOrEqual, *expression.GreaterThan, *expression.GreaterThanOrEqual:
		c := e.(expression.Comparer)
		if len(tree.Fields(l.ctx, c.Left())) == 0 {
			return l.pruningPair(turned[operator(c)], c.Right(), c.Left(), "", nil)
		}
		return l.pruningPair(operator(c), c.Left(), c.Right(), "", nil)
	}
	return Expr{}, false, nil
}

// turned are the comparisons of the same operands in the other order.
var turned = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}

// pruningPair is left op right, AND left op2 right2 where there is one.
func (l *lowerer) pruningPair(op string, left, right sql.Expression, op2 string, right2 sql.Expression) (Expr, bool, error) {
	x, ok, err := l.pruned(op, left, right)
	if !ok || err != nil || right2 == nil {
		return x, ok, err
	}
	y, ok, err := l.pruned(op2, left, right2)
	return boolean("("+x.SQL+" AND "+y.SQL+")", x, y), ok, err
}

func (l *lowerer) pruned(op string, left, right sql.Expression) (Expr, bool, error) {
	if len(tree.Fields(l.ctx, right)) > 0 { // no part of a table is left out by two of its columns
		return Expr{}, false, nil
	}
	x, err := l.operand(left)
	if err != nil {
		return x, false, err
	}
	y, err := l.operand(right)
	if err != nil {
		return y, false, err
	}
	if k := x.Type.Kind; !temporal(k) || !temporal(y.Type.Kind) && y.Type.Kind != String {
		return x, false, nil
	}
	x, y = l.comparable(x, y)
	if x.Type.Kind != y.Type.Kind || !temporal(x.Type.Kind) {
		return x, false, nil
	}
	first, last := firstMoment, lastMoment
	if x.Type.Kind == Date {
		first, last = firstDay, lastDay
	}
	if x.read.moment == "" || x.SQL != x.read.text {
		return x, false, nil
	}
	// The constant is in range itself.
	guard := ""
	switch op {
	case "<", "<=":
		guard = " AND " + x.read.moment + " >= " + first
	case ">", ">=":
		guard = " AND " + x.read.moment + " <= " + last
	}
	return boolean("("+x.read.moment+" "+op+" "+y.SQL+guard+")", x, y), true, nil
}
