package gcpace

import "testing"

func TestHeapGrowth(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{
		{0, 1000},
		{1 << 20, 1000},
		{64 << 20, 300},
		{128 << 20, 100},
		{1 << 30, 100},
		{1 << 40, 100},
	} {
		if got, want := memoryLimit(c.live), max(512<<20, int64(c.live)+max(128<<20, int64(c.live)/3)); got != want {
			t.Errorf("%d bytes: a limit of %d bytes, want %d", c.live, got, want)
		}
		if got := gcPercent(c.live); got != c.want {
			t.Errorf("%d bytes: got %d %%, want %d %%", c.live, got, c.want)
		}
	}
}
