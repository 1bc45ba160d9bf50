package planner

import (
	"fmt"
	"testing"
	"time"
)

// TestNestedAnswers plans answers that are joined with answers that are joined with answers: the
// time must not double with each level.
func TestNestedAnswers(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	join, in := "SELECT region AS r0, COUNT(*) AS n FROM orders GROUP BY region", "SELECT region FROM orders GROUP BY region"
	for i := range 30 {
		join = fmt.Sprintf("SELECT region AS r%d, COUNT(*) AS n FROM orders JOIN (%s) a%d ON region = r%d GROUP BY region", i+1, join, i, i)
		in = fmt.Sprintf("SELECT region FROM orders WHERE region IN (%s) GROUP BY region", in)
	}
	done := make(chan error, 1)
	go func() {
		_, _, err := h.plan(join)
		if err == nil {
			_, _, err = h.plan(in)
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("still planning after a minute")
	}
}
