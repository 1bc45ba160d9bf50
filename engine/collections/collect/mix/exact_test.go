package mix

import (
	"fmt"
	"math"
	"math/big"
	"testing"
)

// bag is how often each element of Z_q is among the messages.
type bag [4]int

// bags returns in how many of the q^(n(m−1)) equally likely ways the splitting of the inputs gives
// each bag.
func bags(inputs []int, m, q int) map[bag]int64 {
	out := map[bag]int64{{}: 1}
	for _, x := range inputs {
		next := map[bag]int64{}
		for b, n := range out {
			split(b, x, m, q, func(with bag) { next[with] += n })
		}
		out = next
	}
	return out
}

// split calls f for every way to add m shares with sum x to the bag.
func split(b bag, x, m, q int, f func(bag)) {
	if m == 1 {
		b[x]++
		f(b)
		return
	}
	for r := range q {
		with := b
		with[r]++
		split(with, (x-r+q)%q, m-1, q, f)
	}
}

// distance returns the total variation between two laws given by counts with the same total.
func distance(a, b map[bag]int64) float64 {
	var diff, total int64
	for k, n := range a {
		total += n
		diff += max(n-b[k], 0)
	}
	return float64(diff) / float64(total)
}

// worst returns the largest distance between the bags of inputs of n contributors with equal sums.
func worst(n, m, q int) float64 {
	bySum := map[int][]map[bag]int64{}
	inputs := make([]int, n)
	var all func(at, least int)
	all = func(at, least int) { // the order of the inputs does not matter
		if at == n {
			sum := 0
			for _, x := range inputs {
				sum += x
			}
			bySum[sum%q] = append(bySum[sum%q], bags(inputs, m, q))
			return
		}
		for x := least; x < q; x++ {
			inputs[at] = x
			all(at+1, x)
		}
	}
	all(0, 0)
	far := 0.0
	for _, laws := range bySum {
		for i, a := range laws {
			for _, b := range laws[:i] {
				far = max(far, distance(a, b))
			}
		}
	}
	return far
}

// excess returns E[q^(c−1)] − 1 in exact arithmetic, where c is the number of components of the
// random multigraph on h rows with `each` edges out of and into every row. With F(x) = Σ
// (h·each)!/h! x^h, F = exp(C) for the generating function C of the connected ones, and
// E[q^c]·(h·each)!/h! is the coefficient of x^h in F^q, which Euler's recurrence for powers of
// series gives.
func excess(h, each int, q uint64) float64 {
	f := make([]*big.Int, h+1)
	g := make([]*big.Int, h+1)
	for k := range f {
		f[k] = new(big.Int).MulRange(int64(k)+1, int64(k*each)) // (k·each)!/k!
	}
	g[0] = big.NewInt(1)
	for n := 1; n <= h; n++ {
		sum := new(big.Int)
		for k := 1; k <= n; k++ {
			c := new(big.Int).SetUint64(q + 1)
			c.Sub(c.Mul(c, big.NewInt(int64(k))), big.NewInt(int64(n)))
			sum.Add(sum, c.Mul(c.Mul(c, f[k]), g[n-k]))
		}
		g[n] = sum.Quo(sum, big.NewInt(int64(n))) // exact: the coefficients are integers
	}
	r := new(big.Rat).SetFrac(g[h], new(big.Int).Mul(f[h], new(big.Int).SetUint64(q)))
	out, _ := r.Sub(r, big.NewRat(1, 1)).Float64()
	return out
}

// TestWorstCaseByEnumeration has the distances of the protocol's description, and holds the first
// three steps of the argument against them: the distance is at most √(E[q^(c−1)] − 1) for one share
// less.
func TestWorstCaseByEnumeration(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n, m, q int
		want    float64 // 0: not in the description
	}{
		{3, 3, 2, 0.140625}, {4, 3, 2, 0.15625}, {3, 4, 2, 0.06640625}, {4, 4, 2, 0.060546875}, {3, 3, 3, 23.0 / 81},
		{5, 3, 2, 0}, {6, 4, 2, 0}, {5, 5, 2, 0}, {3, 4, 3, 0}, {4, 4, 3, 0}, {3, 3, 4, 0}, {3, 4, 4, 0},
	} {
		t.Run(fmt.Sprint(c.n, c.m, c.q), func(t *testing.T) {
			t.Parallel()
			got := worst(c.n, c.m, c.q)
			if c.want != 0 && math.Abs(got-c.want) > 1e-12 {
				t.Errorf("worst distance: got %.9g, want %.9g", got, c.want)
			}
			bound := math.Sqrt(excess(c.n, c.m-1, uint64(c.q)))
			if !(got <= bound && got >= 0.2*bound) {
				t.Errorf("worst distance %g, the argument allows %g", got, bound)
			}
			if weak := worst(c.n, c.m-1, c.q); weak <= got {
				t.Errorf("one share less: %g is no worse than %g", weak, got)
			}
		})
	}
}

// TestExcessByEnumeration counts the components of all multigraphs of a small size.
func TestExcessByEnumeration(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ h, each int }{{1, 3}, {2, 2}, {3, 2}, {2, 3}, {4, 2}} {
		const q = 5
		n := c.h * c.each
		sum, count := 0.0, 0.0
		to := make([]int, n)
		used := make([]bool, n)
		var all func(at int)
		all = func(at int) {
			if at == n {
				sum += math.Pow(q, float64(components(c.h, c.each, to)-1))
				count++
				return
			}
			for j := range n {
				if !used[j] {
					used[j], to[at] = true, j
					all(at + 1)
					used[j] = false
				}
			}
		}
		all(0)
		if got, want := excess(c.h, c.each, q), sum/count-1; math.Abs(got-want) > 1e-12*(1+want) {
			t.Errorf("h=%d each=%d: got %g, by enumeration %g", c.h, c.each, got, want)
		}
	}
}

func components(h, each int, to []int) int {
	label := make([]int, h)
	for i := range label {
		label[i] = i
	}
	for i, j := range to {
		if a, b := label[i/each], label[j/each]; a != b {
			for k := range label {
				if label[k] == a {
					label[k] = b
				}
			}
		}
	}
	distinct := map[int]bool{}
	for _, l := range label {
		distinct[l] = true
	}
	return len(distinct)
}

// TestBoundAgainstExactExpectation holds steps 4 of the argument, and Eta's arithmetic, against
// E[q^(c−1)] − 1 in exact integers.
func TestBoundAgainstExactExpectation(t *testing.T) {
	t.Parallel()
	sharp := 0
	for _, c := range []struct{ h, bits, m int }{
		{64, 1, 4}, {64, 8, 6}, {64, 20, 10}, {64, 23, 17}, {72, 23, 17}, {72, 23, 16}, {80, 30, 12}, {90, 40, 14}, {100, 24, 8}, {100, 62, 20},
	} {
		e := Eta(uint64(c.h), c.bits, c.m)
		if math.IsInf(e, 1) {
			continue
		}
		exact := excess(c.h, c.m-1, 1<<c.bits)
		t.Logf("h=%d bits=%d m=%d: bound %.3g, exact %.3g", c.h, c.bits, c.m, e*e, exact)
		if !(e*e >= exact*(1-1e-12)) {
			t.Errorf("h=%d bits=%d m=%d: bound %g is below the exact %g", c.h, c.bits, c.m, e*e, exact)
		}
		if wrong := Eta(uint64(c.h), c.bits, c.m+1); wrong*wrong < exact {
			sharp++ // counting one share too many would break it
		}
	}
	if sharp == 0 {
		t.Error("no case is sharp enough to notice one share too many")
	}
}

// TestDirectFormula evaluates B as it is written, where its second part counts, too.
func TestDirectFormula(t *testing.T) {
	t.Parallel()
	second := 0
	for _, h := range []float64{64, 100, 7200, 1e6} {
		for _, bits := range []int{1, 20, 46, 62} {
			for m := MinShares; m < 30; m++ {
				q, s := math.Ldexp(1, bits), float64(m-2)
				one := q * math.Pow(h, -s) * (1 + h/2*math.Pow(2/(h-1), s))
				x := q * math.Pow(math.E/h, s) * (1 + h/2*math.Pow(2*math.E/h, s))
				if x > 600 {
					continue
				}
				more := math.Expm1(x) - x
				if x < 1e-3 {
					more = x * x / 2 * (1 + x/3 + x*x/12)
				}
				if more > one {
					second++
				}
				if got, want := Eta(uint64(h), bits, m), math.Sqrt(one+more); math.Abs(got/want-1) > 1e-7 {
					t.Errorf("h=%g bits=%d m=%d: got %g, want %g", h, bits, m, got, want)
				}
			}
		}
	}
	if second < 10 {
		t.Errorf("the second part counts in %d cases only", second)
	}
}
