package lower

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/functions/standard"
	"scrim/internal/refuse"
)

// ErrBindVar is returned for an expression that holds a place holder of a prepared statement: it
// can be lowered once values are bound.
var ErrBindVar = errors.New("lower: expression holds an unbound place holder")

const (
	// maxDepth bounds the nesting of an expression. The store's own bound is 1000 levels of its
	// syntax, of which one level here takes at most ten.
	maxDepth = 40
	// maxSQL bounds one generated fragment, in bytes: guards repeat short operands.
	maxSQL = 256 << 10
	// maxLiteral is the length of the longest text that is a literal in a public statement, in
	// bytes.
	maxLiteral = 64
	// letOver is the length from which a guard names its operand by a lambda instead of repeating
	// it.
	letOver = 160
)

// Lower translates e. Columns of the input are resolved by cols, values are added to b. The error
// is ErrBindVar, or a *refuse.Error of code refuse.Expression that names what is not allowed.
func Lower(ctx *sql.Context, e sql.Expression, b *Binder, cols Columns) (Expr, error) {
	l := &lowerer{ctx: ctx, b: b, cols: cols}
	return l.finish(l.expr(e))
}

// LowerPredicate translates a condition into a BOOLEAN with MySQL's truth of numbers and strings.
// It is meant for places where the store itself takes NULL as false: WHERE, ON, HAVING, WHEN and
// FILTER. It adds no test for NULL, and a condition on days is one on the column itself: by both
// the store leaves parts of a table out.
func LowerPredicate(ctx *sql.Context, e sql.Expression, b *Binder, cols Columns) (Expr, error) {
	l := &lowerer{ctx: ctx, b: b, cols: cols}
	return l.finish(l.nested(e, l.condition))
}

// Convert returns x in another kind, as CAST does, with NULL where that fails. A Decimal target
// takes precision and scale of t. Kinds without a conversion give NULL.
func Convert(x Expr, t Type) Expr {
	l := &lowerer{}
	y, ok := l.convert(x, t)
	if !ok {
		return Expr{SQL: "CAST(NULL AS " + t.duckdb() + ")", Type: t, Nullable: true}
	}
	return l.tight(y)
}

// lowerer is one translation.
type lowerer struct {
	ctx   *sql.Context
	b     *Binder
	cols  Columns
	lets  int
	depth int
	texts []string // text constants, by the number in their marks
	fails int      // how often a fragment has asked whether it may raise
	reads int      // how many columns were read
	// why a conversion is not allowed, which fails the translation when it is complete
	refused error
}

// refuse fails the translation, once it is complete.
func (l *lowerer) refuse(format string, args ...any) {
	if l.refused == nil {
		l.refused = refuse.New(refuse.Expression, format, args...)
	}
}

// hold keeps a text constant and returns a mark for it. What becomes of a constant, a value or a
// pattern or nothing, is known at the end only, and the store wants a use of every bound value.
func (l *lowerer) hold(s string) string {
	l.texts = append(l.texts, s)
	return fmt.Sprintf("CAST(\x00%d\x00 AS VARCHAR)", len(l.texts)-1)
}

var mark = regexp.MustCompile("\x00([0-9]+)\x00")

// finish guards the result and writes the text constants that it uses: short plain ones as they
// are, the others bound.
func (l *lowerer) finish(x Expr, err error) (Expr, error) {
	if err == nil {
		err = l.refused
	}
	if err != nil {
		return Expr{}, err
	}
	x = l.tight(x)
	if len(x.SQL) > maxSQL {
		return Expr{}, refuse.New(refuse.Expression, "The expression is too large.")
	}
	bound := map[string]string{}
	bind := func(sql string) string {
		return mark.ReplaceAllStringFunc(sql, func(m string) string {
			if bound[m] == "" {
				n, _ := strconv.Atoi(strings.Trim(m, "\x00"))
				if t := l.texts[n]; len(t) <= maxLiteral && !strings.ContainsFunc(t, func(r rune) bool { return !plainLetter(r) && !strings.ContainsRune("-#_", r) }) {
					bound[m] = "'" + t + "'"
				} else {
					bound[m] = l.b.Bind(t)
				}
			}
			return bound[m]
		})
	}
	out := Expr{SQL: bind(x.SQL), Type: x.Type, Nullable: x.Nullable, read: x.read, fails: x.fails}
	if exact := x.more; exact.of != nil && x.SQL == exact.text {
		out.more = more{out.SQL, func() Expr {
			y := exact.of()
			y.SQL = bind(y.SQL)
			return y
		}}
	}
	if _, ok := x.Word(); ok {
		out.word = oneWord{text: out.SQL, sql: bind(x.word.sql)}
		for _, g := range x.word.guards {
			out.word.guards = append(out.word.guards, bind(g))
		}
	}
	if d, ok := x.Near(); ok {
		out.near = near{out.SQL, bind(d)}
	}
	return out, nil
}

// expr dispatches on the node.
func (l *lowerer) expr(e sql.Expression) (Expr, error) { return l.nested(e, l.node) }

// nested translates a node within the bounds of depth and size.
func (l *lowerer) nested(e sql.Expression, node func(sql.Expression) (Expr, error)) (Expr, error) {
	if l.depth++; l.depth > maxDepth {
		return Expr{}, refuse.New(refuse.Expression, "The expression is nested deeper than %d levels.", maxDepth)
	}
	defer func() { l.depth-- }()
	fails, reads := l.fails, l.reads
	x, err := node(e)
	x.fails = x.fails || l.fails > fails && l.reads > reads
	if err == nil && len(x.SQL) > maxSQL {
		err = refuse.New(refuse.Expression, "The expression is too large.")
	}
	return x, err
}

func (l *lowerer) node(e sql.Expression) (Expr, error) {
	if standard.FailsByZero(e) {
		return Expr{}, refuse.New(refuse.Expression, "A division by zero is an error in a statement that writes rows.")
	}
	e, err := standard.Collated(l.ctx, standard.Untyped(e))
	if err != nil {
		return Expr{}, err
	}
	switch e := e.(type) {
	case *expression.GetField:
		l.reads++
		if x, ok := l.cols(e); ok {
			return x, nil
		}
		return Expr{}, refuse.New(refuse.Expression, "Column %s does not belong to the tables that this part of the query reads.", e.Name())
	case *standard.Weighed:
		return l.weighed(e)
	case *expression.BindVar:
		return Expr{}, ErrBindVar
	case *expression.Alias:
		return l.expr(e.Child)
	case *expression.Wrapper:
		return l.expr(e.Unwrap())
	case *expression.EnumToString:
		return l.expr(e.Children()[0])
	case *expression.CollatedExpression:
		return l.collated(e)
	case *expression.Literal:
		return l.literal(e.Value(), e.Typ)
	case *expression.SystemVar, *expression.UserVar:
		return l.fold(e)
	case *expression.Equals, *expression.NullSafeEquals, *expression.GreaterThan, *expression.GreaterThanOrEqual,
		*expression.LessThan, *expression.LessThanOrEqual:
		return l.comparison(e.(expression.Comparer))
	case *expression.InTuple:
		return l.in(e.Left(), e.Right())
	case *expression.HashInTuple:
		return l.in(e.Left(), e.Right())
	case *expression.Between:
		return l.between(e)
	case *expression.Like:
		return l.like(e)
	case *expression.And:
		return l.junction(e, " AND ", l.truth)
	case *expression.Or:
		return l.junction(e, " OR ", l.truth)
	case *expression.Xor:
		return l.xor(e)
	case *expression.Not:
		x, err := l.truth(e.Child)
		if err != nil || x.Type.Kind == Null {
			return x, err
		}
		return boolean("(NOT "+x.SQL+")", x), nil
	case *expression.IsNull:
		return l.isNull(e.Child)
	case *expression.IsTrue:
		return l.isTrue(e)
	case *expression.Case:
		return l.caseOf(e)
	case *expression.Arithmetic:
		return l.binary(e.Op, e.LeftChild, e.RightChild)
	case *expression.Div:
		return l.binary("/", e.LeftChild, e.RightChild)
	case *expression.IntDiv:
		return l.binary("DIV", e.LeftChild, e.RightChild)
	case *expression.Mod:
		return l.binary("%", e.LeftChild, e.RightChild)
	case *expression.UnaryMinus:
		return l.negate(e.Child)
	case *expression.Binary:
		x, err := l.expr(e.Child)
		if err != nil || x.Type.Kind == Null || x.Type.Kind == Bytes {
			return x, err
		}
		return l.toString(x), nil // which compares by its bytes anyhow
	case *expression.Convert:
		return l.cast(e)
	case *expression.ConvertUsing:
		return l.using(e)
	case *standard.ConvertUsing:
		return l.using(e.ConvertUsing)
	case expression.Tuple:
		return Expr{}, refuse.New(refuse.Expression, "A row of several values is allowed beside = and IN only.")
	case sql.FunctionExpression:
		return l.call(e)
	}
	return Expr{}, refuse.New(refuse.Expression, "%s is not allowed on protected rows.", describe(e))
}

// using translates CONVERT(x USING c).
func (l *lowerer) using(e *expression.ConvertUsing) (Expr, error) {
	if set := e.TargetCharSet; set != sql.CharacterSet_utf8mb4 { // has not all characters
		return Expr{}, refuse.New(refuse.Expression, "CONVERT to %s is not allowed on protected rows.", set.Name()).With("Texts are compared without it.")
	}
	x, err := l.scalar(e.Child, "CONVERT")
	if err != nil || x.Type.Kind == Null {
		return x, err
	}
	return l.toString(x), nil
}

// describe names a node that is not allowed.
func describe(e sql.Expression) string {
	name := fmt.Sprintf("%T", e)
	name = name[strings.LastIndexByte(name, '.')+1:]
	switch name {
	case "Subquery", "ExistsSubquery", "InSubquery":
		return "A subquery in an expression"
	case "BitOp":
		return "A bit operator"
	case "SetField":
		return "An assignment to a variable"
	case "Star":
		return "*"
	}
	return "The expression " + name
}

// let gives an operand to f by a short name. A short operand is repeated as it is; a long one is
// named by a lambda over a list of one element, so that the SQL does not grow exponentially and the
// store evaluates the operand once.
func (l *lowerer) let(operand string, f func(ref string) string) string {
	if len(operand) <= letOver {
		return f(operand)
	}
	return l.name(operand, f)
}

// name gives an operand to f by a lambda's name, however short it is.
func (l *lowerer) name(operand string, f func(ref string) string) string {
	l.lets++
	ref := fmt.Sprintf("scrim__%d", l.lets)
	if l.b != nil && l.b.Rows {
		return "(SELECT " + f(ref+".v") + " FROM (SELECT " + operand + " AS v) AS " + ref + ")"
	}
	return "list_transform([" + operand + "], lambda " + ref + ": " + f(ref) + ")[1]"
}

// tight makes a Double NULL where it is NaN or infinite.
func (l *lowerer) tight(x Expr) Expr {
	if !x.loose {
		return x
	}
	x.SQL = l.let(x.SQL, func(r string) string {
		beyond := ""
		if l.raises() {
			beyond = " WHEN isinf(" + r + ") THEN error('a DOUBLE value is out of range')"
		}
		return "CASE WHEN isfinite(" + r + ") THEN " + r + beyond + " END"
	})
	if strings.HasPrefix(x.SQL, "CASE") {
		x.SQL = "(" + x.SQL + ")"
	}
	x.loose, x.Nullable = false, true
	return x
}

func null() Expr { return Expr{SQL: "NULL", Type: Type{Kind: Null}, Nullable: true} }

func boolean(s string, from ...Expr) Expr { return of(Bool, s, from...) }

// of builds an expression of a kind that is NULL only where an operand is.
func of(k Kind, s string, from ...Expr) Expr {
	x := Expr{SQL: s, Type: Type{Kind: k}}
	for _, f := range from {
		x.Nullable = x.Nullable || f.Nullable
	}
	return x
}

// maybe builds an expression of a kind that may be NULL where its operands are not.
func maybe(k Kind, s string) Expr { return Expr{SQL: s, Type: Type{Kind: k}, Nullable: true} }

// loose builds a Double that may be NaN or infinite.
func loose(s string) Expr {
	return Expr{SQL: s, Type: Type{Kind: Double}, Nullable: true, loose: true}
}

func decimal(s string, p, scale int, nullable bool) Expr {
	return Expr{SQL: s, Type: Type{Kind: Decimal, Precision: p, Scale: scale}, Nullable: nullable}
}

// Kind is the type family of a lowered expression in the store.
type Kind uint8

// Kinds, with the store type that an expression of the kind has.
const (
	Null     Kind = iota // an untyped NULL
	Bool                 // BOOLEAN
	Int                  // BIGINT
	UInt                 // UBIGINT
	Decimal              // DECIMAL(Precision, Scale)
	Double               // DOUBLE, never NaN or infinite: those are NULL
	String               // VARCHAR
	Date                 // DATE
	Datetime             // TIMESTAMP
	Time                 // INTERVAL
	JSON                 // JSON text
	Array                // DOUBLE[n] or a list
	Bytes                // BLOB
)

// Type is the store type of a lowered expression.
type Type struct {
	Kind             Kind
	Precision, Scale int // of Decimal; the scale of a Datetime is how many digits its text has at least
	// Of Double, for a FLOAT column of public rows: its text has fewer digits.
	Single bool `encode:"omitzero"`
	// Of Array: whether the elements are numbers, and then how many each has; 0 for lists, which
	// vary.
	Numbers bool
	Length  int
	// Quotient, of Decimal: the digits before the point follow from those of the operands, and say
	// nothing of the values
	Quotient bool
	// Of String, for a column of ENUM or SET: "enum" or "set" and the members, between zero bytes.
	// It is a number by them where MySQL takes a number.
	Members string `encode:"omitzero"`
	// Of UInt: a BIT column, whose text is its bytes instead of its digits.
	Bits bool `encode:"omitzero"`
}

// Expr is a lowered expression: generated SQL that cannot raise on any row.
type Expr struct {
	SQL      string
	Type     Type
	Nullable bool
	Subquery bool // is named once where that can be: the store runs it again for each name

	read   read    // what is known of it as a column
	word   oneWord // what it is in a machine word
	near   near    // what it nearly is as a Double
	more   more    // what it is before it was rounded
	loose  bool    // a Double that may be NaN or infinite: within the translation only
	digits int     // decimal digits of an integer; 0 when not known
	number *int64  // value of an integer constant
	text   *string // value of a string constant
	binary bool    // a constant given by its bytes, which MySQL may take for a number
	fails  bool    // a row may make it an error
}

// read is what ReadColumn knows of a column. It says something of an expression only while that
// is still the text that ReadColumn returned.
type read struct {
	text   string
	bare   string // the column itself, NaN and infinities included
	single bool   // the column is a FLOAT
	moment string // the column itself, days outside the years 1 to 9999 included
	whole  string // the column itself, of an integer type of at most 32 bits
	digits int    // decimal digits of such a type; 0 of other types
}

// Bare returns the column under a Double that is a column as it was read: the same number, but NaN
// and infinities are themselves instead of NULL.
func (e Expr) Bare() (string, bool) { return e.read.bare, e.read.bare != "" && e.SQL == e.read.text }

// Narrow reports whether the expression is a column as it was read, of an integer type of at most
// 32 bits.
func (e Expr) Narrow() bool { return e.read.digits > 0 && e.SQL == e.read.text }

// asDecimal casts a number of no more digits: a column without a step over BIGINT.
func (e Expr) asDecimal(p, s int) string {
	x := e.SQL
	if e.Narrow() {
		x = e.read.whole
	}
	return fmt.Sprintf("CAST(%s AS DECIMAL(%d,%d))", x, p, s)
}

// Binder collects the values of one generated statement. Text that comes from a client is only
// ever a bound value.
type Binder struct {
	args []any
	// Rows names long operands by rows of one value instead of lambdas, in which the store takes
	// neither subqueries nor columns of the query around one.
	Rows bool
	// Raise makes an integer beyond 64 bits and a DECIMAL beyond 38 digits an error, as MySQL does:
	// for public rows. NULL otherwise.
	Raise bool
}

// Bind adds a value and returns its place holder, which may be used more than once.
func (b *Binder) Bind(v any) string {
	b.args = append(b.args, v)
	return "$" + strconv.Itoa(len(b.args))
}

// Clone returns a binder that goes on from the values of b.
func (b *Binder) Clone() *Binder {
	c := *b
	c.args = slices.Clip(c.args)
	return &c
}

// Args returns the values in the order of their place holders.
func (b *Binder) Args() []any { return b.args }

// Columns resolves a column of the input to its lowered form; false when it is not of this input.
type Columns func(*expression.GetField) (Expr, bool)

// AsDouble is SQL for a number as DOUBLE: NULL, NaN or infinite where it is absent.
func (x Expr) AsDouble() string {
	x = Convert(x, Type{Kind: Double})
	if bare, ok := x.Bare(); ok {
		return bare
	}
	return x.SQL
}
