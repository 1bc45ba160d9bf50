package estimator_test

import (
	"fmt"
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
		got, size := estimator.Number(b)
		if got != want || size != estimator.Skip(b) {
			t.Fatalf("number %d: got %d of %d bytes, want %d of %d", i, got, size, want, estimator.Skip(b))
		}
		b = b[size:]
	}
	if len(b) != 0 {
		t.Errorf("%d bytes are left", len(b))
	}
	for _, x := range numbers {
		b = estimator.AppendNumber(b, x)
	}
	got := make([]int64, len(numbers)+1)
	if rest := estimator.Unpack(b, got); len(rest) != 1 || !slices.Equal(got[:len(numbers)], numbers) {
		t.Errorf("unpacked: %d are left, or the numbers are others", len(rest)-1)
	}
}

// TestPackedNumbersTogether: numbers that are appended together are read again, counts of 1 in no byte of their own; and they tell whether all are 0.
func TestPackedNumbersTogether(t *testing.T) {
	r := rand.New(stattest.Source(t, "packed together"))
	of := []func() int64{func() int64 { return 1 }, func() int64 { return 0 }, func() int64 { return r.Int64N(5) - 2 }, func() int64 { return int64(r.Uint64()) >> r.IntN(64) }}
	for range 20000 {
		x, ones, zeros := make([]int64, 1+r.IntN(11)), 0, true
		draw := of[r.IntN(len(of))]
		for c := range x {
			x[c] = draw()
			zeros = zeros && x[c] == 0
			if x[c] == 1 {
				ones++
			}
		}
		b := estimator.AppendNumbers([]byte{1, 2}, x)[2:]
		got := make([]int64, len(x))
		if n := estimator.Numbers(b, got); n != len(b) || n != estimator.SkipNumbers(b, len(x)) || !slices.Equal(got, x) {
			t.Fatalf("%v: got %v, %d and %d bytes of %d", x, got, n, estimator.SkipNumbers(b, len(x)), len(b))
		}
		if estimator.Zeros(b) != zeros {
			t.Fatalf("%v: all 0 is %v", x, !zeros)
		}
		if ones == len(x) && ones <= 8 && len(b) != 1 {
			t.Fatalf("%d times 1 takes %d bytes", ones, len(b))
		}
	}
}

// TestPackedPersons: persons come out of a packed chunk as they were put in, also those without a group.
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
				}
				c.Packed = estimator.AppendNumbers(c.Packed, own)
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
