package lower

import (
	"math"
	"testing"
)

// A literal moment plus a constant interval is a literal, as MySQL computes it, or left to the
// store.
func TestShiftedLiterals(t *testing.T) {
	const hour, day = 3600e6, 86400e6
	for _, c := range []struct {
		literal           string
		n, months, micros int64
		want              string // "": left to the store
	}{
		{"2024-01-31 00:00:00", 1, 1, 0, "2024-02-29 00:00:00"},
		{"2023-01-31 10:00:00.5", 1, 1, 0, "2023-02-28 10:00:00.5"},
		{"2024-02-29 00:00:00", 1, 12, 0, "2025-02-28 00:00:00"},
		{"2024-03-31 00:00:00", 1, -1, 0, "2024-02-29 00:00:00"},
		{"2024-02-29 00:00:00", 4, 12, 0, "2028-02-29 00:00:00"},
		{"2024-12-31 23:00:00", 25, 0, hour, "2025-01-02 00:00:00"},
		{"2024-03-01 00:00:00", -1, 0, day, "2024-02-29 00:00:00"},
		{"2024-01-01 00:00:00", -1, 0, 1, "2023-12-31 23:59:59.999999"},
		{"2024-01-01 00:00:00", 250, 12, 0, "2274-01-01 00:00:00"},
		{"2024-01-01 00:00:00", 251, 12, 0, ""},
		{"2024-01-01 00:00:00", math.MinInt64, 0, 1, ""},
		{"2024-01-01 00:00:00", math.MaxInt64, 0, -day, ""},
		{"9999-12-31 00:00:00", 1, 0, day, ""},
		{"0001-01-01 00:00:00", 1, -1, 0, ""},
	} {
		got, ok := shifted("TIMESTAMP '"+c.literal+"'", Expr{number: &c.n}, c.months, c.micros)
		if s := got.Format("2006-01-02 15:04:05.999999"); ok != (c.want != "") || ok && s != c.want {
			t.Errorf("%s %d × %d months, %d µs: %s, %v; want %q", c.literal, c.n, c.months, c.micros, s, ok, c.want)
		}
	}
	if _, ok := shifted("TIMESTAMP '2024-01-01 00:00:00'", Expr{}, 1, 0); ok {
		t.Error("an interval of a column")
	}
}
