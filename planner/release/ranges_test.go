package release

import (
	"strings"
	"testing"
	"time"
)

// TestRangesWantAnOrder: dates and numbers of any type in rising order are taken, NULL at an end
// too; all else is refused.
func TestRangesWantAnOrder(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2025, 1, d, 0, 0, 0, 0, time.UTC) }
	for _, values := range [][]any{{day(1), day(2), day(9)}, {int64(-3), int64(2)}, {0.5, 1.5, 1e9}, {nil, int8(1), int8(2)}, {day(1), nil}, {nil}} {
		if err := hasOrder("d", values); err != nil {
			t.Errorf("%v: %v", values, err)
		}
	}
	many := make([]any, 1025)
	for i := range many {
		many[i] = i
	}
	for want, values := range map[string][]any{
		"not in their order": {int64(2), int64(1)}, "has no order": {"1", "2"}, "1025 values": many, "no dates or numbers": {int64(1), nil, int64(2)}, "order": {day(1), int64(2)},
	} {
		if err := hasOrder("d", values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60v: %v", values, err)
		}
	}
	for _, values := range [][]any{{day(2), day(2)}, {int64(1), day(1)}} {
		if hasOrder("d", values) == nil {
			t.Errorf("%v are taken", values)
		}
	}
}
