package synthetic

import (
	"strings"
	"testing"
)

// TestRowsOfAdultAreNearer: rows of adult at ε = .5 are off by less than 0.45 of what independent
// columns are, in tables of two and of three columns, and by less than 0.2 of what the tables of
// three columns are when all of them share the loss. Of a fixed seed.
func TestRowsOfAdultAreNearer(t *testing.T) {
	lines, err := Run(Options{Epsilon: 0.5, Delta: 1e-9, Bins: 6, Ways: 2, Runs: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Markdown(&b, lines); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + b.String())
	own, alone, shared := lines[0], lines[1], lines[2]
	if own.Two > 0.45*alone.Two || own.Three > 0.45*alone.Three || own.Three > 0.2*shared.Three {
		t.Errorf("off by %.4f and %.4f; independent columns by %.4f and %.4f, tables that share the loss by %.4f", own.Two, own.Three, alone.Two, alone.Three, shared.Three)
	}
}
