package everyday

import (
	"math"
	"math/rand/v2"
)

// rowsLaw returns how many rows each of n persons has.
type rowsLaw func(r *rand.Rand, n int) []int

// valueLaw draws a value; false stands for NULL.
type valueLaw func(r *rand.Rand) (float64, bool)

func each(draw func(r *rand.Rand) int) rowsLaw {
	return func(r *rand.Rand, n int) []int {
		out := make([]int, n)
		for i := range out {
			out[i] = draw(r)
		}
		return out
	}
}

// one has one row a person.
func one() rowsLaw { return each(func(*rand.Rand) int { return 1 }) }

// poisson has at least one row a person, 1 + Poisson(mean − 1).
func poisson(mean float64) rowsLaw {
	return each(func(r *rand.Rand) int {
		k, p, stop := 1, r.Float64(), math.Exp(1-mean)
		for p > stop {
			k++
			p *= r.Float64()
		}
		return k
	})
}

// geometric has 1, 2, … rows with the given mean.
func geometric(mean float64) rowsLaw {
	return each(func(r *rand.Rand) int {
		return 1 + int(math.Log(1-r.Float64())/math.Log(1-1/mean))
	})
}

// giant has Zipf's numbers of rows, n/10 over the rank, and a first person who owns 30 % of all
// rows.
func giant() rowsLaw {
	return func(_ *rand.Rand, n int) []int {
		out := make([]int, n)
		sum := 0
		for i := 1; i < n; i++ {
			out[i] = 1 + n/10/(i+1)
			sum += out[i]
		}
		out[0] = sum * 3 / 7
		return out
	}
}

// spike has one row for most persons, and for one in a hundred 2 to 64 rows, Pareto-distributed.
func spike() rowsLaw {
	return each(func(r *rand.Rand) int {
		if r.IntN(100) > 0 {
			return 1
		}
		return min(64, int(2/(1-r.Float64())))
	})
}

// regulars has one to three rows for most persons, and about twenty for one in twenty.
func regulars() rowsLaw {
	return each(func(r *rand.Rand) int {
		if r.IntN(20) == 0 {
			return 15 + r.IntN(11)
		}
		return 1 + r.IntN(3)
	})
}

func normal(mean, sd float64) valueLaw {
	return func(r *rand.Rand) (float64, bool) { return mean + sd*r.NormFloat64(), true }
}

// logNormal has the median 20.
func logNormal(sigma float64) valueLaw {
	return func(r *rand.Rand) (float64, bool) { return 20 * math.Exp(sigma*r.NormFloat64()), true }
}

// pareto has the least value 10 and the exponent alpha.
func pareto(alpha float64) valueLaw {
	return func(r *rand.Rand) (float64, bool) { return 10 * math.Pow(1-r.Float64(), -1/alpha), true }
}

// coin is 1 with probability p, else 0.
func coin(p float64) valueLaw {
	return func(r *rand.Rand) (float64, bool) {
		if r.Float64() < p {
			return 1, true
		}
		return 0, true
	}
}

func constant(c float64) valueLaw { return func(*rand.Rand) (float64, bool) { return c, true } }

// holes makes a share of values NULL.
func holes(share float64, of valueLaw) valueLaw {
	return func(r *rand.Rand) (float64, bool) {
		x, ok := of(r)
		return x, ok && r.Float64() >= share
	}
}

// groupLaw draws one of k groups, from 0.
type groupLaw func(r *rand.Rand) int

func even(k int) groupLaw { return func(r *rand.Rand) int { return r.IntN(k) } }

// zipf gives group i a share in proportion to 1/(i+1).
func zipf(k int) groupLaw {
	ends := make([]float64, k)
	sum := 0.0
	for i := range ends {
		sum += 1 / float64(i+1)
		ends[i] = sum
	}
	return func(r *rand.Rand) int {
		u := r.Float64() * sum
		lo, hi := 0, k-1
		for lo < hi {
			if mid := (lo + hi) / 2; ends[mid] < u {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		return lo
	}
}
