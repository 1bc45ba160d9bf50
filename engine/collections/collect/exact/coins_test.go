package exact

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"scrim/test/stattest"
)

// words is a source of given words.
func words(w ...uint64) *Rand { return New(&tape{words: w, more: constant(1)}) }

type constant uint64

func (c constant) Uint64() uint64 { return uint64(c) }

func seeded(t testing.TB, name string) *Rand { return New(stattest.Source(t, name)) }

func TestBernoulli62HasItsThreshold(t *testing.T) {
	for _, k := range []uint64{1, 5, KeepBinary(10_000), one62 - 1} {
		for _, low := range []uint64{0, 3} { // the two bits that do not count
			if !words((k-1)<<2|low).Bernoulli62(k) || words(k<<2|low).Bernoulli62(k) {
				t.Errorf("the threshold is not %d", k)
			}
		}
	}
	if !words(math.MaxUint64).Bernoulli62(one62) || words(0).Bernoulli62(0) {
		t.Error("probabilities 0 and 1 are not sure")
	}
}

// TestUniformIsExact counts the words of each result by their ends: all have ⌊2^64/k⌋.
func TestUniformIsExact(t *testing.T) {
	for _, k := range []uint64{1, 2, 3, 7, 10, 1 << 33, 1<<63 + 1, math.MaxUint64} {
		size := new(big.Int).Quo(new(big.Int).Lsh(big.NewInt(1), 64), new(big.Int).SetUint64(k))
		for _, v := range []uint64{0, k / 2, k - 1} {
			// the least word with word·k >= v·2^64 + (2^64 mod k)
			least, _ := bits.Div64(v, -k%k+k-1, k)
			most := least + size.Uint64() - 1
			for _, w := range []uint64{least, most} {
				source := &tape{words: []uint64{w}, more: constant(math.MaxUint64)}
				if got := New(source).Uniform(k); got != v || source.used != 1 {
					t.Errorf("word %#x of %d gives %d by %d words, want %d by 1", w, k, got, source.used, v)
				}
			}
			for _, w := range []uint64{least - 1, most + 1} {
				source := &tape{words: []uint64{w}, more: constant(math.MaxUint64)}
				if got := New(source).Uniform(k); got == v && source.used == 1 && k > 1 {
					t.Errorf("word %#x of %d gives %d as well", w, k, v)
				}
			}
		}
	}
}

// TestSixtyFourCoinsAreExact lays integers about k across the words: each bit must be whether its
// integer is less than k.
func TestSixtyFourCoinsAreExact(t *testing.T) {
	r := rand.New(stattest.Source(t, "integers"))
	for _, k := range []uint64{0, 1, 2, FlipUnary(500), FlipUnary(10_000), FlipUnary(80_000), one62 / 2, one62 - 1} {
		var u [64]uint64
		for i := range u {
			if u[i] = r.Uint64N(one62); i < 20 && k+uint64(i) >= 10 && k+uint64(i)-10 < one62 {
				u[i] = k + uint64(i) - 10
			}
		}
		var w []uint64
		for place := 61; place >= 0; place-- {
			word := uint64(0)
			for i, x := range u {
				word |= x >> place & 1 << i
			}
			w = append(w, word)
		}
		got := words(w...).sixtyFour(k)
		for i, x := range u {
			if got>>i&1 == 1 != (x < k) {
				t.Errorf("%d under %d: %v", x, k, got>>i&1 == 1)
			}
		}
	}
}

func TestCoinsHaveTheirProbability(t *testing.T) {
	const n = 200_000
	check := func(name string, p float64, draw func(*Rand) bool) {
		r, hits := seeded(t, name), int64(0)
		for range n {
			if draw(r) {
				hits++
			}
		}
		c := []int64{hits, n - hits}
		if p == 0 || p == 1 {
			if float64(hits) != n*p {
				t.Errorf("%s: %d of %d", name, hits, n)
			}
			return
		}
		stattest.Accept(t, stattest.ChiSquare(name, c, []float64{p, 1 - p}))
		stattest.Reject(t, stattest.ChiSquare(name, c, []float64{p * 0.9, 1 - p*0.9}))
	}
	check("coin", 0.5, (*Rand).Coin)
	check("1/e", math.Exp(-1), (*Rand).inverseE)
	check("2/e", 2*math.Exp(-1), (*Rand).twoOverE)
	for _, c := range [][2]uint64{{0, 5}, {1, 3}, {5, 5}, {7, 5}, {1 << 62, 3 << 62}} {
		check(fmt.Sprint("bernoulli ", c), min(1, float64(c[0])/float64(c[1])), func(r *Rand) bool { return r.Bernoulli(c[0], c[1]) })
	}
	for _, c := range [][2]uint64{{0, 1}, {1, 2}, {1, 1}, {7, 3}, {1 << 62, 3 << 62}, {math.MaxUint64, 1 << 63}} {
		check(fmt.Sprint("exp ", c), math.Exp(-float64(c[0])/float64(c[1])), func(r *Rand) bool { return r.BernoulliExp(c[0], c[1]) })
	}
}

func TestStuckSourcesPanic(t *testing.T) {
	for name, draw := range map[string]func(*Rand){
		"uniform":           func(r *Rand) { r.Uniform(3) },
		"geometric":         func(r *Rand) { r.Geometric(1, 3) },
		"poisson":           func(r *Rand) { r.Poisson(1 << RateBits) },
		"negative binomial": func(r *Rand) { r.NegativeBinomial(1, 1, 3) },
	} {
		r := New(constant(0))
		r.limit = 1000
		panics(t, name, func() { draw(r) })
	}
}

func panics(t *testing.T, name string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", name)
		}
	}()
	f()
}

func TestArgumentsAreChecked(t *testing.T) {
	r := Secure()
	for name, f := range map[string]func(){
		"source":      func() { New(nil) },
		"uniform":     func() { r.Uniform(0) },
		"bernoulli":   func() { r.Bernoulli(0, 0) },
		"bernoulli62": func() { r.Bernoulli62(one62 + 1) },
		"exp":         func() { r.BernoulliExp(0, 0) },
		"geometric":   func() { r.Geometric(0, 1) },
		"laplace":     func() { r.Laplace(1, 0) },
		"shape":       func() { r.NegativeBinomial(0, 1, 1) },
		"ratio":       func() { r.NegativeBinomial(1, 1, 1<<40) },
		"poisson":     func() { r.Poisson(1<<50 + 1) },
	} {
		panics(t, name, f)
	}
}

func TestDrawsBeyond64BitsAreErrors(t *testing.T) {
	r, refused := seeded(t, "range"), 0
	for range 1000 {
		if k, err := r.Geometric(1, 1<<63); err != nil {
			if refused++; k != 0 || !errors.Is(err, ErrRange) {
				t.Errorf("got %d, %v", k, err)
			}
		} else if k < 0 {
			t.Errorf("got %d", k)
		}
	}
	if refused < 250 || refused > 500 { // 1/e of them
		t.Errorf("%d of 1000 refused", refused)
	}
	for refused = 0; refused == 0; {
		if z, err := r.Laplace(1, 1<<63); err != nil {
			if refused++; z != 0 || !errors.Is(err, ErrRange) {
				t.Errorf("got %d, %v", z, err)
			}
		}
	}
	// A point of the tail in block 2^20.
	if k, err := words(make([]uint64, 1<<20/64)...).tail(0, 1, 1); k != 0 || !errors.Is(err, ErrRange) {
		t.Errorf("got %d, %v", k, err)
	}
}

func TestSecureForgetsItsWords(t *testing.T) {
	s := new(system)
	a, b := s.Uint64(), s.Uint64()
	if a == b || a == 0 || s.left != len(s.block)-16 {
		t.Errorf("words %#x, %#x, %d bytes left", a, b, s.left)
	}
	for i, x := range s.block[:16] {
		if x != 0 {
			t.Errorf("byte %d is kept", i)
		}
	}
	if [8]byte(s.block[16:24]) == [8]byte{} {
		t.Error("the next word is not there")
	}
	if x, y := Secure(), Secure(); x.Uint64() == y.Uint64() {
		t.Error("two secure sources gave the same word")
	}
}
