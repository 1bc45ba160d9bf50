package tree

import (
	"math"
	"math/bits"
	"testing"

	"scrim/engine/collections/collect/exact"
)

// weighted is the mean and the variance of Σ c_v·value_v over one report, by enumeration of the
// reports with their probabilities.
func weighted(reports map[*Level]float64, c []float64) (mean, variance float64) {
	for l, p := range reports {
		x := dot(c, l.values)
		mean += p * x
		variance += p * x * x
	}
	return mean, variance - mean*mean
}

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// checkLaw compares what a level says of one report with the enumeration.
func checkLaw(t *testing.T, name string, reports map[*Level]float64, c, f []float64) {
	t.Helper()
	var any *Level
	whole := 0.0
	for l, p := range reports {
		any, whole = l, whole+p
	}
	mean, variance := weighted(reports, c)
	if math.Abs(whole-1) > 1e-12 {
		t.Fatalf("%s: probabilities sum to %v", name, whole)
	}
	if want := dot(c, f); math.Abs(mean-want) > 1e-9 {
		t.Errorf("%s: mean %v, want %v", name, mean, want)
	}
	if got := any.of(c, f); math.Abs(got-variance) > 1e-9*(1e-5+variance) {
		t.Errorf("%s: variance %v, want %v", name, got, variance)
	}
	one, f0 := make([]float64, len(c)), make([]float64, len(c))
	one[0], f0[1] = 1, 1
	if got := any.of(one, f0); math.Abs(got/any.variance-1) > 1e-9 {
		t.Errorf("%s: variance of an empty node %v, stated %v", name, got, any.variance)
	}
}

var weights4 = [][]float64{{1, 0, 0, 0}, {1, 1, 0.25, 0}, {-0.5, 2, 1, 0.25}, {1, 1, 1, 1}, {0, 0, -3, 1}}

// TestLawOfOneReport enumerates the reports of one contributor of a random value, for every
// randomiser.
func TestLawOfOneReport(t *testing.T) {
	f := []float64{0.5, 0.125, 0.375, 0}
	for _, eps := range []exact.Epsilon{500, 10000, 40000} {
		for _, c := range weights4 {
			checkLaw(t, "KRR", enumerateKRR(eps, f), c, f)
			checkLaw(t, "OUE", enumerateOUE(eps, f), c, f)
		}
	}
}

// shareOf is the probability of an integer of package exact.
func shareOf(of uint64) float64 { return float64(of) / (1 << 62) }

func enumerateKRR(eps exact.Epsilon, f []float64) map[*Level]float64 {
	k, _ := exact.NewKaryResponse(eps, uint64(len(f)))
	out := map[*Level]float64{}
	for y := range f {
		counts := make([]uint64, len(f))
		counts[y] = 1
		l := KRR(counts, k.Keep())
		out[&l] = f[y]*shareOf(k.Keep()) + (1-f[y])*(1-shareOf(k.Keep()))/float64(len(f)-1)
	}
	return out
}

func enumerateOUE(eps exact.Epsilon, f []float64) map[*Level]float64 {
	u, _ := exact.NewUnaryEncoding(eps, uint64(len(f)))
	out := map[*Level]float64{}
	for y := range uint64(1) << len(f) {
		ones := make([]uint64, len(f))
		for v := range ones {
			ones[v] = y >> v & 1
		}
		p := 0.0
		for value := range f {
			given := 0.5
			for v := range ones {
				if v != value {
					given *= shareOf(u.Flip())*float64(ones[v]) + (1-shareOf(u.Flip()))*float64(1-ones[v])
				}
			}
			p += f[value] * given
		}
		l := OUE(ones, 1, u.Flip())
		out[&l] = p
	}
	return out
}

// TestLawOfHadamardReports enumerates index and bit for signs at random blocks. The variance takes
// the square of the estimate for that of the coefficient, so it is compared at the coefficient.
func TestLawOfHadamardReports(t *testing.T) {
	f := []float64{0.25, -0.125, 0, -0.375} // shares 0.25+, 0.125−, 0.25 of either sign, 0.375−
	keep := exact.KeepBinary(10000)
	for _, c := range weights4 {
		reports := map[*Level]float64{}
		for j := range uint64(4) {
			plus := 0.0 // that the bit says +1
			for v, coefficient := range f {
				share := []float64{0.25, 0.125, 0.25, 0.375}[v]
				sign := 1 - 2*float64(bits.OnesCount64(j&uint64(v))%2)
				plus += share/2 + coefficient*sign/2*(2*shareOf(keep)-1)
			}
			for s, q := range map[int64]float64{1: plus, -1: 1 - plus} {
				sums := make([]int64, 4)
				sums[j] = s
				l := HRR(sums, 1, keep)
				reports[&l] = q / 4
			}
		}
		mean, variance := weighted(reports, c)
		if want := dot(c, f); math.Abs(mean-want) > 1e-9 {
			t.Errorf("mean %v, want %v", mean, want)
		}
		for l := range reports {
			if got := l.square(dot(c, c), dot(c, f)); math.Abs(got/variance-1) > 1e-9 {
				t.Errorf("weights %v: variance %v, want %v", c, got, variance)
			}
			break
		}
	}
}

// TestLawOfNoiseMessages takes the variance of a binomial count.
func TestLawOfNoiseMessages(t *testing.T) {
	const n, flip = 1000, 1 << 26 // p = 1/64
	l := Binomial([]uint64{1000, 15, 0, 16}, n, flip)
	if got, want := l.values[0], 1-1.0/64; got != want {
		t.Errorf("share %v, want %v", got, want)
	}
	p := 1.0 / 64
	if got, want := l.of([]float64{1, 0, 2, 0}, []float64{1, 0, 0, 0}), 5*p*(1-p)/n; math.Abs(got/want-1) > 1e-12 {
		t.Errorf("variance %v, want %v", got, want)
	}
}

func TestMissingLevels(t *testing.T) {
	for _, l := range []Level{KRR(make([]uint64, 4), 1<<61), OUE(make([]uint64, 4), 0, 1<<60), HRR(make([]int64, 4), 0, 1<<61+1), Binomial(make([]uint64, 4), 0, 9), Missing(4)} {
		if len(l.Values()) != 4 || l.Values()[3] != 0 || !math.IsInf(l.variance, 1) {
			t.Errorf("values %v of variance %v", l.Values(), l.variance)
		}
		if l.of([]float64{1, 1, 1, 1}, []float64{1, 0, 0, 0}) != 0 || l.square(1, 0) != 0 {
			t.Error("a level without reports has no noise")
		}
	}
}
