package lower

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/functions/standard"
	"scrim/internal/refuse"
)

var plainDecimal = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// Literal translates a constant of an SQL type. Strings are bound; numbers and dates, whose text is
// made here, are written out.
func Literal(ctx *sql.Context, v any, t sql.Type, b *Binder) (Expr, error) {
	l := &lowerer{ctx: ctx, b: b}
	return l.finish(l.literal(v, t))
}

func (l *lowerer) literal(v any, t sql.Type) (Expr, error) {
	v, err := sql.UnwrapAny(l.ctx, v)
	if err != nil {
		return Expr{}, refuse.New(refuse.Expression, "A constant could not be read.")
	}
	switch v := v.(type) {
	case nil:
		return null(), nil
	case bool:
		return Expr{SQL: strings.ToUpper(strconv.FormatBool(v)), Type: Type{Kind: Bool}}, nil
	case int, int8, int16, int32, int64:
		return integer(reflect.ValueOf(v).Int()), nil
	case uint8, uint16, uint32:
		return integer(int64(reflect.ValueOf(v).Uint())), nil
	case uint, uint64:
		return unsigned(reflect.ValueOf(v).Uint()), nil
	case float32, float64:
		return double(reflect.ValueOf(v).Float()), nil
	case *apd.Decimal:
		return decimalLiteral(v.Text('f'))
	case apd.Decimal:
		return decimalLiteral(v.Text('f'))
	case string:
		if x, ok := l.temporalText(v, t); ok {
			return x, nil
		}
		return l.text(v)
	case types.Timespan:
		return span(v), nil
	case []byte:
		if !utf8.Valid(v) || bytes.IndexByte(v, 0) >= 0 {
			return Expr{SQL: "unhex('" + hex.EncodeToString(v) + "')", Type: Type{Kind: Bytes}}, nil
		}
		x, err := l.text(string(v))
		x.binary = true
		return x, err
	case time.Time:
		k := Datetime
		if isDate(t) {
			k = Date
		}
		return moment(v, k), nil
	case sql.JSONWrapper:
		return Expr{}, refuse.New(refuse.Expression, "A JSON constant is not allowed on protected rows.")
	}
	return Expr{}, refuse.New(refuse.Expression, "A constant of type %s is not allowed on protected rows.", t.String())
}

func clip(s string) string {
	if len(s) > 32 {
		return s[:32] + "…"
	}
	return s
}

func integer(v int64) Expr {
	n := len(strings.TrimPrefix(strconv.FormatInt(v, 10), "-"))
	s := fmt.Sprintf("%d::BIGINT", v)
	if v < 0 {
		s = fmt.Sprintf("(%d)::BIGINT", v)
	}
	if v == math.MinInt64 { // the sign is not part of the number in the store's syntax
		s = "CAST('-9223372036854775808' AS BIGINT)"
	}
	return Expr{SQL: s, Type: Type{Kind: Int}, digits: n, number: &v}
}

func unsigned(v uint64) Expr {
	if v <= math.MaxInt64 {
		return integer(int64(v))
	}
	s := strconv.FormatUint(v, 10)
	return Expr{SQL: s + "::UBIGINT", Type: Type{Kind: UInt}, digits: len(s)}
}

func double(v float64) Expr {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Expr{SQL: "CAST(NULL AS DOUBLE)", Type: Type{Kind: Double}, Nullable: true}
	}
	return Expr{SQL: "CAST('" + strconv.FormatFloat(v, 'g', -1, 64) + "' AS DOUBLE)", Type: Type{Kind: Double}}
}

func decimalLiteral(s string) (Expr, error) {
	if !plainDecimal.MatchString(s) {
		return Expr{}, refuse.New(refuse.Expression, "The decimal constant %s is not allowed on protected rows.", clip(s))
	}
	digits := strings.TrimLeft(strings.TrimPrefix(s, "-"), "0")
	scale := 0
	if i := strings.IndexByte(digits, '.'); i >= 0 {
		scale = len(digits) - i - 1
	}
	p := max(len(strings.Replace(digits, ".", "", 1)), scale, 1)
	if p > maxPrecision {
		return Expr{}, refuse.New(refuse.Expression, "The decimal constant %s has more than %d digits.", clip(s), maxPrecision)
	}
	return decimal(fmt.Sprintf("CAST('%s' AS DECIMAL(%d,%d))", s, p, scale), p, scale, false), nil
}

func (l *lowerer) text(s string) (Expr, error) {
	if !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
		return Expr{}, refuse.New(refuse.Expression, "A string constant that is not valid UTF-8 text is not allowed on protected rows.")
	}
	return Expr{SQL: l.hold(s), Type: Type{Kind: String}, text: &s}, nil
}

// temporalText translates DATE 'text', TIME 'text' and TIMESTAMP 'text', whose value is the text.
func (l *lowerer) temporalText(s string, t sql.Type) (Expr, bool) {
	var x Expr
	switch {
	case standard.IsTimespan(t):
		v, err := types.Time.ConvertToTimespan(s)
		if err != nil {
			return x, false
		}
		x = span(v)
	case types.IsTime(t):
		if x = l.constantMoment(s); strings.HasPrefix(x.SQL, "CAST(NULL") {
			return x, false
		}
		if isDate(t) {
			_, x = l.alike(Expr{Type: Type{Kind: Date}}, x)
		}
	default:
		return x, false
	}
	x.text = &s
	return x, true
}

func span(v types.Timespan) Expr {
	return of(Time, fmt.Sprintf("to_microseconds(%d)", v.AsMicroseconds()))
}

// moment writes a temporal constant; years outside 1 to 9999 are NULL.
func moment(v time.Time, k Kind) Expr {
	v = v.UTC().Truncate(time.Microsecond)
	if v.Year() < 1 || v.Year() > 9999 {
		return Expr{SQL: "CAST(NULL AS " + Type{Kind: k}.duckdb() + ")", Type: Type{Kind: k}, Nullable: true}
	}
	if k == Date {
		return Expr{SQL: "DATE '" + v.Format("2006-01-02") + "'", Type: Type{Kind: Date}}
	}
	return Expr{SQL: "TIMESTAMP '" + v.Format("2006-01-02 15:04:05.999999") + "'", Type: Type{Kind: Datetime}}
}
