package tree

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"scrim/engine/collections/collect/exact"
	"scrim/test/stattest"
)

const one = exact.Epsilon(10000) // ε = 1

// v1 is 4e^ε/(e^ε−1)², the variance of a debiased bit of unary encoding at ε = 1.
var v1 = 4 * math.E / ((math.E - 1) * (math.E - 1))

// values are those of random contributors: a bump over part of the leaves.
type values struct {
	r      *rand.Rand
	leaves int
}

func (v values) draw() uint64 {
	x := 0.35 + 0.12*v.r.NormFloat64()
	return uint64(min(max(x*float64(v.leaves), 0), float64(v.leaves-1)))
}

// below is the share of the population below edge i of n.
func (v values) below(i, n int) float64 {
	if i == n {
		return 1
	}
	return 0.5 + 0.5*math.Erf((float64(i)/float64(n)-0.35)/(0.12*math.Sqrt2))
}

// hier draws n contributors, in equal shares on h levels, and their reports, as LDP_HIER has it.
func hier(t testing.TB, r *exact.Rand, v values, h, n int) []Level {
	levels := make([]Level, h)
	for l := range levels {
		nodes := uint64(1) << (2 * (l + 1))
		drop := 2 * (h - l - 1)
		if nodes <= 3*2+2 {
			k, err := exact.NewKaryResponse(one, nodes)
			if err != nil {
				t.Fatal(err)
			}
			counts := make([]uint64, nodes)
			for range n / h {
				counts[k.Randomize(r, v.draw()>>drop)]++
			}
			levels[l] = KRR(counts, k.Keep())
			continue
		}
		u, err := exact.NewUnaryEncoding(one, nodes)
		if err != nil {
			t.Fatal(err)
		}
		levels[l] = OUE(unary(r, u, int(nodes), n/h, func() uint64 { return v.draw() >> drop }), uint64(n/h), u.Flip())
	}
	return levels
}

// unary counts the bits of n reports, eight at a time in the bytes of words.
func unary(r *exact.Rand, u exact.UnaryEncoding, d, n int, value func() uint64) []uint64 {
	counts, report, held := make([]uint64, d), make([]byte, u.Size()), make([]uint64, u.Size())
	for i := 1; i <= n; i++ {
		u.RandomizeTo(report, r, value())
		for j, b := range report {
			held[j] += apart[b]
		}
		if i%255 == 0 || i == n {
			for v := range counts {
				counts[v] += held[v/8] >> (8 * (v % 8)) & 0xff
			}
			clear(held)
		}
	}
	return counts
}

// apart has the bits of a byte in the bytes of a word, the highest in the lowest.
var apart = func() (table [256]uint64) {
	for b := range table {
		for i := range 8 {
			table[b] |= uint64(b) >> (7 - i) & 1 << (8 * i)
		}
	}
	return table
}()

// TestNodeOfUnaryEncoding takes the standard deviations of a node that nobody and that everybody is
// in, for 10^5 contributors: 0.00607 and 0.00684. Those of a fifth more must not pass.
func TestNodeOfUnaryEncoding(t *testing.T) {
	const n = 100_000
	r := exact.New(stattest.Source(t, "node"))
	u, _ := exact.NewUnaryEncoding(one, 4096)
	counts := unary(r, u, 4096, n, func() uint64 { return 0 })
	empty := OUE(counts, n, u.Flip()).Values()[1:]
	var full []float64
	for range 2000 {
		ones := 0
		for range n / 64 {
			ones += bits.OnesCount64(r.Uint64()) // the fair coins of the truth's bit
		}
		full = append(full, OUE([]uint64{uint64(ones), 0, 0, 0}, n/64*64, u.Flip()).Values()[0]-1)
	}
	for _, c := range []struct {
		name   string
		errors []float64
		want   float64
	}{{"of nobody", empty, 0.00607}, {"of everybody", full, 0.00684}} {
		stattest.Accept(t, stattest.Variance(c.name, c.errors, c.want*c.want, 3))
		stattest.Reject(t, stattest.Variance(c.name, c.errors, 1.44*c.want*c.want, 3))
	}
}

// ranges is what Hier and Haar have in common.
type ranges interface {
	Range(a, b float64) (value, stderr float64)
	Mean() (value, stderr float64)
}

// shape is one kind of tree in one size, drawn anew for each trial.
type shape struct {
	name   string
	leaves int
	n      int
	typ    float64 // the closed form of a prefix's standard error
	make   func(*exact.Rand, values) ranges
}

func shapesOf(t testing.TB) []shape {
	hier := func(h, n int) shape {
		typ := math.Sqrt((0.52*float64(h*h)*v1 + 0.25*float64(h)) / float64(n))
		return shape{fmt.Sprintf("HIER h=%d n=%d", h, n), 1 << (2 * h), n, typ, func(r *exact.Rand, v values) ranges {
			return NewHier(hier(t, r, v, h, n))
		}}
	}
	haar := func(k, n int) shape {
		a := (math.E + 1) / (math.E - 1)
		return shape{fmt.Sprintf("HAAR K=%d n=%d", k, n), 1 << k, n, a * float64(k) / math.Sqrt(12*float64(n)), func(r *exact.Rand, v values) ranges {
			return NewHaar(haarLevels(t, r, v, k, n))
		}}
	}
	return []shape{hier(3, 3000), hier(5, 2500), haar(10, 3000)}
}

// haarLevels draws n contributors, in equal shares on k levels, and their reports, as LDP_HAAR has
// it.
func haarLevels(t testing.TB, r *exact.Rand, v values, k, n int) []Level {
	levels := make([]Level, k)
	for l := range levels {
		had, err := exact.NewHadamard(one, 1<<(k-l-1))
		if err != nil {
			t.Fatal(err)
		}
		sums := make([]int64, 1<<(k-l-1))
		for range n / k {
			leaf := v.draw()
			j, bit := had.Randomize(r, leaf>>l&1 == 1, leaf>>(l+1))
			sums[j]--
			if bit {
				sums[j] += 2
			}
		}
		levels[l] = HRR(sums, uint64(n/k), exact.KeepBinary(one))
	}
	return levels
}

// TestStandardErrors divides the errors of prefixes, of ranges and of means by their standard
// errors: the quotients have variance 1. Standard errors of 0.8 or 1.25 times the size must not
// pass. The errors of prefixes are as the closed forms have them within a fifth.
func TestStandardErrors(t *testing.T) {
	const trials = 1000
	for _, s := range shapesOf(t) {
		r := exact.New(stattest.Source(t, s.name))
		v := values{rand.New(stattest.Source(t, s.name+" values")), s.leaves}
		var prefix, ranges, mean, raw []float64
		population := 0.5 / float64(s.leaves)
		for i := 1; i < s.leaves; i++ {
			population += (1 - v.below(i, s.leaves)) / float64(s.leaves)
		}
		for range trials {
			tree := s.make(r, v)
			at, to := v.r.IntN(s.leaves-1)+1, v.r.IntN(s.leaves-1)+1
			at, to = min(at, to), max(at, to)+1
			x, e := tree.Range(0, float64(at)/float64(s.leaves))
			raw = append(raw, x-v.below(at, s.leaves))
			prefix = append(prefix, raw[len(raw)-1]/e)
			x, e = tree.Range(float64(at)/float64(s.leaves), float64(to)/float64(s.leaves))
			ranges = append(ranges, (x-v.below(to, s.leaves)+v.below(at, s.leaves))/e)
			x, e = tree.Mean()
			mean = append(mean, (x-population)/e)
		}
		for name, errors := range map[string][]float64{"prefix": prefix, "range": ranges, "mean": mean} {
			stattest.Accept(t, stattest.Variance(s.name+" "+name, errors, 1, 3.5))
			stattest.Reject(t, stattest.Variance(s.name+" "+name+" 0.8", errors, 0.8*0.8, 3.5))
			stattest.Reject(t, stattest.Variance(s.name+" "+name+" 1.25", errors, 1.25*1.25, 3.5))
		}
		if ratio := rms(raw) / s.typ; ratio < 0.8 || ratio > 1.2 {
			t.Errorf("%s: prefixes are %.3g off, %.2f times the closed form", s.name, rms(raw), ratio)
		} else {
			t.Logf("%s: prefixes are %.4g off, %.3f times the closed form", s.name, rms(raw), ratio)
		}
	}
}

func rms(x []float64) float64 { return math.Sqrt(dot(x, x) / float64(len(x))) }

// TestPrefixError compares the root mean square of all prefixes with PrefixError, and with the
// closed form.
func TestPrefixError(t *testing.T) {
	r := exact.New(stattest.Source(t, "prefix error"))
	v := values{rand.New(stattest.Source(t, "prefix error values")), 64}
	tree := NewHier(hier(t, r, v, 3, 6000))
	sum := 0.0
	for i := 1; i < 64; i++ {
		_, e := tree.Range(0, float64(i)/64)
		sum += e * e
	}
	if got, want := tree.PrefixError(), math.Sqrt(sum/63); math.Abs(got/want-1) > 1e-12 {
		t.Errorf("%v, want %v", got, want)
	}
	typ := math.Sqrt((0.52*9*v1 + 0.25*3) / 6000)
	if got := tree.PrefixError(); math.Abs(got/typ-1) > 0.2 {
		t.Errorf("%v, closed form %v", got, typ)
	}
}
