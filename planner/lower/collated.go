package lower

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/functions/standard"
	"scrim/internal/collation"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// weighed translates what stands for a text in comparisons: a function of the store's, and of a
// constant its value.
func (l *lowerer) weighed(e *standard.Weighed) (Expr, error) {
	x, err := l.scalar(e.Child, "COLLATE")
	if err != nil || x.Type.Kind == Null {
		return x, err
	}
	return l.by(x, e.Collation, e.Use)
}

// by is what stands for a value as a text.
func (l *lowerer) by(x Expr, c sql.CollationID, use collation.Use) (Expr, error) {
	x = l.toString(x)
	if x.text != nil {
		return l.text((&standard.Weighed{Collation: c, Use: use}).Of(*x.text))
	}
	return By(x, c, use), nil
}

// By is what stands for a text in comparisons by a collation.
func By(x Expr, c sql.CollationID, use collation.Use) Expr {
	f := collation.Function(c, use)
	if f == "" || x.Type.Kind != String {
		return x
	}
	return of(String, f+"("+x.SQL+")", x)
}

// collated translates x COLLATE c, which is x: what compares it looks for the collation.
func (l *lowerer) collated(e *expression.CollatedExpression) (Expr, error) {
	c, _ := e.CollationCoercibility(l.ctx)
	t := e.Child().Type(l.ctx)
	if err := collation.Check(c); err != nil {
		return Expr{}, err
	}
	if s, ok := t.(sql.TypeWithCollation); !ok || !types.IsTextOnly(t) || s.Collation().CharacterSet() != c.CharacterSet() {
		return Expr{}, refuse.New(refuse.Expression, "COLLATE %s is of another type or character set than %s.", c.Name(), e.Child()).
			With("Use a collation of its own character set, as utf8mb4_0900_ai_ci.")
	}
	return l.expr(e.Child())
}

// collation is the one by which a function compares its arguments.
func (l *lowerer) collation(c *call, args ...sql.Expression) sql.CollationID {
	by, err := standard.Collation(l.ctx, c.name, args...)
	if err != nil && l.refused == nil {
		l.refused = err
	}
	return by
}

// folded are texts as searches within them compare them.
func (l *lowerer) folded(c *call, at ...int) (out []Expr, err error) {
	args := lists.Map(at, func(k int) sql.Expression { return c.raw[k] })
	by := l.collation(c, args...)
	return lists.Try(at, func(k int) (Expr, error) { return l.by(c.args[k], by, collation.ForFold) })
}
