package standard

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gms "github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/internal/collation"
	"scrim/internal/lists"
)

// alikeBy puts the function of the values' collation around them. Rows are compared column by
// column.
func alikeBy(ctx *sql.Context, op string, use collation.Use, list ...sql.Expression) (out []sql.Expression, changed bool, err error) {
	out = slices.Clone(list)
	width := -1
	for i, e := range out {
		if t, ok := e.(expression.Tuple); ok && len(t) == 1 {
			out[i] = t[0]
		} else if ok && (i == 0 || len(t) == width) {
			width = len(t)
		} else if n := types.NumColumns(e.Type(ctx)); n > 1 || width > 0 {
			return list, false, rowsBy(ctx, list)
		}
	}
	if width < 0 {
		spelled(ctx, out)
		c, err := Collation(ctx, op, out...)
		if err != nil || collation.ByBytes(c) {
			return list, false, err
		}
		for i, e := range out {
			if e.Type(ctx) != types.Null {
				out[i] = weighed(e, c, use)
			}
		}
		return out, true, nil
	}
	for i, e := range out {
		out[i] = slices.Clone(e.(expression.Tuple))
	}
	column := make([]sql.Expression, len(out))
	for k := range width {
		for i := range out {
			column[i] = out[i].(expression.Tuple)[k]
		}
		by, done, err := alikeBy(ctx, op, use, column...)
		if err != nil {
			return list, false, err
		}
		for i := range out {
			out[i].(expression.Tuple)[k] = by[i]
		}
		changed = changed || done
	}
	return out, changed, nil
}

// spelled writes constants of bytes as texts, as which they are compared with texts.
func spelled(ctx *sql.Context, list []sql.Expression) {
	if !slices.ContainsFunc(list, func(e sql.Expression) bool { return e.Resolved() && types.IsTextOnly(e.Type(ctx)) }) {
		return
	}
	for i, e := range list {
		if l, ok := e.(*expression.Literal); ok {
			if b, ok := l.Value().([]byte); ok && utf8.Valid(b) {
				list[i] = expression.NewLiteral(string(b), types.LongText)
			}
		}
	}
}

// kinds parts the members of a list that a text is compared with: as texts by a collation, and as
// what they are. Both are nil where there is no such collation.
func kinds(ctx *sql.Context, left sql.Expression, list expression.Tuple) (of, rest expression.Tuple) {
	if c, err := Collation(ctx, "in", left); err != nil || collation.ByBytes(c) {
		return nil, nil
	}
	for _, e := range list {
		if !e.Resolved() || types.IsDeferredType(e.Type(ctx)) {
			return nil, nil
		}
		if t := e.Type(ctx); t == types.Null || types.IsText(t) || types.IsEnum(t) || types.IsSet(t) {
			of = append(of, e)
		} else {
			rest = append(rest, e)
		}
	}
	return of, rest
}

// rowsBy refuses rows of a subquery that are not compared by bytes.
func rowsBy(ctx *sql.Context, list []sql.Expression) error {
	var texts func(t sql.Type) error
	texts = func(t sql.Type) error {
		if row, ok := t.(types.TupleType); ok {
			for _, t := range row {
				if err := texts(t); err != nil {
					return err
				}
			}
		} else if c := collation.Of(t); types.IsTextOnly(t) && !collation.ByBytes(c) {
			return mysql.NewSQLError(1235, "42000", "A row of texts of the collation %s is not compared with a subquery. Compare its columns one by one, or write x COLLATE %s.", c.Name(), collation.Bytes.Name())
		}
		return nil
	}
	for _, e := range list {
		if err := texts(e.Type(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// Collated returns a comparison as one by bytes, its operands being so already, and any other
// expression as it is.
func Collated(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	op, use := "=", collation.ForKey
	switch e := e.(type) {
	case *expression.Equals:
	case *expression.NullSafeEquals:
		op = "<=>"
	case *expression.LessThan:
		op, use = "<", collation.ForSort
	case *expression.GreaterThan:
		op, use = ">", collation.ForSort
	case *expression.LessThanOrEqual:
		op, use = "<=", collation.ForSort
	case *expression.GreaterThanOrEqual:
		op, use = ">=", collation.ForSort
	case *expression.Between:
		op, use = "between", collation.ForSort
	case *expression.InTuple:
		list, ok := e.Right().(expression.Tuple)
		if !ok {
			return e, nil
		}
		if of, rest := kinds(ctx, e.Left(), list); of != nil && rest != nil {
			texts, err := Collated(ctx, expression.NewInTuple(e.Left(), of))
			if err != nil {
				return e, err
			}
			return expression.NewOr(texts, expression.NewInTuple(e.Left(), rest)), nil
		}
		by, changed, err := alikeBy(ctx, "in", use, append([]sql.Expression{e.Left()}, list...)...)
		if err != nil || !changed {
			return e, err
		}
		return expression.NewInTuple(by[0], expression.NewTuple(by[1:]...)), nil
	case *expression.Case:
		return collatedCase(ctx, e)
	case *expression.ConvertUsing:
		switch text := types.IsTextOnly(e.Child.Type(ctx)); e.TargetCharSet {
		case sql.CharacterSet_binary, sql.CharacterSet_utf8mb4:
			if text {
				return e, nil
			}
		}
		return &ConvertUsing{e}, nil
	case *expression.Convert:
		if t := e.Type(ctx); types.IsBinaryType(t) && inLatin1(ctx, e.Child) {
			return e.WithChildren(ctx, Stored(ctx, e.Child))
		}
		return e, nil
	case *expression.Like:
		c, err := Collation(ctx, "like", e.LeftChild, e.RightChild)
		if d, _ := e.CollationCoercibility(ctx); err != nil || collation.ByBytes(c) || c == d {
			return e, err
		}
		return expression.NewLike(expression.NewCollatedExpression(e.LeftChild, c), e.RightChild, e.Escape), nil
	case *gms.NullIf:
		by, changed, err := alikeBy(ctx, "nullif", use, e.LeftChild, e.RightChild)
		if err != nil || !changed {
			return e, err
		}
		return gms.NewIf(ctx, expression.NewNot(expression.NewIsTrue(expression.NewEquals(by[0], by[1]))), e.LeftChild, expression.NewLiteral(nil, types.Null)), nil
	case *aggregation.CountDistinct:
		return collatedCount(ctx, e)
	case *aggregation.Min, *aggregation.Max:
		a := e.(sql.Aggregation)
		c, err := Collation(ctx, "min", a.Children()[0])
		if err != nil || collation.ByBytes(c) {
			return e, err
		}
		return extremum(a, c), nil
	case sql.FunctionExpression:
		return collatedCall(ctx, e)
	default:
		return e, nil
	}
	by, changed, err := alikeBy(ctx, op, use, e.Children()...)
	if err != nil || !changed {
		return e, err
	}
	return e.WithChildren(ctx, by...)
}

// collatedCase is CASE x WHEN a THEN …
func collatedCase(ctx *sql.Context, e *expression.Case) (sql.Expression, error) {
	if e.Expr == nil {
		return e, nil
	}
	list := []sql.Expression{e.Expr}
	list = append(list, lists.Map(e.Branches, func(b expression.CaseBranch) sql.Expression { return b.Cond })...)
	by, changed, err := alikeBy(ctx, "case", collation.ForKey, list...)
	if err != nil || !changed {
		return e, err
	}
	branches := slices.Clone(e.Branches)
	for i := range branches {
		branches[i].Cond = by[i+1]
	}
	return expression.NewCase(by[0], branches, e.Else), nil
}

// collatedCount is COUNT(DISTINCT …).
func collatedCount(ctx *sql.Context, e *aggregation.CountDistinct) (sql.Expression, error) {
	list, changed := slices.Clone(e.Children()), false
	for i, x := range list {
		if t, ok := x.(expression.Tuple); ok && len(t) == 1 {
			x = t[0]
		}
		k, err := Keyed(ctx, x)
		if err != nil {
			return e, err
		}
		if k != x {
			list[i], changed = k, true
		}
	}
	if !changed {
		return e, nil
	}
	return aggregation.NewCountDistinct(list...).WithWindow(ctx, e.Window()).WithId(e.Id()), nil
}

// collatedCall is a function that compares its arguments, or orders them.
func collatedCall(ctx *sql.Context, e sql.FunctionExpression) (sql.Expression, error) {
	name, args := strings.ToLower(e.FunctionName()), e.Children()
	use := collation.ForKey
	var whole sql.Expression = e
	if b, ok := e.(*boundedCall); ok {
		whole = b.Expression
	}
	if c, ok := whole.(*call); ok && c.f.texts != nil {
		if by, k := collationOf(ctx, e); by == sql.Collation_binary && k == none {
			return e, illegalMix(ctx, name, args)
		}
	}
	switch name {
	case "regexp_like", "regexp_instr", "regexp_substr", "regexp_replace":
		return collatedPattern(ctx, name, e, args)
	case "length", "octet_length":
		if len(args) == 1 && inLatin1(ctx, args[0]) { // which has one byte a character
			f, _ := Function("char_length")
			return f.NewInstance(ctx, args)
		}
		return e, nil
	case "hex", "ord", "ascii", "bit_length", "md5", "sha", "sha1", "sha2", "crc32", "to_base64", "compress", "aes_encrypt":
		if len(args) > 0 && inLatin1(ctx, args[0]) {
			if name == "ord" || name == "ascii" {
				return e, mysql.NewSQLError(1235, "42000", "%s of a latin1 text is not supported. Write CONVERT(x USING utf8mb4) for its bytes in UTF-8.", strings.ToUpper(name))
			}
			return e.WithChildren(ctx, append([]sql.Expression{Stored(ctx, args[0])}, args[1:]...)...)
		}
		return e, nil
	case "strcmp":
		use = collation.ForSort
	case "field", "find_in_set": // go-mysql-server's compare by no collation of their arguments
		c, done := e.(*call)
		if _, err := Collation(ctx, name, args...); err != nil || done && c.f.texts != nil || len(args) < 2 || !allTexts(ctx, args) {
			return e, err
		}
		x := &textual{args: "ss", typ: types.Int64, eval: foundInSet}
		if name == "field" {
			x = &textual{args: "s+", typ: types.Int64, nulls: true, eval: foundAmong}
		}
		return newCall(ctx, &function{name: name, min: 2, max: math.MaxUint8 << 8, typ: x.typ, nulls: x.nulls, texts: x}, args), nil
	case "greatest", "least", "locate", "position", "instr":
		c, err := Collation(ctx, name, args[:min(len(args), count(name, len(args)))]...)
		if _, done := e.(*call); err != nil || collation.ByBytes(c) || done && e.(*call).f.texts != nil {
			return e, err
		}
		f := &function{name: name, min: 2, max: 256}
		switch name {
		case "greatest":
			f.texts = extremeText(1)
		case "least":
			f.texts = extremeText(-1)
		default:
			return e, nil
		}
		f.typeOf = f.texts.typeOf
		return newCall(ctx, f, args), nil
	default:
		return e, nil
	}
	by, changed, err := alikeBy(ctx, name, use, args...)
	if err != nil || !changed {
		return e, err
	}
	return e.WithChildren(ctx, by...)
}

// Stored returns a text of latin1 as the bytes that it has there, by which MySQL knows it where
// bytes are wanted, and any other value as it is.
func Stored(ctx *sql.Context, e sql.Expression) sql.Expression {
	if !inLatin1(ctx, e) {
		return e
	}
	f := &function{name: "latin1_bytes", min: 1, max: 1, typ: types.LongBlob, texts: &textual{args: "s", typ: types.LongBlob, eval: func(t *texts) any {
		return []byte(collation.Encoded(sql.CharacterSet_latin1, t.s(0)))
	}}}
	return newCall(ctx, f, []sql.Expression{e})
}

// ConvertUsing is CONVERT(x USING c) of a text, which stays in UTF-8, or of bytes, which are those
// of a text of c.
type ConvertUsing struct{ *expression.ConvertUsing }

// Type implements sql.Expression.
func (c *ConvertUsing) Type(ctx *sql.Context) sql.Type {
	switch set := c.TargetCharSet; {
	case set == sql.CharacterSet_binary:
		return types.LongBlob
	case !types.IsTextOnly(c.Child.Type(ctx)):
		return types.CreateLongText(set.DefaultCollation())
	}
	return c.ConvertUsing.Type(ctx)
}

// Eval implements sql.Expression.
func (c *ConvertUsing) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := evaluated(ctx, c.Child, row)
	if err != nil || v == nil {
		return nil, err
	}
	s, err := words(ctx, v, c.Child.Type(ctx))
	switch set, bytes := c.TargetCharSet, types.IsBinaryType(c.Child.Type(ctx)); {
	case err != nil || set == sql.CharacterSet_binary:
		return []byte(s), err
	case bytes && set == sql.CharacterSet_latin1:
		text, _ := set.Encoder().Decode([]byte(s)) // which has a character for each byte
		return string(text), nil
	case bytes:
		for i := 0; i < len(s); {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 || collation.Outside(set, s[i:i+n]) >= 0 {
				ctx.Warn(1300, "Invalid %s character string: '%X'", set.Name(), s[i:min(i+6, len(s))])
				return nil, nil
			}
			i += n
		}
		return s, nil
	default:
		return collation.Within(set, s), nil
	}
}

// WithChildren implements sql.Expression.
func (c *ConvertUsing) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := c.ConvertUsing.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &ConvertUsing{e.(*expression.ConvertUsing)}, nil
}

// patterns are the arguments of the functions of regular expressions between the texts and how they
// match, as they are where they are left out.
var patterns = map[string][]int64{"regexp_like": nil, "regexp_instr": {1, 1, 0}, "regexp_substr": {1, 1}, "regexp_replace": {1, 0}}

// collatedPattern is a search for a regular expression, which leaves case out where the collation
// does.
func collatedPattern(ctx *sql.Context, name string, e sql.FunctionExpression, args []sql.Expression) (sql.Expression, error) {
	texts := 2
	if name == "regexp_replace" {
		texts = 3
	}
	if len(args) < texts {
		return e, nil
	}
	c, err := Collation(ctx, name, args[:2]...)
	if err != nil || !strings.HasSuffix(c.Name(), "_ci") {
		return e, err
	}
	how, at := "i", texts+len(patterns[name])
	if len(args) > at {
		l, ok := args[at].(*expression.Literal)
		s, text := "", false
		if ok {
			s, text = l.Value().(string)
		}
		if !text || strings.HasPrefix(s, "i") {
			return e, nil
		}
		how += s
	}
	args = slices.Clone(args[:min(len(args), at)])
	for _, n := range patterns[name][len(args)-texts:] {
		args = append(args, expression.NewLiteral(n, types.Int64))
	}
	f, _ := Function(name)
	return f.NewInstance(ctx, append(args, expression.NewLiteral(how, types.LongText)))
}

// allTexts reports whether all arguments are texts, or members that are read as such.
func allTexts(ctx *sql.Context, args []sql.Expression) bool {
	return !slices.ContainsFunc(args, func(e sql.Expression) bool {
		return !e.Resolved() || !types.IsTextOnly(e.Type(ctx)) && !member(e.Type(ctx))
	})
}

// count is how many arguments of a function are compared.
func count(name string, all int) int {
	if name == "locate" || name == "position" {
		return 2
	}
	return all
}

// foundInSet is FIND_IN_SET, whose list has commas and nothing else between its members.
func foundInSet(t *texts) any {
	if t.s(1) == "" {
		return int64(0)
	}
	c := t.collation()
	fold := collation.Fold(c, t.s(0))
	n := int64(0)
	for s := range strings.SplitSeq(t.s(1), ",") {
		if n++; collation.Fold(c, s) == fold {
			return n
		}
	}
	return int64(0)
}

// foundAmong is FIELD.
func foundAmong(t *texts) any {
	if t.args[0] == nil {
		return int64(0)
	}
	c := t.collation()
	at := slices.IndexFunc(t.args[1:], func(v any) bool {
		s, ok := v.(string)
		return ok && collation.Compare(c, s, t.s(0)) == 0
	})
	return int64(at + 1)
}

// extremum is MIN or MAX of texts by their collation.
func extremum(a sql.Aggregation, by sql.CollationID) sql.Aggregation {
	sign := 1
	if _, least := a.(*aggregation.Min); least {
		sign = -1
	}
	return &summary{a, nil, func(child sql.Expression) sql.AggregationBuffer {
		return &extremumBuffer{child: child, collation: by, sign: sign}
	}}
}

type extremumBuffer struct {
	child     sql.Expression
	collation sql.CollationID
	sign      int
	best      any
	text      string // of best
}

// Update implements sql.AggregationBuffer.
func (b *extremumBuffer) Update(ctx *sql.Context, row sql.Row) error {
	v, err := evaluated(ctx, b.child, row)
	if err != nil || v == nil {
		return err
	}
	s, err := words(ctx, v, b.child.Type(ctx))
	if err == nil && (b.best == nil || collation.Compare(b.collation, s, b.text) == b.sign) {
		b.best, b.text = v, s
	}
	return err
}

// Eval implements sql.AggregationBuffer.
func (b *extremumBuffer) Eval(*sql.Context) (any, error) { return b.best, nil }

// Dispose implements sql.Disposable.
func (b *extremumBuffer) Dispose(ctx *sql.Context) { expression.Dispose(ctx, b.child) }
