package lower

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/internal/collation"
	"scrim/internal/refuse"
)

// truth lowers an expression to a BOOLEAN: a number is true when it is not zero, a string by the
// number that it starts with, a date when it is not NULL.
func (l *lowerer) truth(e sql.Expression) (Expr, error) {
	x, err := l.scalar(e, "The truth")
	if err != nil {
		return x, err
	}
	return l.isTruth(x), nil
}

func (l *lowerer) isTruth(x Expr) Expr {
	switch x.Type.Kind {
	case Bool:
		return x
	case Null:
		return maybe(Bool, "CAST(NULL AS BOOLEAN)")
	case Date, Datetime:
		return boolean("("+x.SQL+" = "+x.SQL+")", x)
	case String:
		x = l.toDouble(x)
	}
	x = l.tight(x.Unrounded())
	return boolean("("+x.SQL+" <> 0)", x)
}

// junction translates a chain of AND or of OR as one list, however deep the tree is, each operand
// by itself.
func (l *lowerer) junction(e sql.Expression, word string, operand func(sql.Expression) (Expr, error)) (Expr, error) {
	var operands []sql.Expression
	var collect func(sql.Expression)
	collect = func(e sql.Expression) {
		switch j := e.(type) {
		case *expression.And:
			if word == " AND " {
				collect(j.LeftChild)
				collect(j.RightChild)
				return
			}
		case *expression.Or:
			if word == " OR " {
				collect(j.LeftChild)
				collect(j.RightChild)
				return
			}
		}
		operands = append(operands, e)
	}
	collect(e)
	parts := make([]string, len(operands))
	xs := make([]Expr, len(operands))
	for i, o := range operands {
		x, err := operand(o)
		if err != nil {
			return x, err
		}
		parts[i], xs[i] = x.SQL, x
	}
	return boolean("("+strings.Join(parts, word)+")", xs...), nil
}

func (l *lowerer) xor(e *expression.Xor) (Expr, error) {
	x, err := l.truth(e.LeftChild)
	if err != nil {
		return x, err
	}
	y, err := l.truth(e.RightChild)
	if err != nil {
		return y, err
	}
	return boolean("("+x.SQL+" <> "+y.SQL+")", x, y), nil
}

func (l *lowerer) isNull(child sql.Expression) (Expr, error) {
	x, err := l.expr(child)
	if err != nil {
		return x, err
	}
	return Expr{SQL: "(" + l.tight(x).SQL + " IS NULL)", Type: Type{Kind: Bool}}, nil
}

func (l *lowerer) isTrue(e *expression.IsTrue) (Expr, error) {
	x, err := l.truth(e.Child)
	if err != nil {
		return x, err
	}
	word := " IS TRUE)"
	// the node keeps its direction to itself
	if strings.HasSuffix(e.String(), expression.IsFalseStr) {
		word = " IS FALSE)"
	}
	return Expr{SQL: "(" + x.SQL + word, Type: Type{Kind: Bool}}, nil
}

// caseOf translates both forms of CASE.
func (l *lowerer) caseOf(e *expression.Case) (Expr, error) {
	var values []Expr
	var subject Expr
	var err error
	if e.Expr != nil {
		if subject, err = l.operand(e.Expr); err != nil {
			return subject, err
		}
		subject = l.tight(subject)
	}
	conds := make([]Expr, len(e.Branches))
	for i, b := range e.Branches {
		if e.Expr == nil {
			conds[i], err = l.truth(b.Cond)
		} else {
			conds[i], err = l.operand(b.Cond)
		}
		if err == nil && e.Expr != nil {
			err = l.alignTimes(&subject, &conds[i])
		}
		if err != nil {
			return Expr{}, err
		}
		v, err := l.expr(b.Value)
		if err != nil {
			return v, err
		}
		values = append(values, v)
	}
	other := null()
	if e.Else != nil {
		if other, err = l.expr(e.Else); err != nil {
			return other, err
		}
	}
	given := append(values, other)
	values, err = l.unify(given)
	if err != nil {
		return Expr{}, err
	}
	branches := func(values []string, ref string) string {
		var s strings.Builder
		s.WriteString("(CASE")
		for i, c := range conds {
			if e.Expr != nil {
				w := subject
				w.SQL = ref
				c = l.compare("=", w, c)
			}
			s.WriteString(" WHEN " + c.SQL + " THEN " + values[i])
		}
		return s.String() + " ELSE " + values[len(values)-1] + " END)"
	}
	write := func(values []string) string {
		if e.Expr == nil {
			return branches(values, "")
		}
		return l.let(subject.SQL, func(ref string) string { return branches(values, ref) })
	}
	x := Expr{SQL: write(texts(values)), Type: values[0].Type}
	return chosen(l.nullable(x, values), given, write), nil
}

func (l *lowerer) nullable(x Expr, from []Expr) Expr {
	for _, f := range from {
		x.Nullable = x.Nullable || f.Nullable
	}
	return x
}

// unify brings the branches of a CASE and the like to one type, by MySQL's rules of aggregation.
func (l *lowerer) unify(xs []Expr) ([]Expr, error) {
	t := Type{Kind: Null}
	for _, x := range xs {
		var ok bool
		if t, ok = common(t, x); !ok {
			return nil, refuse.New(refuse.Expression, "The branches of an expression have types that do not go together on protected rows.")
		}
	}
	out := make([]Expr, len(xs))
	for i, x := range xs {
		x = l.tight(x)
		if x.Type != t {
			if t.Kind == Null {
				out[i] = x
				continue
			}
			y, ok := l.convert(x, t)
			if !ok {
				return nil, refuse.New(refuse.Expression, "The branches of an expression have types that do not go together on protected rows.")
			}
			if x = l.tight(y); x.Type.Kind == t.Kind {
				x.Type = t
			}
		}
		out[i] = x
	}
	return out, nil
}

// common is the type that holds values of t and x.
func common(t Type, x Expr) (Type, bool) {
	t.Members, x.Type.Members, t.Bits, x.Type.Bits = "", "", false, false
	a, b := t.Kind, x.Type.Kind
	if a == Null || b == Null {
		if a == Null {
			return x.Type, true
		}
		return t, true
	}
	if !scalar(a) || !scalar(b) {
		return t, a == b
	}
	switch {
	case a == b && a != Decimal:
		t.Scale, t.Single = max(t.Scale, x.Type.Scale), t.Single && x.Type.Single
		return t, true
	case temporal(a) && temporal(b):
		return Type{Kind: Datetime}, true
	case !numeric(a) || !numeric(b):
		return Type{Kind: String}, true
	case a == Double || b == Double:
		return Type{Kind: Double}, true
	case a == Bool || b == Bool:
		if a == Bool {
			return x.Type, true
		}
		return t, true
	}
	p1, s1 := t.Precision, t.Scale
	if a != Decimal {
		p1, s1 = width(Expr{Type: t}), 0
	}
	p2, s2 := precision(x)
	s := max(s1, s2)
	p := max(p1-s1, p2-s2) + s
	if p > maxPrecision {
		p = maxPrecision
	}
	return Type{Kind: Decimal, Precision: p, Scale: s}, true
}

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
		t := x.Type
		t.Members = "" // a text
		return Expr{SQL: s, Type: t, Nullable: true}, nil
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
		args := slices.Clone(c.args)
		if by := l.collation(c, c.raw...); !collation.ByBytes(by) {
			for i, x := range args {
				var err error
				if args[i], err = l.by(x, by, collation.ForKey); err != nil {
					return x, err
				}
			}
		}
		x := l.tight(args[0])
		s := l.let(x.SQL, func(r string) string {
			w := x
			w.SQL = r
			out := "CASE"
			for i, y := range args[1:] {
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
			args[i] = l.toString(x)
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
	acc, by := vs[0].SQL, func(s string) string { return s }
	if vs[0].Type.Kind == String {
		if f := collation.Function(l.collation(c, c.raw...), collation.ForSort); f != "" {
			by = func(s string) string { return f + "(" + s + ")" }
		}
	}
	for _, v := range vs[1:] {
		acc = l.let(acc, func(a string) string {
			return l.let(v.SQL, func(b string) string {
				return "(CASE WHEN " + by(a) + " " + op + " " + by(b) + " THEN " + a + " WHEN " + a + " IS NOT NULL THEN " + b + " END)"
			})
		})
	}
	return l.nullable(Expr{SQL: acc, Type: vs[0].Type}, vs), nil
}
