package result

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/tables"
)

// appendDouble appends a value of a DOUBLE or FLOAT column as MySQL does (tables.AppendDouble); ok
// is false where the value, or the type, is none.
func appendDouble(ctx *sql.Context, b []byte, t sql.Type, v any) (text []byte, ok bool) {
	if !types.IsFloat(t) {
		return b, false
	}
	number, _, err := t.Convert(ctx, v)
	var x float64
	bits := 64
	switch f := number.(type) {
	case float64:
		x = f
	case float32:
		x, bits = float64(f), 32
	default:
		return b, false
	}
	if math.IsNaN(x) || math.IsInf(x, 0) || err != nil && (bits == 32 || !sql.ErrTruncatedIncorrect.Is(err)) {
		return b, false
	}
	return tables.AppendDouble(b, x, bits), true
}
