package functions

import (
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/refuse"
)

// TestBars binds error bars in the form that the parser brings them into.
func TestBars(t *testing.T) {
	f := newFixture(t)
	for q, want := range map[string]string{
		"SELECT DP_LOW(x, 'DP_MEAN', 0.9, '') FROM t":                                "DP_LOW(DP_MEAN(t.x), 0.9)",
		"SELECT DP_HIGH(x, 'epsilon=1', 'DP_MEAN', 0.9, 'm') FROM t":                 "DP_HIGH(DP_MEAN(t.x, 'epsilon=1'), 0.9)",
		"SELECT DP_STDERR(x, 'AVG', 0.95, '') FROM t":                                "DP_STDERR(AVG(t.x))",
		"SELECT DP_LOW(x, 'COUNT DISTINCT', 0.95, '') FROM t":                        "DP_LOW(COUNT(DISTINCT t.x), 0.95)",
		"SELECT DP_RADIUS(DP_VECTOR(x, x), 'DP_MEAN', 0.5, '') FROM t":               "DP_RADIUS(DP_MEAN(DP_VECTOR(t.x, t.x)), 0.5)",
		"SELECT DP_LOW(x, '[0.5]', 'DP_QUANTILES', 0.95, 'q') + 1 FROM t ORDER BY 1": "DP_LOW(DP_QUANTILES(t.x, '[0.5]'), 0.95)",
	} {
		got := f.aggregates(t, q)
		if len(got) != 1 || got[0].String() != want || got[0].Told == nil || got[0].Base().Told != nil {
			t.Errorf("%s: got %v, want %s", q, got, want)
			continue
		}
		list := got[0].Function.Result == JSON
		if got[0].Type(nil) != types.Float64 && !list || list && got[0].Type(nil) != types.JSON {
			t.Errorf("%s: type %v", q, got[0].Type(nil))
		}
		if n := len(got[0].Children()); n != len(got[0].Args)+1 {
			t.Errorf("%s: %d children of %d arguments", q, n, len(got[0].Args))
		}
		again, err := got[0].WithChildren(nil, got[0].Children()...)
		if err != nil || again.String() != want {
			t.Errorf("%s: with its own children it is %v, %v", q, again, err)
		}
		if _, err := got[0].WithChildren(nil, got[0].Args...); err == nil {
			t.Errorf("%s: a level may be left out", q)
		}
	}
	for q, want := range map[string]int{
		// the same bar
		"SELECT DP_LOW(x, 'DP_MEAN', 0.9, 'm'), DP_LOW(x, 'DP_AVG', 0.9, '') FROM t":                               1,
		"SELECT DP_LOW(x, 'DP_MEAN', 0.9, ''), DP_LOW(x, 'DP_MEAN', 0.99, '') FROM t":                              2,
		"SELECT DP_LOW(x, 'DP_MEAN', 0.9, ''), DP_HIGH(x, 'DP_MEAN', 0.9, '') FROM t":                              2,
		"SELECT DP_LOW(IF(g = 'a', x, 0), 'DP_SUM', 0.9, ''), DP_LOW(IF(g = 'A', x, 0), 'DP_SUM', 0.9, '') FROM t": 2,
	} {
		if got := f.aggregates(t, q); len(got) != want {
			t.Errorf("%s: %d aggregates, want %d", q, len(got), want)
		}
	}
}

// TestBarsRefuse: what the parser could not make sense of is refused in its words, and what it has
// not seen, in others.
func TestBarsRefuse(t *testing.T) {
	f := newFixture(t)
	for q, words := range map[string]string{
		"SELECT DP_LOW('DP_LOW wants more.', 'Do this.') FROM t": "DP_LOW wants more. Do this.",
		"SELECT DP_LOW(x) FROM t":                                "wants a DP aggregate",
		"SELECT DP_LOW(x, 0.9) FROM t":                           "wants a DP aggregate",
		"SELECT DP_LOW(x, 'BIT_OR', 0.9, '') FROM t":             "BIT_OR is none",
		"SELECT DP_LOW(x, 'NOTHING', 0.9, '') FROM t":            "NOTHING is none",
		"SELECT DP_LOW(x, x, x, 'DP_MEAN', 0.9, '') FROM t":      "does not take 3 arguments",
		"SELECT DP_LOW(x, 'DP_MEAN', 0.9, '') FROM t":            "DP_LOW is for protected tables",
	} {
		err := f.run(q)
		if r, ok := refuse.As(err); !ok || !strings.Contains(r.Error(), words) {
			t.Errorf("%s: got %v, want %q", q, err, words)
		}
	}
}

// TestLevels: strictly between 0 and 1.
func TestLevels(t *testing.T) {
	for _, f := range errorBarFunctions {
		for text, ok := range map[string]bool{"0.95": true, " 1e-9 ": true, "0.999999": true, "0": false, "1": false, "95": false, "-0.5": false, "NaN": false, "Inf": false, "": false, "half": false} {
			if _, err := f.ParseLevel(text); (err == nil) != ok {
				t.Errorf("%s, %q: %v", f.Name, text, err)
			}
		}
		if g, ok := ErrorBarByName(strings.ToLower(f.Name)); !ok || g != f || f.ErrorBar.String() == "" {
			t.Errorf("%s is not found by its name", f.Name)
		}
	}
	if _, ok := ErrorBarByName("dp_mean"); ok {
		t.Error("DP_MEAN is taken for an error bar")
	}
}
