package standard

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// united gives the columns of a UNION the type that MySQL merges both sides' to. The binder puts
// casts of its own around columns of different types, in projections on top of the sides.
func (t *typer) united(u *plan.SetOp) (sql.Node, transform.TreeIdentity, error) {
	l, isL := u.Left().(*plan.Project)
	r, isR := u.Right().(*plan.Project)
	if !isL || !isR || len(l.Projections) != len(r.Projections) {
		return u, transform.SameTree, nil
	}
	a, b := t.withDays(l), t.withDays(r)
	same := transform.TreeIdentity(a == l && b == r)
	l, r = t.onTop(a, b)
	sides := [2][]sql.Expression{slices.Clone(l.Projections), slices.Clone(r.Projections)}
	for i := range l.Projections {
		x, y := merged(l.Projections[i]), merged(r.Projections[i])
		if x == nil || y == nil {
			continue
		}
		l, x = t.unroundedBelow(l, x, y.Type(t.ctx))
		r, y = t.unroundedBelow(r, y, x.Type(t.ctx))
		a, b := t.unitedCast(x, y)
		if a == nil {
			continue
		}
		same = transform.NewTree
		for k, e := range [2]sql.Expression{a, b} {
			if w := typedOf(t.ctx, e); w != nil && t.wrap {
				e = w
			}
			a, err := sides[k][i].WithChildren(t.ctx, e)
			if err != nil {
				return u, same, err
			}
			sides[k][i] = a
		}
		t.unions[x.Id()] = sides[0][i].Type(t.ctx)
	}
	if same {
		return u, same, nil
	}
	out, err := u.WithChildren(t.ctx, plan.NewProject(t.ctx, sides[0], l.Child), plan.NewProject(t.ctx, sides[1], r.Child))
	return out, transform.NewTree, err
}

// withDays makes constants of a date or time, which are texts to the binder, what columns
// have.
func (t *typer) withDays(p *plan.Project) *plan.Project {
	list, any := slices.Clone(p.Projections), false
	for i, e := range list {
		if a, ok := e.(*expression.Alias); ok && t.wrap {
			if l, ok := a.Child.(*expression.Literal); ok && types.IsTime(l.Type(t.ctx)) {
				if _, text := plainText(l.Value()); text {
					list[i], any = expression.NewAlias(t.ctx, a.Name(), cast(t.ctx, l, l.Type(t.ctx), 6)).WithId(a.Id()).(sql.Expression), true
				}
			}
		}
	}
	if !any {
		return p
	}
	return plan.NewProject(t.ctx, list, p.Child)
}

// onTop puts projections on top of both sides, as the binder does, where columns have different
// types now that had one to the binder.
func (t *typer) onTop(l, r *plan.Project) (a, b *plan.Project) {
	ls, rs := l.Schema(t.ctx), r.Schema(t.ctx)
	differ := false
	for i := range ls {
		if merged(l.Projections[i]) != nil || merged(r.Projections[i]) != nil {
			return l, r // the binder's own
		}
		differ = differ || !ls[i].Type.Equals(rs[i].Type)
	}
	if !differ {
		return l, r
	}
	top := func(p *plan.Project, schema sql.Schema) *plan.Project {
		list := make([]sql.Expression, len(schema))
		for i, c := range schema {
			id := 0
			if e, ok := p.Projections[i].(sql.IdExpression); ok {
				id = int(e.Id())
			}
			list[i] = expression.NewAlias(t.ctx, c.Name, expression.NewGetFieldWithTable(id, 0, c.Type, c.DatabaseSource, c.Source, c.Name, c.Nullable))
		}
		return plan.NewProject(t.ctx, list, p)
	}
	return top(l, ls), top(r, rs)
}

// unroundedBelow makes a computed DECIMAL of a side a text or a DOUBLE, as
// those of the other side are: MySQL rounds it to the scale of no other column than a DECIMAL.
func (t *typer) unroundedBelow(p *plan.Project, f *expression.GetField, other sql.Type) (*plan.Project, *expression.GetField) {
	below, ok := p.Child.(*plan.Project)
	if !ok || !t.wrap || other == types.Null || isNumber(other) && !types.IsFloat(other) {
		return p, f
	}
	for i, e := range below.Projections {
		a, ok := e.(*expression.Alias)
		if !ok || a.Id() != f.Id() {
			continue
		}
		value := []sql.Expression{a.Child}
		if !unrounded(value) {
			break
		}
		x := inDouble(t.ctx, value[0])
		if !types.IsFloat(other) {
			x = as(t.ctx, "words", value[0], types.LongText, func(_ *sql.Context, v any) (any, error) { return decimalOf(v).Text('f'), nil })
		}
		list := slices.Clone(below.Projections)
		list[i] = expression.NewAlias(t.ctx, a.Name(), x).WithId(a.Id()).(sql.Expression)
		t.note(a.Id(), x.Type(t.ctx))
		f = expression.NewGetFieldWithTable(f.Index(), int(f.TableId()), x.Type(t.ctx), f.Database(), f.Table(), f.Name(), f.IsNullable(t.ctx)).WithId(f.Id()).(*expression.GetField)
		return plan.NewProject(t.ctx, p.Projections, plan.NewProject(t.ctx, list, below.Child)), f
	}
	return p, f
}

// merged returns a column of one side of a UNION of different types, without the cast that the
// binder may have put around it; nil of other expressions.
func merged(e sql.Expression) *expression.GetField {
	a, ok := e.(*expression.Alias)
	if !ok || a.Id() != 0 { // which what a statement names has
		return nil
	}
	column := Untyped(a.Child)
	if c, ok := column.(*expression.Convert); ok {
		column = c.Child
		if m, ok := column.(*expression.EnumToString); ok {
			column = m.Enum
		}
	}
	f, ok := column.(*expression.GetField)
	if !ok || f.Name() != a.Name() {
		return nil
	}
	return f
}

// single reports whether FLOAT has room for all numbers of a type, as MySQL sees it.
func single(t sql.Type) bool {
	switch t {
	case types.Float32, types.Int8, types.Uint8, types.Int16, types.Uint16, types.Int24, types.Uint24:
		return true
	}
	return false
}

// unitedCast casts two columns of a UNION to one type; nil where the binder's casts do. A date
// beside another kind of value is a text, as are ENUM and SET beside any other type, and BIT, whose
// text is that of a number. Texts of one length beside BINARY are filled up with zeros.
func (t *typer) unitedCast(x, y *expression.GetField) (a, b sql.Expression) {
	p, q := x.Type(t.ctx), y.Type(t.ctx)
	both := func(is func(sql.Type) bool) bool { return is(p) && is(q) }
	either := func(is func(sql.Type) bool) bool { return is(p) || is(q) }
	to, length, scale := "char", 0, 0
	switch {
	case p.Equals(q):
		return x, y
	case both(types.IsGeometry):
		return nil, nil
	case both(types.IsBit):
		if p.(types.BitType).NumberOfBits() < q.(types.BitType).NumberOfBits() {
			p = q
		}
		same := func(_ *sql.Context, v any) (any, error) { return v, nil }
		return as(t.ctx, "bits", x, p, same), as(t.ctx, "bits", y, p, same)
	case p == types.Null:
		return expression.NewLiteral(nil, q), y
	case q == types.Null:
		return x, expression.NewLiteral(nil, p)
	case either(types.IsBinaryType):
		to = "binary"
	case either(types.IsBit):
	case both(IsTimespan):
		to := TimeType(max(SpanDigits(p), SpanDigits(q)))
		return cast(t.ctx, x, to, 6), cast(t.ctx, y, to, 6)
	case both(temporal):
		d, isD := p.(sql.DatetimeType)
		e, isE := q.(sql.DatetimeType)
		switch to = "datetime"; {
		case isD && isE:
			length = max(d.Precision(), e.Precision())
		default:
			length = 6
		}
	case both(isNumber) && either(types.IsFloat):
		if to = "double"; both(single) {
			to = "float"
		}
	case both(isNumber):
		m, ok := NumberOf(t.ctx, x)
		n, also := NumberOf(t.ctx, y)
		if !ok || !also || types.IsYear(p) && !n.Decimal || types.IsYear(q) && !m.Decimal {
			return nil, nil
		}
		if !m.Decimal && !n.Decimal && m.Unsigned == n.Unsigned && !either(types.IsBit) {
			if to = "unsigned"; m.Unsigned && (p == types.Uint64 || q == types.Uint64) {
				break
			}
			return nil, nil
		}
		scale = max(m.Scale, n.Scale)
		n = Number{Precision: max(m.Precision-m.Scale, n.Precision-n.Scale) + scale, Scale: scale}.fit()
		to, length, scale = "decimal", n.Precision, n.Scale
	}
	fixed := 0
	if m, n := filled(p), filled(q); m > 0 && n > 0 {
		fixed = max(m, n)
	}
	side := func(e *expression.GetField) sql.Expression {
		switch typ := e.Type(t.ctx); {
		case to == "char" && types.IsFloat(typ), to == "char" && member(typ):
			return inText(t.ctx, e)
		case types.IsBit(typ):
			e := as(t.ctx, "digits", e, types.LongText, func(ctx *sql.Context, v any) (any, error) {
				return strconv.FormatUint(bitsOf(ctx, v), 10), nil
			})
			if to == "binary" {
				return inBytes(t.ctx, e)
			}
			return e
		case to == "binary" && fixed > 0:
			return as(t.ctx, "filled", inBytes(t.ctx, e), types.LongBlob, func(_ *sql.Context, v any) (any, error) {
				b := v.([]byte)
				return append(slices.Clone(b), make([]byte, max(fixed-len(b), 0))...), nil
			})
		}
		return expression.NewConvertWithLengthAndScale(e, to, length, scale)
	}
	return side(x), side(y)
}

// filled is the number of bytes that all values of a type have where BINARY is beside it, 0 where
// they have different ones: MySQL takes four for each character.
func filled(t sql.Type) int {
	switch t := t.(type) {
	case sql.StringType:
		switch t.Type() {
		case sqltypes.Binary:
			return int(t.MaxByteLength())
		case sqltypes.Char:
			return 4 * int(t.MaxCharacterLength())
		}
	case sql.EnumType:
		most := 0
		for _, v := range t.Values() {
			most = max(most, 4*utf8.RuneCountInString(v))
		}
		return most
	case sql.SetType:
		return 4 * utf8.RuneCountInString(strings.Join(t.Values(), ","))
	}
	return 0
}
