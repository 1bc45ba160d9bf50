package tables

import (
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"scrim/engine/store"
	"scrim/internal/sqltext"
)

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
// A value that the type cannot hold, such as the year 12000, is NULL, as it is to private queries.
func readerOf(t sql.Type) reader {
	convert := func(ctx *sql.Context, v any) (any, error) {
		converted, in, err := t.Convert(ctx, v)
		if err != nil || in != sql.InRange {
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
				return readJSON(ctx, x)
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
			return convert(ctx, x.Text('f'))
		case *big.Int:
			return convert(ctx, x.String())
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

func readJSON(ctx *sql.Context, text string) (any, error) {
	v, _, err := types.JSON.Convert(ctx, text)
	if err != nil {
		return nil, nil // bad JSON in an imported column is NULL, as everywhere
	}
	return v, nil
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
