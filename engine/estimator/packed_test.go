package estimator_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
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

// TestPackedPersons: persons come out of a packed chunk as they were put in, also those without a
// group.
func TestPackedPersons(t *testing.T) {
	r := rand.New(stattest.Source(t, "packed persons"))
	for _, p := range []estimator.Packing{{1, []int{0}}, {2, []int{0, 1}}, {2, []int{1, 0, 1}}, {9, []int{8, 0, 1, 2, 3, 4, 5, 6, 7, 8}}} {
		c := estimator.Chunk{Starts: []int{0}, Packing: &p}
		var want []string
		for range 500 {
			text := ""
			for at := int64(-1); r.IntN(6) > 0; {
				gap, own := 1+r.Int64N(1+r.Int64N(1<<20)), make([]int64, p.Numbers)
				at += gap
				c.Packed = estimator.AppendNumber(c.Packed, gap)
				for j := range own {
					own[j] = (r.Int64() - math.MaxInt64/2) >> r.IntN(64)
					c.Packed = estimator.AppendNumber(c.Packed, own[j])
				}
				text += fmt.Sprint(at, ":")
				for _, j := range p.Of {
					text += fmt.Sprint(own[j], " ")
				}
			}
			c.Persons++
			c.Starts, want = append(c.Starts, len(c.Packed)), append(want, text)
		}
		x := make([]int64, len(p.Of))
		for i := range c.Persons {
			text := ""
			c.EachGroup(i, x, func(g int, x []int64) {
				text += fmt.Sprint(g, ":")
				for _, v := range x {
					text += fmt.Sprint(v, " ")
				}
			})
			if text != want[i] {
				t.Fatalf("person %d: got %v, want %v", i, text, want[i])
			}
		}
	}
}
