package scalar

import "testing"

// TestMissed: an answer about a centre far beyond all values is told from one about a centre among
// them, from one of values on both sides of 0, and from one that stands out.
func TestMissed(t *testing.T) {
	for name, c := range map[string]struct {
		centre, radius, v, stdErr float64
		want                      bool
	}{
		"far beyond":          {1e6, 1.1e6, -3e4, 1e5, true},
		"far below":           {-1e6, 1.9e6, 4e5, 2e5, true},
		"among the values":    {40, 25, 38, 2, false},
		"near 0":              {3, 80, 0.5, 2, false},
		"at 0":                {0, 10, 0.1, 1, false},
		"stands out":          {100, 120, 30, 5, false},
		"far from its centre": {100, 120, 60, 50, false},
	} {
		if got := Missed(c.centre, c.radius, c.v, c.stdErr); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
