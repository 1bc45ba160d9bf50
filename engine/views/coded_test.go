package views

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// TestBinsHoldEveryValueOnce: whole numbers, and days, are divided into bins of sizes that differ
// by one at most, of which each draws all of its values and no other.
func TestBinsHoldEveryValueOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		n    int64
		bins int
	}{{1, 32}, {7, 32}, {32, 32}, {33, 32}, {100, 7}, {1 << 53, 1000}} {
		begins := evenly(c.n, c.bins)
		if int64(len(begins)) != min(c.n, int64(c.bins)) || begins[0] != 0 {
			t.Errorf("%d values in %d bins: %d begin at %d", c.n, c.bins, len(begins), begins[0])
		}
		for i := range begins {
			end := c.n
			if i+1 < len(begins) {
				end = begins[i+1]
			}
			if size := end - begins[i]; size != c.n/int64(len(begins)) && size != c.n/int64(len(begins))+1 {
				t.Fatalf("%d values in %d bins: bin %d has %d", c.n, c.bins, i, size)
			}
			seen := map[int64]bool{}
			for range 200 { // 1e-6 of all that a bin of 15 misses one
				x := drawn(begins, c.n, i, r)
				if x < begins[i] || x >= end {
					t.Fatalf("bin %d draws %d", i, x)
				}
				seen[x] = true
			}
			if size := end - begins[i]; size <= 15 && int64(len(seen)) != size {
				t.Errorf("bin %d draws %d of %d values", i, len(seen), size)
			}
		}
	}
	if evenly(0, 3) != nil || evenly(-5, 3) != nil {
		t.Error("an empty range has bins")
	}
}

// TestRangesAreWhollyInTheirCases: the first condition begins, and the last one ends with the
// range; there is a value for each, within the range and of the type.
func TestRangesAreWhollyInTheirCases(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	day := func(d int) time.Time { return time.Date(2025, 6, d, 0, 0, 0, 0, time.UTC) }
	for name, c := range map[string]struct {
		typ         sql.Type
		make        func(*coded)
		first, last string
		cases       int
		within      func(any) bool
	}{
		"whole numbers": {types.Int32, func(c *coded) { c.integers(-3, 96, 10) }, "`x` >= -3 AND `x` < 7", "`x` <= 96", 10, func(v any) bool { return v.(int64) >= -3 && v.(int64) <= 96 }},
		"one":           {types.Int32, func(c *coded) { c.integers(4, 4, 10) }, "`x` >= 4 AND `x` <= 4", "`x` >= 4 AND `x` <= 4", 1, func(v any) bool { return v == int64(4) }},
		"with null":     {types.Int32, func(c *coded) { c.integers(0, 1, 10); c.withNull(true) }, "`x` >= 0 AND `x` < 1", "`x` IS NULL", 3, func(v any) bool { return v == nil || v.(int64) <= 1 }},
		"numbers":       {types.Float64, func(c *coded) { c.numbers(0, 1, 4) }, "`x` >= 0 AND `x` < 0.25", "`x` <= 1", 4, func(v any) bool { return v.(float64) >= 0 && v.(float64) <= 1 }},
		"decimals":      {types.MustCreateDecimalType(6, 2), func(c *coded) { c.numbers(0, 10, 4) }, "`x` >= 0 AND `x` < 2.5", "`x` <= 10", 4, func(v any) bool { return strings.Index(v.(string), ".") == len(v.(string))-3 }},
		"days": {types.Date, func(c *coded) { c.moments(day(1), day(30), 3) }, "`x` >= CAST('2025-06-01' AS DATE) AND `x` < CAST('2025-06-11' AS DATE)", "`x` <= CAST('2025-06-30' AS DATE)", 3,
			func(v any) bool { d := v.(time.Time); return !d.Before(day(1)) && !d.After(day(30)) && d.Hour() == 0 }},
		"moments": {types.DatetimeMaxPrecision, func(c *coded) { c.moments(day(1), day(3), 2) }, "`x` >= CAST('2025-06-01 00:00:00' AS DATETIME(6)) AND `x` < CAST('2025-06-02 00:00:00' AS DATETIME(6))", "`x` <= CAST('2025-06-03 00:00:00' AS DATETIME(6))", 2,
			func(v any) bool { d := v.(time.Time); return !d.Before(day(1)) && !d.After(day(3)) }},
	} {
		x := coded{name: "x", typ: c.typ}
		c.make(&x)
		if len(x.cases) != c.cases || x.cases[0] != c.first || x.cases[len(x.cases)-1] != c.last {
			t.Errorf("%s: cases %q", name, x.cases)
			continue
		}
		for code := range x.cases {
			for range 50 {
				if v := x.value(code, r); !c.within(v) {
					t.Errorf("%s: code %d is %v", name, code, v)
				}
			}
		}
	}
}
