package lower

import (
	"slices"
	"strings"
)

// control is the functions that choose among their arguments.
var control = []entry{
	{names: "if", signature: "IF(condition, a, b)", lax: true, lower: func(l *lowerer, c *call) (Expr, error) {
		if err := c.onlyScalar(0); err != nil {
			return Expr{}, err
		}
		vs, err := l.unify(c.args[1:])
		if err != nil {
			return Expr{}, err
		}
		cond := l.isTruth(c.args[0]).SQL
		write := func(values []string) string {
			return "(CASE WHEN " + cond + " THEN " + values[0] + " ELSE " + values[1] + " END)"
		}
		x := Expr{SQL: write(texts(vs)), Type: vs[0].Type}
		return chosen(l.nullable(x, vs), c.args[1:], write), nil
	}},
	{names: "ifnull", signature: "IFNULL(a, b)", lax: true, lower: coalesce},
	{names: "coalesce", signature: "COALESCE(a, …)", lax: true, lower: coalesce},
	{names: "nullif", signature: "NULLIF(a, b)", lax: true, lower: func(l *lowerer, c *call) (Expr, error) {
		x := l.tight(c.args[0])
		if err := c.onlyScalar(0, 1); err != nil || x.Type.Kind == Null {
			return x, err
		}
		s := l.let(x.SQL, func(r string) string {
			w := x
			w.SQL = r
			return "(CASE WHEN " + l.compare("=", w, c.args[1]).SQL + " THEN NULL ELSE " + r + " END)"
		})
		return Expr{SQL: s, Type: x.Type, Nullable: true}, nil
	}},
	{names: "isnull", signature: "ISNULL(a)", lax: true, lower: func(l *lowerer, c *call) (Expr, error) {
		return Expr{SQL: "(" + l.tight(c.args[0]).SQL + " IS NULL)", Type: Type{Kind: Bool}}, nil
	}},
	{names: "greatest", signature: "GREATEST(a, b, …)", lower: extreme},
	{names: "least", signature: "LEAST(a, b, …)", lower: extreme},
	{names: "field", signature: "FIELD(a, b, …)", lax: true, lower: func(l *lowerer, c *call) (Expr, error) {
		all := make([]int, len(c.args))
		for i := range all {
			all[i] = i
		}
		if err := c.onlyScalar(all...); err != nil {
			return Expr{}, err
		}
		x := l.tight(c.args[0])
		s := l.let(x.SQL, func(r string) string {
			w := x
			w.SQL = r
			out := "CASE"
			for i, y := range c.args[1:] {
				out += " WHEN " + l.compare("=", w, y).SQL + " THEN " + integer(int64(i+1)).SQL
			}
			return "(" + out + " ELSE 0::BIGINT END)"
		})
		return Expr{SQL: s, Type: Type{Kind: Int}}, nil
	}},
	{names: "elt", signature: "ELT(n, a, …)", lax: true, lower: func(l *lowerer, c *call) (Expr, error) {
		if err := c.onlyScalar(0); err != nil {
			return Expr{}, err
		}
		n := l.toInt(c.args[0])
		s := l.let(n.SQL, func(r string) string {
			out := "CASE"
			for i, y := range c.args[1:] {
				v, ok := l.convert(y, Type{Kind: String})
				if !ok {
					l.refused = c.kindRefusal()
				}
				out += " WHEN " + r + " = " + integer(int64(i+1)).SQL + " THEN " + v.SQL
			}
			return "(" + out + " ELSE NULL END)"
		})
		return maybe(String, s), nil
	}},
}

// onlyScalar refuses the arguments named when they are JSON, TIME or vectors.
func (c *call) onlyScalar(is ...int) error {
	for _, i := range is {
		if !scalar(c.args[i].Type.Kind) {
			return c.kindRefusal()
		}
	}
	return nil
}

func coalesce(l *lowerer, c *call) (Expr, error) {
	vs, err := l.unify(c.args)
	if err != nil {
		return Expr{}, err
	}
	x := Expr{Type: vs[0].Type, Nullable: true}
	parts := make([]string, len(vs))
	for i, v := range vs {
		parts[i] = v.SQL
		x.Nullable = x.Nullable && v.Nullable
	}
	x.SQL = "COALESCE(" + strings.Join(parts, ", ") + ")"
	return x, nil
}

// extreme is GREATEST or LEAST: NULL when any argument is; strings and numbers together compare as
// numbers.
func extreme(l *lowerer, c *call) (Expr, error) {
	args := c.args
	number, word := false, false
	for _, x := range args {
		number = number || numeric(x.Type.Kind)
		word = word || x.Type.Kind == String
	}
	if word && slices.ContainsFunc(args, func(x Expr) bool { return x.Type.Kind == Datetime }) {
		l.refuse("%s() of a text and a DATETIME is not allowed on protected rows: CAST the text AS DATETIME.", strings.ToUpper(c.name))
	}
	if number && word {
		args = append([]Expr(nil), args...)
		for i, x := range args {
			args[i] = l.toDouble(x)
		}
	}
	vs, err := l.unify(args)
	if err != nil {
		return Expr{}, err
	}
	op := ">="
	if c.name == "least" {
		op = "<="
	}
	acc := vs[0].SQL
	for _, v := range vs[1:] {
		acc = l.let(acc, func(a string) string {
			return l.let(v.SQL, func(b string) string {
				return "(CASE WHEN " + a + " " + op + " " + b + " THEN " + a + " WHEN " + a + " IS NOT NULL THEN " + b + " END)"
			})
		})
	}
	return l.nullable(Expr{SQL: acc, Type: vs[0].Type}, vs), nil
}
