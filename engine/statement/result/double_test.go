package result

import (
	"math"
	"testing"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// TestDoublesOfOtherTypes: a column of doubles may hold values of another type, which are written
// as its own.
func TestDoublesOfOtherTypes(t *testing.T) {
	ctx := sql.NewEmptyContext()
	for _, c := range []struct {
		t    sql.Type
		v    any
		want string
	}{
		{types.Float64, 1e20, "1e20"}, {types.Float64, int64(1e15), "1e15"}, {types.Float64, apd.New(5, 20), "5e20"},
		{types.Float64, "1e20x", "1e20"}, {types.Float32, float32(1e20), "1e20"}, {types.Float32, 0.1, "0.1"},
	} {
		if got, ok := appendDouble(ctx, nil, c.t, c.v); !ok || string(got) != c.want {
			t.Errorf("%v %v: got %s, %v, want %s", c.t, c.v, got, ok, c.want)
		}
	}
	for _, v := range []any{math.NaN(), math.Inf(-1), []byte("not a number"), true} {
		if got, ok := appendDouble(ctx, nil, types.Float64, v); ok && v != true {
			t.Errorf("%v: got %s", v, got)
		}
	}
	if _, ok := appendDouble(ctx, nil, types.Int64, 1.5); ok {
		t.Error("a BIGINT is written as a DOUBLE")
	}
}
