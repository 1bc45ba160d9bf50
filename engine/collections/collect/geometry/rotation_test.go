package geometry

import (
	"math"
	"math/rand/v2"
	"testing"
)

func gaussians(seed uint64, d int) []float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float64, d)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

func TestRotationKeepsNormsAndInverts(t *testing.T) {
	for _, d := range []int{1, 2, 3, 5, 8, 100, 128} {
		r := NewRotation(d, []byte("seed"))
		x := gaussians(uint64(d), d)
		y := r.Apply(x)
		if len(y) != Padded(d) {
			t.Fatalf("d=%d: %d coordinates", d, len(y))
		}
		if math.Abs(Norm(y)/Norm(x)-1) > 1e-12 {
			t.Errorf("d=%d: norm %v became %v", d, Norm(x), Norm(y))
		}
		for i, c := range r.Invert(y) {
			if math.Abs(c-x[i]) > 1e-12 {
				t.Errorf("d=%d: coordinate %d came back as %v, was %v", d, i, c, x[i])
			}
		}
	}
}

// TestRotationSpreads checks what the rotation is for: one coordinate's length goes to all alike.
func TestRotationSpreads(t *testing.T) {
	x := make([]float64, 64)
	x[17] = 8
	for i, c := range NewRotation(64, nil).Apply(x) {
		if math.Abs(math.Abs(c)-1) > 1e-12 {
			t.Fatalf("coordinate %d is %v", i, c)
		}
	}
}

// TestSignsAreFixed pins the signs of a seed: devices and servers of other versions must find the
// same.
func TestSignsAreFixed(t *testing.T) {
	want := "--++--++------++"
	r := NewRotation(16, make([]byte, 32))
	got := ""
	for _, s := range r.signs {
		if s > 0 {
			got += "+"
		} else {
			got += "-"
		}
	}
	if got != want {
		t.Errorf("signs are %s, want %s", got, want)
	}
	other := NewRotation(16, append(make([]byte, 31), 1))
	same := 0
	for i := range r.signs {
		if r.signs[i] == other.signs[i] {
			same++
		}
	}
	if same == 16 {
		t.Error("another seed gives the same signs")
	}
}

func TestPadded(t *testing.T) {
	for d, want := range map[int]int{1: 1, 2: 2, 3: 4, 4: 4, 5: 8, 1000: 1024} {
		if Padded(d) != want {
			t.Errorf("Padded(%d) = %d", d, Padded(d))
		}
	}
}
