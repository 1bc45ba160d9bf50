package grid

import (
	"math"
	"strings"
	"testing"

	"scrim/planner/lower"
)

// TestGrids checks the public lattice of each type against the numeric contract.
func TestGrids(t *testing.T) {
	dec := func(p, s int) lower.Type { return lower.Type{Kind: lower.Decimal, Precision: p, Scale: s} }
	for _, c := range []struct {
		name   string
		typ    lower.Type
		bounds *Bounds
		bits   int
		step   float64
		lo, hi int64
	}{
		{"int", lower.Type{Kind: lower.Int}, nil, ValueBits, 1, -1 << 50, 1 << 50},
		{"int squared", lower.Type{Kind: lower.Int}, nil, SquareBits, 1, -1 << 43, 1 << 43},
		{"int bounded", lower.Type{Kind: lower.Int}, &Bounds{0, 100}, ValueBits, 1, 0, 100},
		{"bool", lower.Type{Kind: lower.Bool}, nil, ValueBits, 1, 0, 1},
		{"decimal", dec(10, 2), nil, ValueBits, 0.01, -1 << 50, 1 << 50},
		{"wide decimal", dec(20, 4), nil, ValueBits, 0.01, -1 << 50, 1 << 50},
		{"wide decimal squared", dec(20, 4), nil, SquareBits, 0.01, -1 << 43, 1 << 43},
		{"wide decimal of tenths", dec(20, 1), nil, ValueBits, 0.1, -1 << 50, 1 << 50},
		{"quotient", lower.Type{Kind: lower.Decimal, Precision: 24, Scale: 4, Quotient: true}, nil, ValueBits, 0.01, -1 << 50, 1 << 50},
		{"short quotient", lower.Type{Kind: lower.Decimal, Precision: 14, Scale: 4, Quotient: true}, nil, ValueBits, 0.0001, -1 << 50, 1 << 50},
		{"wide decimal bounded", dec(20, 4), &Bounds{-5, 5}, ValueBits, 0.0001, -50000, 50000},
		{"double", lower.Type{Kind: lower.Double}, nil, ValueBits, math.Ldexp(1, -20), -1 << 50, 1 << 50},
		{"double squared", lower.Type{Kind: lower.Double}, nil, SquareBits, math.Ldexp(1, -13), -1 << 43, 1 << 43},
		{"double bounded", lower.Type{Kind: lower.Double}, &Bounds{0, 1 << 32}, ValueBits, 1, 0, 1 << 32},
		{"double bounded up", lower.Type{Kind: lower.Double}, &Bounds{0, 1<<32 + 1}, ValueBits, 2, 0, 1 << 31},
		{"double far", lower.Type{Kind: lower.Double}, &Bounds{1 << 60, 1<<60 + 4096}, ValueBits, 1 << 11, 1 << 49, 1<<49 + 2},
	} {
		g, ok := Of(c.typ, c.bounds, math.Inf(1), c.bits)
		if !ok || math.Abs(g.Step-c.step) > 1e-15*c.step || g.Lo != c.lo || g.Hi != c.hi {
			t.Errorf("%s: got step %v in [%d, %d] (%v), want %v in [%d, %d]", c.name, g.Step, g.Lo, g.Hi, ok, c.step, c.lo, c.hi)
		}
		if (g.Lower != nil) != (c.bounds != nil) {
			t.Errorf("%s: declared bounds are %v", c.name, g.Lower != nil)
		}
	}
	for most, scale := range map[float64]int{1: 8, 1e7: 8, 2e7: 7, 1e10: 5, Wide: 2, 1e20: 2} {
		if g, _ := Of(dec(28, 8), nil, most, ValueBits); g.Scale != scale {
			t.Errorf("values up to %g have %d decimals, want %d", most, g.Scale, scale)
		}
	}
	for _, k := range []lower.Kind{lower.String, lower.Date, lower.Datetime, lower.Time, lower.JSON, lower.Array, lower.Null} {
		if _, ok := Of(lower.Type{Kind: k}, nil, 1, ValueBits); ok {
			t.Errorf("kind %d has a grid", k)
		}
	}
}

// TestIndexForms checks which form an index takes: a test of the range is left out only where the
// type alone implies it, and what is known of a column does not outlast a change of its text.
func TestIndexForms(t *testing.T) {
	narrow, wide := lower.ReadColumn("c", "INTEGER"), lower.ReadColumn("c", "BIGINT")
	double, money := lower.ReadColumn("c", "DOUBLE"), lower.ReadColumn("c", "DECIMAL(10,2)")
	changed := narrow
	changed.SQL = "(" + narrow.SQL + " * 1000000)"
	shifted := double
	shifted.SQL = "(c + 1)"
	for _, c := range []struct {
		name    string
		x       lower.Expr
		bounds  *Bounds
		ranged  bool
		without string // what the text must not have
	}{
		{"narrow", narrow, nil, false, "CASE"},
		{"narrow bounded", narrow, &Bounds{0, 100}, true, "DOUBLE"},
		{"wide", wide, nil, true, "DOUBLE"},
		{"changed", changed, nil, true, "DOUBLE"},
		{"double", double, nil, true, "(CASE"},
		{"shifted", shifted, nil, true, "isfinite"},
		{"money", money, nil, false, "DOUBLE"},
		{"money bounded", money, &Bounds{0, 100}, true, "x"},
		{"15 digits", lower.ReadColumn("c", "DECIMAL(15,2)"), nil, false, "DOUBLE"},
		{"16 digits", lower.ReadColumn("c", "DECIMAL(16,1)"), nil, true, "x"},
		{"no room", lower.ReadColumn("c", "DECIMAL(15,5)"), nil, true, "DECIMAL"},
	} {
		g, ok := Of(c.x.Type, c.bounds, math.Inf(1), ValueBits)
		if !ok {
			t.Fatalf("%s: no grid", c.name)
		}
		text := g.Index(c.x)
		if strings.Contains(text, "BETWEEN") != c.ranged || strings.Contains(text, c.without) {
			t.Errorf("%s: %s", c.name, text)
		}
	}
}
