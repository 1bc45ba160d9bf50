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

// TestPackedPersons: persons come out of a packed chunk as they were put in, also those without an entry.
func TestPackedPersons(t *testing.T) {
	r := rand.New(stattest.Source(t, "packed persons"))
	c := estimator.Chunk{Starts: []int{0}}
	var indexes [][]int32
	var values [][]int64
	for range 500 {
		var index []int32
		var value []int64
		for at := int32(-1); r.IntN(6) > 0; {
			gap := uint32(1 + r.IntN(1+r.IntN(1<<20)))
			at += int32(gap)
			index, value = append(index, at), append(value, r.Int64()-math.MaxInt64/2)
			c.Packed = estimator.AppendEntry(c.Packed, gap, value[len(value)-1])
		}
		c.Persons++
		c.Starts, indexes, values = append(c.Starts, len(c.Packed)), append(indexes, index), append(values, value)
	}
	for i := range c.Persons {
		if index, value := c.Unpack(i, nil, nil); !slices.Equal(index, indexes[i]) || !slices.Equal(value, values[i]) {
			t.Fatalf("person %d: got %v and %v, want %v and %v", i, index, value, indexes[i], values[i])
		}
	}
}
