package dialect

import (
	"fmt"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/internal/lists"
	"scrim/internal/sqltext"
)

// Functions are the functions that the rules write into statements.
func Functions() []sql.Function {
	return []sql.Function{
		sql.Function2{Name: AssignFunction, Fn: newAssign},
		inversion.function(),
		wholeness.function(),
	}
}

// assign is @x := expr: it sets the variable for each row that it is evaluated for, and is the
// expression's value.
type assign struct {
	expression.UnaryExpressionStub
	name string
	typ  sql.Type
}

var (
	_ sql.FunctionExpression         = (*assign)(nil)
	_ sql.NonDeterministicExpression = (*assign)(nil)
)

// newAssign binds an assignment. A variable that there is not yet gets the expression's type at
// once, since what reads it in the same statement is bound before the first row.
func newAssign(ctx *sql.Context, variable, value sql.Expression) sql.Expression {
	a := &assign{UnaryExpressionStub: expression.UnaryExpressionStub{Child: value}, typ: variableType(value.Type(ctx))}
	if l, ok := variable.(*expression.Literal); ok {
		a.name, _ = l.Value().(string)
	}
	if t, v, err := ctx.GetUserVariable(ctx, a.name); err == nil && v == nil && (t == nil || t == types.Null) {
		_ = ctx.SetUserVariable(ctx, a.name, nil, a.typ) // the session has its variables in memory
	}
	return a
}

// variableType is the type that a variable takes over from an expression: the widest of its kind.
func variableType(t sql.Type) sql.Type {
	switch {
	case types.IsUnsigned(t):
		return types.Uint64
	case types.IsInteger(t), types.IsBoolean(t):
		return types.Int64
	case types.IsFloat(t):
		return types.Float64
	case types.IsText(t), types.IsEnum(t), types.IsSet(t), types.IsJSON(t), types.IsTime(t):
		return types.LongText
	}
	return t
}

// Eval implements sql.Expression.
func (a *assign) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := a.Child.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	if v != nil {
		if t := a.Child.Type(ctx); types.IsEnum(t) || types.IsSet(t) {
			if v, _, err = types.TypeAwareConversion(ctx, v, t, a.typ); err != nil {
				return nil, err
			}
		}
		if v, _, err = a.typ.Convert(ctx, v); err != nil {
			return nil, err
		}
	}
	return v, ctx.SetUserVariable(ctx, a.name, v, a.typ)
}

// FunctionName implements sql.FunctionExpression.
func (a *assign) FunctionName() string { return AssignFunction }

// Description implements sql.FunctionExpression.
func (a *assign) Description() string { return "sets a user variable and returns its value." }

// IsNonDeterministic implements sql.NonDeterministicExpression.
func (a *assign) IsNonDeterministic() bool { return true }

// Type implements sql.Expression.
func (a *assign) Type(*sql.Context) sql.Type { return a.typ }

// IsNullable implements sql.Expression.
func (a *assign) IsNullable(*sql.Context) bool { return true }

func (a *assign) String() string { return fmt.Sprintf("@%s := %s", a.name, a.Child) }

// WithChildren implements sql.Expression.
func (a *assign) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(a, len(children), 1)
	}
	n := *a
	n.Child = children[0]
	return &n, nil
}

// assignment makes a call of @x := expr, which the grammar has in SET only:
//
//	SELECT @n := id + 1 FROM t
//	SELECT `@:=`('n', id + 1) FROM t
//
// The expression reaches as far as it can, since := binds last.
func (s *statement) assignment(i int) {
	if s.text(i) != ":=" || i == 0 || s.tokens[i-1].kind != variable || s.is(0, "SET") && !s.inBrackets(i) {
		return
	}
	v := s.text(i - 1)
	if len(v) > 1 && v[1] == '@' {
		return // not a user's variable: the grammar says what is wrong
	}
	s.replace(i-1, i, sqltext.Name(AssignFunction)+"("+sqltext.Text(s.host(i-1))+", ")
	s.before(s.expression(i+1), ")")
}

// AssignFunction is the name of the function that @x := expr becomes: no text of a client's calls
// it by chance.
const AssignFunction = "@:="

// inBrackets reports whether a token stands in brackets.
func (s *statement) inBrackets(i int) bool {
	depth := 0
	for k := 0; k < i && s.step(); k++ {
		switch {
		case s.is(k, "("):
			depth++
		case s.is(k, ")"):
			depth--
		}
	}
	return depth > 0
}

// expression returns the token behind the expression that begins at i.
func (s *statement) expression(i int) int {
	operand, cases := false, 0 // what stood before was an operand; open CASEs
	for ; i < len(s.tokens); i++ {
		if !s.step() {
			return len(s.tokens)
		}
		switch t := &s.tokens[i]; {
		case s.is(i, "(", "{"):
			i = s.close(i)
			operand = true
		case s.is(i, ",", ")", "}"):
			return i
		case s.is(i, "CASE"):
			cases++
			operand = false
		case s.is(i, "END") && cases > 0:
			cases--
			operand = true
		case cases > 0:
		case t.kind == mark:
			operand = s.is(i, "*") && !operand
		case t.kind == word && closing[t.upper(s.src)] && !(s.is(i, "LEFT", "RIGHT") && s.is(i+1, "(")):
			return i
		case t.kind == word && operators[t.upper(s.src)]:
			operand = false
		case operand && !s.is(i-1, ".") && t.start > s.tokens[i-1].end:
			return i // a name given without AS
		default:
			operand = true
		}
	}
	return i
}

// closing are the words that end an expression, operators those that go on in one.
var (
	closing = lists.Words("FROM WHERE GROUP HAVING ORDER LIMIT UNION EXCEPT INTERSECT INTO FOR LOCK AS WHEN THEN ELSE END ASC DESC ON USING WINDOW " +
		"JOIN LEFT RIGHT INNER CROSS NATURAL STRAIGHT_JOIN SEPARATOR")
	operators = lists.Words("AND OR XOR NOT IN IS LIKE BETWEEN DIV MOD REGEXP RLIKE COLLATE INTERVAL BINARY ESCAPE SOUNDS DATE TIME TIMESTAMP " +
		"EXISTS ANY ALL SOME DISTINCT _UTF8 _UTF8MB4 _BINARY _LATIN1")
)

// The names of functions of one argument that rules write into statements.
const (
	// what ~x becomes: all 64 bits of a whole number the other way round
	InvertFunction = "~"
	WholeFunction  = "whole letters" // what GROUP_CONCAT stands in: no piece of a letter at the end
)

// operation is what such a function does. Its value is NULL of NULL.
type operation struct {
	name, doc string
	prefix    string // of the text
	typ       sql.Type
	eval      func(ctx *sql.Context, v any) (any, error)
}

var (
	inversion = operation{InvertFunction, "inverts all bits of a whole number.", "~", types.Uint64, invert}
	wholeness = operation{WholeFunction, "leaves an unfinished letter at the end out.", "", nil, whole}
)

func invert(ctx *sql.Context, v any) (any, error) {
	if u, ok := v.(uint64); ok {
		return ^u, nil
	}
	n, _, err := types.Int64.Convert(ctx, v)
	if err != nil && n != nil && sql.ErrTruncatedIncorrect.Is(err) { // a text that is a number at its beginning
		ctx.Warn(mysql.ERTruncatedWrongValue, "%s", err.Error())
		err = nil
	}
	if err != nil || n == nil {
		return nil, err
	}
	return ^uint64(n.(int64)), nil
}

func whole(ctx *sql.Context, v any) (any, error) {
	v, err := sql.UnwrapAny(ctx, v)
	if s, ok := v.(string); ok && err == nil {
		return wholeLetters(s), nil
	}
	return v, err
}

// wholeLetters leaves an unfinished letter at the end of a text out. Bytes that begin none stay.
func wholeLetters(s string) string {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if b := s[len(s)-n]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRuneInString(s[len(s)-n:]) {
				return s[:len(s)-n]
			}
			return s
		}
	}
	return s
}

// function is the operation as go-mysql-server calls it.
func (o *operation) function() sql.Function {
	return sql.Function1{Name: o.name, Fn: func(_ *sql.Context, e sql.Expression) sql.Expression { return o.of(e) }}
}

func (o *operation) of(e sql.Expression) *unary {
	return &unary{expression.UnaryExpressionStub{Child: e}, o}
}

// unary is an operation on an expression.
type unary struct {
	expression.UnaryExpressionStub
	op *operation
}

var _ sql.FunctionExpression = (*unary)(nil)

// Eval implements sql.Expression.
func (u *unary) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := u.Child.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	return u.op.eval(ctx, v)
}

// FunctionName implements sql.FunctionExpression.
func (u *unary) FunctionName() string { return u.op.name }

// Description implements sql.FunctionExpression.
func (u *unary) Description() string { return u.op.doc }

// Type implements sql.Expression.
func (u *unary) Type(ctx *sql.Context) sql.Type {
	if u.op.typ == nil {
		return u.Child.Type(ctx)
	}
	return u.op.typ
}

func (u *unary) String() string { return u.op.prefix + u.Child.String() }

// WithChildren implements sql.Expression.
func (u *unary) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(u, len(children), 1)
	}
	return u.op.of(children[0]), nil
}
