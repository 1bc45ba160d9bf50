package standard

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// united gives the columns of a UNION the type that MySQL merges those of all its parts to
// (Item_aggregate_type::join_types), and has each part make its columns so. The binder merges two
// parts at a time, and has casts of its own where it knows of other types.
func (t *typer) united(u *plan.SetOp) (sql.Node, transform.TreeIdentity, error) {
	var parts []*plan.Project
	same, whole, width := transform.SameTree, true, len(u.Left().Schema(t.ctx))
	out, err := t.overParts(u, func(n sql.Node) (sql.Node, error) {
		n, identity, err := t.node(n)
		if p, ok := n.(*plan.Project); ok {
			q := t.withDays(p)
			n, identity = q, identity && q == p
		}
		p := t.onTop(n)
		parts, same, whole = append(parts, p), same && identity, whole && p != nil && len(p.Projections) == width
		return n, err
	})
	if err != nil || !whole {
		return out, same, err
	}
	constants := map[int]int{} // columns in ORDER BY, which the binder takes for the constants that they are
	for k, by := range u.SortConditions {
		f, column := by.Expr.(*expression.GetField)
		for i, c := range parts[0].Schema(t.ctx) {
			if is := computed(parts[0], i); isLiteral(is) && (is == by.Expr || column && f.Name() == c.Name) {
				constants[k] = i
			}
		}
	}
	changed := false
	for i := range width {
		changed = t.unite(parts, i) || changed
	}
	if bool(same) && !changed && len(constants) == 0 {
		return u, same, nil
	}
	order := slices.Clone(u.SortConditions)
	for k, i := range constants {
		c := parts[0].Schema(t.ctx)[i]
		order[k].Expr = expression.NewGetFieldWithTable(0, 0, c.Type, c.DatabaseSource, c.Source, c.Name, c.Nullable)
	}
	if changed {
		next := 0
		out, err = t.overParts(out, func(sql.Node) (sql.Node, error) {
			next++
			return parts[next-1], nil
		})
	}
	return plan.NewSetOp(out.SetOpType, out.Left(), out.Right(), out.Distinct, out.Limit, out.Offset, order).WithColumns(out.Columns()).WithId(out.Id()), transform.NewTree, err
}

// overParts is a UNION over what of makes of its parts, those of a part that is a UNION among them.
func (t *typer) overParts(u *plan.SetOp, of func(sql.Node) (sql.Node, error)) (*plan.SetOp, error) {
	sides := u.Children()
	for k, n := range sides {
		var err error
		if v := linked(n); v != nil {
			sides[k], err = t.overParts(v, of)
		} else {
			sides[k], err = of(n)
		}
		if err != nil {
			return u, err
		}
	}
	out, err := u.WithChildren(t.ctx, sides...)
	return out.(*plan.SetOp), err
}

// linked returns the UNION that a part of a UNION is; nil of others, and of one that has an order
// or a limit.
func linked(n sql.Node) *plan.SetOp {
	if p, ok := n.(*plan.Project); ok && isTop(p) {
		n = p.Child
	}
	if u, ok := n.(*plan.SetOp); ok && u.Limit == nil && u.Offset == nil && len(u.SortConditions) == 0 {
		return u
	}
	return nil
}

// isTop reports whether a projection has only columns, and casts of columns that a statement does
// not name: those that the binder puts on top of a part of a UNION.
func isTop(p *plan.Project) bool {
	return !slices.ContainsFunc(p.Projections, func(e sql.Expression) bool {
		_, column := e.(*expression.GetField)
		a, ok := e.(*expression.Alias)
		return !column && (!ok || a.Id() != 0)
	})
}

// unite makes column i of all parts one of their common type, and reports whether one was not.
func (t *typer) unite(parts []*plan.Project, i int) (changed bool) {
	columns, names, to := make([]sql.Expression, len(parts)), make([]string, len(parts)), common{typ: types.Null}
	for k, p := range parts {
		columns[k] = p.Projections[i]
		if f := merged(columns[k]); f != nil {
			columns[k] = f
		}
		switch e := columns[k].(type) {
		case *expression.Alias:
			columns[k], names[k] = e.Child, e.Name()
		case *expression.GetField: // whose type the binder does not know, and we do by its id only
			columns[k], names[k] = fieldAs(t.ctx, e, computed(p, i).Type(t.ctx), e.TableId()), e.Name()
		}
		to = t.merge(to, t.columnOf(columns[k], computed(p, i)))
	}
	for k, was := range parts {
		p, e := t.unroundedBelow(was, i, columns[k], to)
		if to.typ != nil {
			e = t.into(e, to)
		} else if a, ok := p.Projections[i].(*expression.Alias); ok { // the binder's cast
			e = a.Child
		}
		if w := typedOf(t.ctx, e); w != nil && t.wrap {
			e = w
		}
		if k > 0 { // of types that are not known to differ in their values
			if first := parts[0].Projections[i].Type(t.ctx); !e.Type(t.ctx).Equals(first) {
				e = as(t.ctx, "united", e, first, func(ctx *sql.Context, v any) (any, error) {
					v, _, err := first.Convert(ctx, v)
					return v, err
				})
			}
		}
		changed = changed || p != was || !e.Type(t.ctx).Equals(columns[k].Type(t.ctx)) || merged(was.Projections[i]) != nil
		if _, column := e.(*expression.GetField); !column {
			e = expression.NewAlias(t.ctx, names[k], e)
		}
		list := slices.Clone(p.Projections)
		list[i] = e
		parts[k] = plan.NewProject(t.ctx, list, p.Child)
	}
	if f, ok := columns[0].(*expression.GetField); ok && changed {
		t.unions[f.Id()] = parts[0].Projections[i].Type(t.ctx)
	}
	return changed
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

// onTop is a part of a UNION under a projection of its columns, the binder's where it has one; nil
// where its columns are not known.
func (t *typer) onTop(n sql.Node) *plan.Project {
	if p, ok := n.(*plan.Project); ok && isTop(p) {
		return p
	}
	schema, ids := n.Schema(t.ctx), columnIds(n)
	if len(ids) != len(schema) {
		return nil
	}
	list := make([]sql.Expression, len(schema))
	for i, c := range schema {
		list[i] = expression.NewGetFieldWithTable(int(ids[i]), 0, c.Type, c.DatabaseSource, c.Source, c.Name, c.Nullable)
	}
	return plan.NewProject(t.ctx, list, n)
}

// columnIds are the ids of the columns of a node, 0 of those without one.
func columnIds(n sql.Node) (ids []sql.ColumnId) {
	switch n := n.(type) {
	case *plan.Project:
		for _, e := range n.Projections {
			id := sql.ColumnId(0)
			if x, ok := e.(sql.IdExpression); ok {
				id = x.Id()
			}
			ids = append(ids, id)
		}
		return ids
	case *plan.SetOp:
		return columnIds(n.Left())
	case plan.TableIdNode:
		n.Columns().ForEach(func(id sql.ColumnId) { ids = append(ids, id) })
		return ids
	}
	if len(n.Children()) == 0 {
		return nil
	}
	return columnIds(n.Children()[0])
}

// computed is the expression of column i of a part, which may stand in the Project below its own.
func computed(p *plan.Project, i int) sql.Expression {
	e := p.Projections[i]
	f := merged(e)
	if f == nil {
		f, _ = e.(*expression.GetField)
	}
	if below, ok := p.Child.(*plan.Project); ok && f != nil && i < len(below.Projections) && columnIds(below)[i] == f.Id() {
		e = below.Projections[i]
	} else if f != nil {
		return f
	}
	if a, ok := e.(*expression.Alias); ok {
		return a.Child
	}
	return e
}

// unroundedBelow makes a computed DECIMAL of a part the text or the DOUBLE that its column of a
// UNION is: MySQL rounds it to the scale of no other column than a DECIMAL, and cuts its text.
func (t *typer) unroundedBelow(p *plan.Project, i int, e sql.Expression, to common) (*plan.Project, sql.Expression) {
	value := []sql.Expression{computed(p, i)}
	if !t.wrap || to.typ == nil || !types.IsFloat(to.typ) && !types.IsText(to.typ) || !unrounded(value) {
		return p, e
	}
	x := inDouble(t.ctx, value[0])
	if !types.IsFloat(to.typ) {
		x = as(t.ctx, "words", value[0], types.LongText, func(_ *sql.Context, v any) (any, error) {
			s := decimalOf(v).Text('f')
			if to.chars > 0 && len(s) > to.chars {
				s = s[:to.chars]
			}
			return s, nil
		})
	}
	f, ok := e.(*expression.GetField)
	if !ok {
		return plan.NewProject(t.ctx, p.Projections, p.Child), x
	}
	below := p.Child.(*plan.Project) // which has it, as value is no column
	list := slices.Clone(below.Projections)
	list[i] = x
	if a, ok := below.Projections[i].(*expression.Alias); ok {
		list[i] = expression.NewAlias(t.ctx, a.Name(), x).WithId(a.Id()).(sql.Expression)
		t.note(a.Id(), x.Type(t.ctx))
	}
	return plan.NewProject(t.ctx, p.Projections, plan.NewProject(t.ctx, list, below.Child)), fieldAs(t.ctx, f, x.Type(t.ctx), f.TableId())
}

// merged returns a column of a part of a UNION without the cast that the binder may have put around
// it; nil of other expressions.
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

// common is the type of columns that a UNION puts under each other.
type common struct {
	typ          sql.Type // nil where the binder's casts do
	number       Number   // of exact numbers
	exact        bool     // it is one of them
	single       bool     // FLOAT has room for all of its numbers
	chars, bytes int      // the longest text, 0 where it is not known
	filled       bool     // CHAR or BINARY (MYSQL_TYPE_STRING): bytes are filled up with zeros
	long         bool     // TEXT or BLOB, whose column has the bytes of BIT, and not its digits
}

// columnOf is the type of a column, and what is known of it from the expression that it is.
func (t *typer) columnOf(e, is sql.Expression) common {
	c := common{typ: e.Type(t.ctx)}
	if values := choices(Untyped(is)); len(values) > 0 && types.IsText(c.typ) {
		all := common{typ: types.Null}
		for _, v := range values {
			all = t.merge(all, t.columnOf(v, v))
		}
		if all.typ = c.typ; types.IsTextOnly(c.typ) {
			all.bytes = 4 * all.chars
		}
		return all
	}
	c.single = single(c.typ)
	c.number, c.exact = NumberOf(t.ctx, e)
	length := func(chars, bytes int) { c.chars, c.bytes = chars, bytes }
	switch typ := c.typ.(type) {
	case sql.StringType:
		switch chars := int(typ.MaxCharacterLength()); typ.Type() {
		case sqltypes.Char, sqltypes.VarChar:
			length(chars, 4*chars)
		case sqltypes.Binary, sqltypes.VarBinary:
			length(chars, int(typ.MaxByteLength()))
		default:
			c.long = !typ.Equals(types.LongText) && !typ.Equals(types.LongBlob) // of functions
		}
		c.filled = typ.Type() == sqltypes.Char || typ.Type() == sqltypes.Binary
	case sql.EnumType:
		for _, v := range typ.Values() {
			c.chars = max(c.chars, utf8.RuneCountInString(v))
		}
		c.bytes = 4 * c.chars
	case sql.SetType:
		c.chars = utf8.RuneCountInString(strings.Join(typ.Values(), ","))
		c.bytes = 4 * c.chars
	case types.BitType:
		length(int(typ.NumberOfBits()), int(typ.NumberOfBits()))
	case sql.DatetimeType:
		n := len(time.DateTime)
		if types.IsDateType(typ) {
			n = len(time.DateOnly)
		} else if digits := typ.Precision(); digits > 0 {
			n += 1 + digits
		}
		length(n, n)
	default:
		n := 0
		switch {
		case IsTimespan(typ):
			if n = 10; SpanDigits(typ) > 0 {
				n += 1 + SpanDigits(typ)
			}
		case types.IsYear(typ):
			n = 4
		case typ == types.Float32:
			n = 12
		case typ == types.Float64:
			n = 22
		case typ == types.Int24:
			n = 9
		case c.exact:
			if n = c.number.Precision; c.number.Scale > 0 {
				n++
			}
			if !c.number.Unsigned {
				n++
			}
		}
		length(n, n)
		c.long = types.IsJSON(typ)
	}
	if l, ok := is.(*expression.Literal); ok {
		c.single = false // a BIGINT to MySQL
		if s, text := plainText(l.Value()); text {
			n := utf8.RuneCountInString(s)
			length(n, 4*n)
		}
	}
	return c
}

// merge is the type that two have in common (Field::field_type_merge). A date beside another kind
// of value is a text, as are ENUM and SET beside any other type, and BIT, whose text is a number's.
func (t *typer) merge(a, b common) common {
	p, q := a.typ, b.typ
	both := func(is func(sql.Type) bool) bool { return is(p) && is(q) }
	either := func(is func(sql.Type) bool) bool { return is(p) || is(q) }
	varies := func(c common) bool { return (types.IsText(c.typ) || types.IsJSON(c.typ)) && !c.filled }
	switch {
	case p == types.Null:
		return b
	case q == types.Null || p == nil:
		return a
	case q == nil || both(types.IsGeometry) && !p.Equals(q):
		return common{}
	}
	out := common{typ: types.LongText, long: a.long || b.long, filled: (a.filled || b.filled) && !varies(a) && !varies(b), exact: a.exact && b.exact}
	if a.chars > 0 && b.chars > 0 {
		out.chars, out.bytes = max(a.chars, b.chars), max(a.bytes, b.bytes)
	}
	m, n := a.number, b.number
	if out.exact {
		scale := max(m.Scale, n.Scale)
		out.number = Number{Decimal: m.Decimal || n.Decimal, Unsigned: m.Unsigned && n.Unsigned, Precision: max(m.Precision-m.Scale, n.Precision-n.Scale) + scale, Scale: scale}.fit()
	}
	switch {
	case p.Equals(q) && (!member(p) || !t.wrap):
		out.typ = p
	case both(types.IsBit):
		if out.typ = p; p.(types.BitType).NumberOfBits() < q.(types.BitType).NumberOfBits() {
			out.typ = q
		}
	case either(types.IsBinaryType), either(types.IsBit) && !both(isNumber):
		out.typ = types.LongBlob
	case either(types.IsBit): // VARCHAR
	case both(IsTimespan):
		out.typ = TimeType(max(SpanDigits(p), SpanDigits(q)))
	case both(temporal):
		digits := func(t sql.Type) int {
			if d, ok := t.(sql.DatetimeType); ok {
				return d.Precision()
			}
			return SpanDigits(t)
		}
		out.typ = types.MustCreateDatetimeType(sqltypes.Datetime, max(digits(p), digits(q)))
	case both(isNumber) && either(types.IsFloat):
		if out.typ = types.Float64; a.single && b.single {
			out.typ = types.Float32
		}
	case both(isNumber) && !out.exact:
		return common{}
	case both(isNumber):
		year := func(t sql.Type, n Number) bool { return types.IsYear(t) && !n.Decimal }
		switch {
		case year(p, n):
			out.typ = wide64(n)
		case year(q, m):
			out.typ = wide64(m)
		case !out.number.Decimal && (m.Unsigned == n.Unsigned || out.number.Precision <= 18):
			out.typ = wide64(out.number)
		default:
			out.number.Decimal, out.number.Unsigned = true, false
			out.typ = out.number.Type()
		}
	}
	return out
}

// single reports whether FLOAT has room for all numbers of a type, as MySQL sees it.
func single(t sql.Type) bool {
	switch t {
	case types.Float32, types.Int8, types.Uint8, types.Int16, types.Uint16, types.Int24, types.Uint24:
		return true
	}
	return types.IsYear(t)
}

// wide64 is the type of whole numbers of 64 bits.
func wide64(n Number) sql.Type {
	if n.Unsigned {
		return types.Uint64
	}
	return types.Int64
}

// into makes a column one of a common type.
func (t *typer) into(e sql.Expression, to common) sql.Expression {
	typ := e.Type(t.ctx)
	convert := func(target string, length, scale int) sql.Expression {
		return expression.NewConvertWithLengthAndScale(e, target, length, scale)
	}
	d, moment := typ.(sql.DatetimeType)
	switch {
	case typ.Equals(to.typ):
		return e
	case typ == types.Null:
		return expression.NewLiteral(nil, to.typ)
	case to.filled && types.IsBinaryType(to.typ) && to.bytes > 0:
		return as(t.ctx, "filled", t.bytesOf(e, to), to.typ, func(_ *sql.Context, v any) (any, error) {
			b := v.([]byte)
			return append(slices.Clone(b), make([]byte, max(to.bytes-len(b), 0))...), nil
		})
	case types.IsBit(to.typ):
		return as(t.ctx, "bits", e, to.typ, func(_ *sql.Context, v any) (any, error) { return v, nil })
	case types.IsBinaryType(to.typ) && types.IsText(typ):
		return convert("binary", 0, 0)
	case types.IsBinaryType(to.typ):
		return t.bytesOf(e, to)
	case types.IsText(to.typ) && types.IsBit(typ):
		return t.digits(e)
	case types.IsText(to.typ) && (types.IsFloat(typ) || member(typ)):
		return inText(t.ctx, e)
	case types.IsText(to.typ) && t.wrap && (moment && d.Precision() > 0 || SpanDigits(typ) > 0):
		return inWords(t.ctx, e)
	case types.IsText(to.typ):
		return convert("char", 0, 0)
	case to.typ == types.Float64:
		return convert("double", 0, 0)
	case to.typ == types.Float32:
		return convert("float", 0, 0)
	case to.typ == types.Int64:
		return convert("signed", 0, 0)
	case to.typ == types.Uint64:
		return convert("unsigned", 0, 0)
	case types.IsDecimal(to.typ):
		return convert("decimal", to.number.Precision, to.number.Scale)
	case IsTimespan(to.typ):
		return cast(t.ctx, e, to.typ, 6)
	}
	return convert("datetime", to.typ.(sql.DatetimeType).Precision(), 0)
}

// bytesOf is a column as the bytes that one of bytes has of it.
func (t *typer) bytesOf(e sql.Expression, to common) sql.Expression {
	if types.IsBit(e.Type(t.ctx)) && !to.long {
		e = t.digits(e)
	}
	return inBytes(t.ctx, e)
}

// digits are those of a column of BIT.
func (t *typer) digits(e sql.Expression) sql.Expression {
	return as(t.ctx, "digits", e, types.LongText, func(ctx *sql.Context, v any) (any, error) {
		return strconv.FormatUint(bitsOf(ctx, v), 10), nil
	})
}
