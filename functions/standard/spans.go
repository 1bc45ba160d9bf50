package standard

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// spanType is TIME(digits). go-mysql-server has one type for all of them, which is TIME without
// digits here.
type spanType struct {
	types.TimespanType_
	digits int
}

// TimeType is TIME(digits).
func TimeType(digits int) sql.Type {
	if digits <= 0 {
		return types.Time
	}
	return spanType{digits: min(digits, 6)}
}

// IsTimespan reports whether a type is TIME, with digits or without.
func IsTimespan(t sql.Type) bool {
	_, digits := t.(spanType)
	return digits || types.IsTimespan(t)
}

// SpanDigits is n of TIME(n).
func SpanDigits(t sql.Type) int {
	s, _ := t.(spanType)
	return s.digits
}

// SecondDigits is n of TIME(n), for what describes results.
func (t spanType) SecondDigits() int { return t.digits }

// Equals implements sql.Type.
func (t spanType) Equals(o sql.Type) bool { return t == o }

// Promote implements sql.Type.
func (t spanType) Promote() sql.Type { return t }

// String implements sql.Type.
func (t spanType) String() string { return fmt.Sprintf("time(%d)", t.digits) }

// SQL implements sql.Type.
func (t spanType) SQL(_ *sql.Context, dest []byte, v any) (sqltypes.Value, error) {
	if v == nil {
		return sqltypes.NULL, nil
	}
	by, err := t.ConvertToTimespan(v)
	if err != nil {
		return sqltypes.NULL, err
	}
	return sqltypes.MakeTrusted(sqltypes.Time, append(dest, t.text(by.AsMicroseconds())...)), nil
}

// text writes a TIME with the digits of its type.
func (t spanType) text(us int64) string {
	return formatSpan(us, "%H:%i:%s") + fmt.Sprintf(".%06d", max(us, -us)%1e6)[:1+t.digits]
}

// shownSpan writes a TIME of a type.
func shownSpan(t sql.Type, us int64) string {
	if s, ok := t.(spanType); ok {
		return s.text(us)
	}
	return spanText(us)
}

// secondDigits are the digits of a second that MySQL expects of a value that is read as a date or
// time: those of a constant text, six of another one.
func secondDigits(ctx *sql.Context, e sql.Expression) int {
	t := e.Type(ctx)
	switch d := t.(type) {
	case spanType:
		return d.digits
	case sql.DatetimeType:
		if types.IsDateType(t) {
			return 0
		}
		return d.Precision()
	case sql.DecimalType:
		return min(int(d.Scale()), 6)
	}
	switch {
	case types.IsText(t) && isLiteral(e):
		s, _ := plainText(e.(*expression.Literal).Value())
		_, fraction, _ := strings.Cut(strings.TrimSpace(s), ".")
		return min(len(fraction)-len(strings.TrimLeft(fraction, "0123456789")), 6)
	case types.IsText(t), member(t), types.IsFloat(t), types.IsJSON(t), types.IsDeferredType(t):
		return 6
	}
	return 0
}

// spanOf is the type of a TIME that is made of arguments, with as many digits as one of them has.
func spanOf(ctx *sql.Context, args []sql.Expression) sql.Type {
	return TimeType(mostDigits(ctx, args))
}

func mostDigits(ctx *sql.Context, args []sql.Expression) (digits int) {
	for _, a := range args {
		digits = max(digits, secondDigits(ctx, a))
	}
	return digits
}

// secondsType is the type of a TIME whose seconds are a number, the last argument. A text has six
// digits then.
func secondsType(ctx *sql.Context, args []sql.Expression) sql.Type {
	last := args[len(args)-1]
	if types.IsText(last.Type(ctx)) {
		return TimeType(6)
	}
	return TimeType(secondDigits(ctx, last))
}
