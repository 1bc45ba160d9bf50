package functions

import (
	"encoding/binary"
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Value is DP_VALUE(v, i): coordinate i, counted from 1, of a JSON array, its text, or a VECTOR. It
// is an ordinary function: on an answer it is post-processing.
type Value struct{ maker }

// Type implements sql.Expression.
func (v *Value) Type(*sql.Context) sql.Type { return types.Float64 }

// Eval implements sql.Expression. NULL, and what is no vector, no coordinate or no number, gives
// NULL.
func (v *Value) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	x, err := v.args[0].Eval(ctx, row)
	if err != nil || x == nil {
		return nil, err
	}
	at, err := v.args[1].Eval(ctx, row)
	if err != nil || at == nil {
		return nil, err
	}
	i, ok := number(ctx, at)
	if !ok || i != math.Trunc(i) {
		return nil, nil
	}
	f, ok := coordinate(ctx, x, i)
	if !ok {
		return nil, nil
	}
	return f, nil
}

// WithChildren implements sql.Expression.
func (v *Value) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	m, err := v.with(v, children)
	return &Value{m}, err
}

// coordinate picks one number of a vector.
func coordinate(ctx *sql.Context, x any, i float64) (float64, bool) {
	if b, ok := x.([]byte); ok { // VECTOR: float32, little endian
		if len(b)%4 != 0 || !(i >= 1 && i <= float64(len(b)/4)) {
			return 0, false
		}
		return finite(float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*(int(i)-1):]))))
	}
	doc, _, err := types.JSON.Convert(ctx, x)
	if err != nil {
		return 0, false
	}
	w, ok := doc.(sql.JSONWrapper)
	if !ok {
		return 0, false
	}
	val, err := w.ToInterface(ctx)
	if err != nil {
		return 0, false
	}
	list, ok := val.([]any)
	if !ok || !(i >= 1 && i <= float64(len(list))) {
		return 0, false
	}
	return number(ctx, list[int(i)-1])
}

// number reads an SQL number; text and JSON of other kinds are none.
func number(ctx *sql.Context, x any) (float64, bool) {
	switch x.(type) {
	case nil, string, []byte, []any, map[string]any, sql.JSONWrapper:
		return 0, false
	}
	f, in, err := types.Float64.Convert(ctx, x)
	if err != nil || in != sql.InRange || f == nil {
		return 0, false
	}
	return finite(f.(float64))
}

func finite(f float64) (float64, bool) { return f, !math.IsNaN(f) && !math.IsInf(f, 0) }
