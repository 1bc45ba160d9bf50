package planner

import (
	"testing"

	"scrim/engine/estimator"
)

// needs is an estimator of which only the least number of persons matters.
type needs struct {
	estimator.Estimator
	persons int64
}

func (n needs) MinPersons() int64 { return n.persons }

// TestMemory: vectors that cannot fit are refused by public facts, 16 bytes a coordinate and person, and nothing else is.
func TestMemory(t *testing.T) {
	h := newHarness(t)
	s := &statement{ctx: h.context(""), p: &Planner{config: Config{Memory: 1 << 20}}}
	d := &draft{relation: &relation{}}
	for _, c := range []struct {
		form    VectorForm
		dim     int
		persons int64
		refused bool
	}{
		{Arrays, 64, 1 << 10, false},
		{Arrays, 64, 1<<10 + 1, true},
		{Coordinates, 1 << 10, 65, true},
		{Arrays, 100_000, 1 << 60, true},
		{Arrays, 100_000, 0, false},
		{Pairs, 1 << 20, 1 << 40, false}, // what a sparse block takes is private
	} {
		a := &aggregate{text: "DP_MEAN(v)", vector: &vectorArg{form: c.form, dim: c.dim}}
		err := s.fits(d, a, needs{persons: c.persons})
		if (RuleOf(err) == RuleMemory) != c.refused || !c.refused && err != nil {
			t.Errorf("form %d, dimension %d, %d persons: got %v", c.form, c.dim, c.persons, err)
		}
	}
	if err := s.fits(d, &aggregate{}, needs{persons: 1 << 60}); err != nil {
		t.Errorf("a number: %v", err)
	}
	s.p = &Planner{}
	if err := s.fits(d, &aggregate{vector: &vectorArg{dim: 100_000}}, needs{persons: 1 << 60}); err != nil {
		t.Errorf("without a limit: %v", err)
	}
}
