package lower

import (
	"strconv"

	"github.com/dolthub/go-mysql-server/sql/expression"
)

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
	Precision, Scale int // of Decimal
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

	read   read    // what is known of it as a column
	word   oneWord // what it is in a machine word
	near   near    // what it nearly is as a Double
	loose  bool    // a Double that may be NaN or infinite: within the translation only
	digits int     // decimal digits of an integer constant; 0 when not known
	number *int64  // value of an integer constant
	text   *string // value of a string constant
	binary bool    // a constant given by its bytes, which MySQL may take for a number
}

// read is what ReadColumn knows of a column. It says something of an expression only while that
// is still the text that ReadColumn returned.
type read struct {
	text   string
	bare   string // the column itself, NaN and infinities included
	moment string // the column itself, days outside the years 1 to 9999 included
	narrow bool   // an integer type of at most 32 bits
}

// Bare returns the column under a Double that is a column as it was read: the same number, but NaN
// and infinities are themselves instead of NULL.
func (e Expr) Bare() (string, bool) { return e.read.bare, e.read.bare != "" && e.SQL == e.read.text }

// Narrow reports whether the expression is a column as it was read, of an integer type of at most
// 32 bits.
func (e Expr) Narrow() bool { return e.read.narrow && e.SQL == e.read.text }

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
