package estimator_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/internal/stattest"
)

// TestPackedNumbers: what is appended is read again, in as many bytes as its size asks for.
func TestPackedNumbers(t *testing.T) {
	r := rand.New(stattest.Source(t, "packed"))
	numbers := []int64{0, 1, -1, 63, -64, 64, -65, math.MaxInt64, math.MinInt64, estimator.MaxUnits, -estimator.MaxUnits}
	for range 10000 {
		numbers = append(numbers, int64(r.Uint64())>>r.IntN(64))
	}
	var b []byte
	for _, x := range numbers {
		from := len(b)
		b = estimator.AppendNumber(b, x)
		if n := len(b) - from; n > estimator.MostBytes || x >= -64 && x < 64 && n != 1 {
			t.Errorf("%d takes %d bytes", x, n)
		}
	}
	for i, want := range numbers {
		var got int64
		if got, b = estimator.Number(b); got != want {
			t.Fatalf("number %d: got %d, want %d", i, got, want)
		}
	}
	if len(b) != 0 {
		t.Errorf("%d bytes are left", len(b))
	}
}

// TestPackedPersons: persons come out of a packed chunk as they were put in, also those without a group.
func TestPackedPersons(t *testing.T) {
	r := rand.New(stattest.Source(t, "packed persons"))
	for _, width := range []int{1, 2, 5} {
		c := estimator.Chunk{Starts: []int{0}, Width: width}
		var groups [][]int32
		var values [][]int64
		for range 500 {
			var group []int32
			var value []int64
			for at := int64(-1); r.IntN(6) > 0; {
				gap, own := 1+r.Int64N(1+r.Int64N(1<<20)), make([]int64, width)
				for j := range own {
					own[j] = (r.Int64() - math.MaxInt64/2) >> r.IntN(64)
				}
				at += gap
				group, value = append(group, int32(at)), append(value, own...)
				c.Packed = estimator.AppendGroup(c.Packed, gap, own)
			}
			c.Persons++
			c.Starts, groups, values = append(c.Starts, len(c.Packed)), append(groups, group), append(values, value)
		}
		for i := range c.Persons {
			if group, value := c.Unpack(i, nil, nil); !slices.Equal(group, groups[i]) || !slices.Equal(value, values[i]) {
				t.Fatalf("person %d: got %v and %v, want %v and %v", i, group, value, groups[i], values[i])
			}
		}
	}
}
