package tables

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"

	"scrim/engine/store"
	"scrim/functions/standard"
	"scrim/internal/sqltext"
)

// writeValue is keptValue of a value that a row is about to have. A CHAR has no blanks at its end.
func writeValue(ctx *sql.Context, v any, t sql.Type, column store.Column) (any, error) {
	if err := hasPlace(ctx, v, t, column.Name, 0); err != nil {
		return nil, err
	}
	w, err := keptValue(ctx, v, t, column)
	if x, ok := w.(string); ok && t.Type() == sqltypes.Char {
		w = strings.TrimRight(x, " ")
	}
	return w, err
}

// hasPlace refuses two values that MySQL keeps and the store cannot: a date with a year under 1,
// such as 0000-00-00, which the store would change, and a TIME outside of a day. The error names
// the row, unless it is 0.
func hasPlace(ctx *sql.Context, v any, t sql.Type, column string, row int) error {
	at := "'" + column + "'"
	if row > 0 {
		at = fmt.Sprintf("%s at row %d", at, row)
	}
	switch x := v.(type) {
	case types.Timespan:
		if standard.IsTimespan(t) && (x < 0 || x.AsTimeDuration() > 24*time.Hour) {
			return mysql.NewSQLError(mysql.ERWarnDataOutOfRange, mysql.SSDataOutOfRange, "The value '%s' for column %s is not supported. Columns of TIME hold 00:00:00 to 24:00:00.", x, at)
		}
	case time.Time:
		if x.Year() < 1 {
			kind, _, _ := strings.Cut(t.String(), "(")
			text, _ := t.SQL(ctx, nil, x)
			return mysql.NewSQLError(1292, "22007", "Incorrect %s value: '%s' for column %s", kind, text.ToString(), at)
		}
	}
	return nil
}

// keptValue turns an SQL value of type t into what the store takes for a column of the given store
// type: nil, bool, int64, uint64, float64, string, []byte, time.Time or []any of these.
// NaN and infinities are NULL: the server knows no such numbers.
func keptValue(ctx *sql.Context, v any, t sql.Type, column store.Column) (any, error) {
	if v == nil {
		return nil, nil
	}
	v, err := sql.UnwrapAny(ctx, v)
	if err != nil {
		return nil, err
	}
	stored := strings.ToUpper(column.Type)
	if strings.HasSuffix(stored, "]") {
		return writeList(ctx, v, column)
	}
	switch x := v.(type) {
	case sql.JSONWrapper:
		return types.JsonToMySqlString(ctx, x)
	case types.Timespan:
		return x.String(), nil
	case *apd.Decimal:
		return x.Text('f'), nil
	case float32:
		return writeFloat(float64(x)), nil
	case float64:
		return writeFloat(x), nil
	case int64:
		return writeInt(x, stored), nil
	case int, int8, int16, int32:
		return writeInt(reflect.ValueOf(x).Int(), stored), nil
	case uint8, uint32:
		return writeInt(int64(reflect.ValueOf(x).Uint()), stored), nil
	case uint16, uint, uint64:
		return writeEnum(t, reflect.ValueOf(x).Uint(), stored, column)
	case bool:
		if stored == "BOOLEAN" {
			return x, nil
		}
		if x {
			return int64(1), nil
		}
		return int64(0), nil
	case time.Time:
		return x.UTC(), nil
	case string:
		if stored == "BLOB" {
			return []byte(x), nil
		}
		return x, nil
	case []byte:
		if stored == "VARCHAR" {
			return string(x), nil
		}
		return x, nil
	}
	return nil, fmt.Errorf("tables: a value of type %T cannot be stored", v)
}

func writeFloat(x float64) any {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return x
}

func writeInt(x int64, stored string) any {
	if stored == "BOOLEAN" {
		return x != 0
	}
	return x
}

// writeEnum writes unsigned values, among them those of ENUM and SET, which are kept as their text.
// An empty member and no member are the same text there: the one that would be read as the other is
// refused.
func writeEnum(t sql.Type, x uint64, stored string, column store.Column) (any, error) {
	text, same, err := "", false, error(nil)
	switch e := t.(type) {
	case sql.EnumType:
		text, _ = e.At(int(x))
		same = x == 0 && slices.Contains(e.Values(), "")
	case sql.SetType:
		text, err = e.BitsToString(x)
		same = text == "" && x != 0
	default:
		if x <= math.MaxInt64 {
			return writeInt(int64(x), stored), nil
		}
		return x, nil
	}
	if err == nil && same {
		err = unsupported("Give the member letters.", "The value %d for column '%s', which shows as another one, is not supported.", x, column.Name)
	}
	return text, err
}

// writeList reads a JSON array, text or document, as a list of numbers of the column's length.
func writeList(ctx *sql.Context, v any, column store.Column) (any, error) {
	text, ok := v.(string)
	if w, isJSON := v.(sql.JSONWrapper); isJSON {
		s, err := types.JsonToMySqlString(ctx, w)
		if err != nil {
			return nil, err
		}
		text, ok = s, true
	}
	var list []any
	if !ok || json.Unmarshal([]byte(text), &list) != nil {
		return nil, badList(column)
	}
	if n, fixed := fixedLength(column.Type); fixed && n != len(list) {
		return nil, badList(column)
	}
	for _, x := range list {
		if _, isNumber := x.(float64); !isNumber && x != nil {
			return nil, badList(column)
		}
	}
	return list, nil
}

func badList(column store.Column) error {
	return sql.ErrInvalidValue.New("JSON", fmt.Sprintf("column %s, which takes a JSON array for %s", column.Name, column.Type))
}

// fixedLength returns n of DOUBLE[n]; false for a list of any length.
func fixedLength(storeType string) (int, bool) {
	var n int
	open := strings.LastIndexByte(storeType, '[')
	if open < 0 {
		return 0, false
	}
	_, err := fmt.Sscanf(storeType[open:], "[%d]", &n)
	return n, err == nil
}

// readSQL returns the expression that reads a stored column for a client, in one of the forms that
// store.Values has.
func readSQL(c store.Column) string {
	name := sqltext.StoreName(c.Name)
	t := strings.ToUpper(c.Type)
	switch {
	case strings.HasSuffix(t, "]"), strings.HasPrefix(t, "DECIMAL"), strings.HasPrefix(t, "TIMESTAMP"):
		return name
	}
	switch t {
	case "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT",
		"UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
		"FLOAT", "DOUBLE", "VARCHAR", "BLOB", "DATE", "TIME", "INTERVAL":
		return name
	}
	return "CAST(" + name + " AS VARCHAR)"
}

// reader turns a value of the store into an SQL value of one type.
type reader func(ctx *sql.Context, v any) (any, error)

// readerOf returns the reader of a type:
//
//	bool                       0 or 1
//	NaN, infinities            NULL
//	Duration                   TIME
//	lists, JSON text           JSON
//	*apd.Decimal, *big.Int, others  by the type's own conversion
//
// A date that the type cannot hold, such as of the year 12000, is NULL, as it is to private
// queries, and so is an imported HUGEINT of more than 38 digits; other numbers are errors.
func readerOf(name string, t sql.Type) reader {
	number := types.IsNumber(t)
	convert := func(ctx *sql.Context, v any) (any, error) {
		converted, in, err := t.Convert(ctx, v)
		if number && (err != nil || in != sql.InRange) {
			return nil, mysql.NewSQLError(mysql.ERDataOutOfRange, mysql.SSDataOutOfRange, "A value of %s is no %s", name, strings.ToUpper(t.String()))
		}
		if err != nil || in != sql.InRange {
			if v == "" && types.IsEnum(t) {
				return uint16(0), nil // what IGNORE makes of a text that is no member
			}
			return nil, nil
		}
		return converted, nil
	}
	exact, _ := t.(sql.DecimalType)
	// there is nothing to round and no range to check in whole seconds
	seconds := t.Type() == sqltypes.Date || t.Type() == sqltypes.Datetime
	return func(ctx *sql.Context, v any) (any, error) {
		switch x := v.(type) {
		case nil:
			return nil, nil
		case bool:
			n := int64(0)
			if x {
				n = 1
			}
			return convert(ctx, n)
		case int64:
			switch {
			case t == types.Int64:
				return x, nil
			case t == types.Int32 && int64(int32(x)) == x:
				return int32(x), nil
			}
		case time.Duration:
			return types.Timespan(x.Microseconds()), nil
		case float64:
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, nil
			}
			if t == types.Float64 {
				return x, nil
			}
		case string:
			if types.IsJSON(t) {
				return readJSON(x), nil
			}
			if types.IsTextOnly(t) {
				return x, nil
			}
		case []byte:
			if types.IsBinaryType(t) {
				return x, nil
			}
		case time.Time:
			if y := x.Year(); y < 1 || y > 9999 {
				return nil, nil
			}
			if seconds && x.Nanosecond() == 0 {
				return x, nil
			}
		case *apd.Decimal:
			if fits(x, exact) {
				return x, nil
			}
			if exact != nil {
				x = standard.Rounded(x, int(exact.Scale()))
				if fits(x, exact) {
					return x, nil
				}
			}
			return convert(ctx, x.Text('f'))
		case *big.Int:
			if n, in, err := t.Convert(ctx, x.String()); err == nil && in == sql.InRange {
				return n, nil
			}
			return nil, nil
		case []any:
			return types.JSONDocument{Val: readList(x)}, nil
		}
		return convert(ctx, v)
	}
}

// fits tells whether a number has a DECIMAL type's own scale, and no more digits than it. Others
// are rounded and checked.
func fits(x *apd.Decimal, t sql.DecimalType) bool {
	return t != nil && int(-x.Exponent) == int(t.Scale()) && x.NumDigits() <= int64(t.Precision())
}

func readJSON(text string) any {
	v, err := standard.ParseJSON(text)
	if err != nil {
		return nil // bad JSON in an imported column is NULL, as everywhere
	}
	return types.JSONDocument{Val: v}
}

// readList turns a list of the store into a JSON array.
func readList(list []any) []any {
	out := make([]any, len(list))
	for i, v := range list {
		switch x := v.(type) {
		case float64:
			if !math.IsNaN(x) && !math.IsInf(x, 0) {
				out[i] = x
			}
		case *apd.Decimal:
			out[i] = x.Text('f')
		case *big.Int:
			out[i] = x.String()
		case []byte:
			out[i] = string(x)
		case time.Time:
			out[i] = x.UTC().Format("2006-01-02 15:04:05.999999")
		case []any:
			out[i] = readList(x)
		default:
			out[i] = v
		}
	}
	return out
}
