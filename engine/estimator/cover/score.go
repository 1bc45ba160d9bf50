package cover

import (
	"math"
	"math/big"
	"runtime"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"scrim/engine/estimator/internal/fork"
	"scrim/engine/estimator/noise"
)

// cover is a plan with the scores of every position on every line, about a centre:
// scores[l][c+cells] for cell c of line l, at most top.
type cover struct {
	plan
	scores [][]int32
}

// newCover scores the positions of all lines. x has the plan's number of persons.
func (p plan) newCover(x points, centre []int64) cover {
	c := cover{plan: p, scores: make([][]int32, len(p.directions))}
	parallel(len(p.directions), func(l int) {
		c.scores[l] = p.positions(newLine(p.project(x, centre, p.directions[l])))
	})
	return c
}

// project returns the persons' projections on a direction, in ticks from the centre. Those beyond
// the reach of every position are cut there, where they count the same. It is a map of one person
// at a time.
func (p plan) project(x points, centre []int64, direction [2]int64) []int64 {
	var along [2]float64
	for j := range x {
		along[j] = float64(direction[j]) / float64(p.sub<<fixed) / p.tick
	}
	limit := float64(p.cells*ticks + p.reach)
	y := make([]int64, len(x[0]))
	for i := range y {
		v := 0.0
		for j := range x {
			v += float64(along[j] * float64(x[j][i]-centre[j]))
		}
		y[i] = int64(math.RoundToEven(min(max(v, -limit), limit)))
	}
	return y
}

// positions returns the scores of all positions of a line.
func (p plan) positions(l line) []int32 {
	out := make([]int32, 2*p.cells+1)
	const chunk = 1 << 10
	parallel((len(out)+chunk-1)/chunk, func(k int) {
		for i := k * chunk; i < min((k+1)*chunk, len(out)); i++ {
			out[i] = int32(min(l.score((int64(i)-p.cells)*ticks, p.reach, p.threshold), int64(p.top)))
		}
	})
	return out
}

// rows is the number of rows of candidates.
func (c cover) rows() int {
	if c.dim == 1 {
		return 1
	}
	return int(c.row())
}

// fill sets dst to the scores of row j, counted from 0: of each candidate the least score of its
// positions ([AKM25] Algorithm 6). It is false where all are 0, and dst is not set then.
func (c cover) fill(dst []int32, j int) bool {
	across := int64(0)
	if c.dim > 1 {
		across = int64(j) - c.side
	}
	for i := range dst {
		dst[i] = math.MaxInt32
	}
	for l, d := range c.directions {
		table := c.scores[l]
		at := across*d[1] - c.side*d[0] + 1<<(fixed-1) + c.cells<<fixed
		if d[0] == 0 && table[at>>fixed] == 0 {
			return false
		}
		for i, s := range dst {
			if s != 0 {
				dst[i] = min(s, table[at>>fixed])
			}
			at += d[0]
		}
	}
	return true
}

// counts returns how many candidates have the score 0, 1, …
func (c cover) counts() []int64 {
	total := make([]int64, c.top+1)
	var lock sync.Mutex
	c.eachRow(func() (func(j int, scores []int32), func()) {
		own := make([]int64, c.top+1)
		return func(_ int, scores []int32) {
				for _, s := range scores {
					own[s]++
				}
			}, func() {
				lock.Lock()
				defer lock.Unlock()
				for s, n := range own {
					total[s] += n
				}
			}
	})
	zeros := int64(c.rows()) * c.row()
	for _, n := range total {
		zeros -= n
	}
	total[0] += zeros // of rows that are 0 as a whole
	return total
}

// find returns the candidate of the given score and rank, counted by rows, as steps from the
// centre.
func (c cover) find(score int, rank int64) [2]int64 {
	matches := make([]int64, c.rows())
	if score == 0 {
		for j := range matches {
			matches[j] = c.row()
		}
	}
	c.eachRow(func() (func(j int, scores []int32), func()) {
		return func(j int, scores []int32) {
			matches[j] = 0
			for _, s := range scores {
				if int(s) == score {
					matches[j]++
				}
			}
		}, func() {}
	})
	j := 0
	for ; rank >= matches[j]; j++ {
		rank -= matches[j]
	}
	i := c.inRow(j, score, rank)
	if c.dim == 1 {
		return [2]int64{i - c.side, 0}
	}
	return [2]int64{i - c.side, int64(j) - c.side}
}

// inRow returns the candidate of the given score and rank in row j.
func (c cover) inRow(j, score int, rank int64) int64 {
	scores := make([]int32, c.row())
	if !c.fill(scores, j) {
		return rank // all are 0
	}
	for i, s := range scores {
		if int(s) != score {
			continue
		}
		if rank == 0 {
			return int64(i)
		}
		rank--
	}
	panic("cover: rank out of range")
}

// eachRow calls, on all cores, what worker returns: visit for every row that is not 0 as a whole,
// and done at the end.
func (c cover) eachRow(worker func() (visit func(j int, scores []int32), done func())) {
	var next atomic.Int64
	var wg fork.Group
	for range min(runtime.GOMAXPROCS(0), c.rows()) {
		wg.Go(func() {
			visit, done := worker()
			scores := make([]int32, c.row())
			for j := int(next.Add(1)) - 1; j < c.rows(); j = int(next.Add(1)) - 1 {
				if c.fill(scores, j) {
					visit(j, scores)
				}
			}
			done()
		})
	}
	wg.Wait()
}

// parallel calls work for 0, …, n−1 on all cores.
func parallel(n int, work func(i int)) {
	var next atomic.Int64
	var wg fork.Group
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				work(i)
			}
		})
	}
	wg.Wait()
}

// mean of an answer: the middle of the cover and the steps from it, in units and within the mean's
// range.
func (p plan) answer(centre []int64, steps [2]int64) []float64 {
	step := p.tick * ticks * float64(p.sub)
	out := slices.Repeat([]float64{0}, p.dim)
	for j := range out {
		out[j] = min(max(float64(centre[j])+float64(steps[j])*step, float64(p.lo)), float64(p.hi))
	}
	return out
}

// line holds the persons' projections on one direction, in ticks and in ascending order, with the
// sums of the first of them. A number is within ±2^37 and there are at most 2^24, so sums are
// within ±2^61.
type line struct {
	y    []int64
	sums []int64 // sums[i] = y[0] + … + y[i−1]
}

// newLine takes y over.
func newLine(y []int64) line {
	slices.Sort(y)
	sums := make([]int64, len(y)+1)
	for i, v := range y {
		sums[i+1] = sums[i] + v
	}
	return line{y, sums}
}

// score returns the least number of persons to exchange so that a candidate at the position at
// loses to the point ahead of it or to the one behind it, 2·threshold away on either side ([AKM25]
// Algorithm 5 and Definition 5.5 with one mean in the place of the median).
//
// With Z_i = clip(y_i − at, ±reach), it loses to the point ahead where Σ Z_i ≥ n·threshold. One
// exchange raises the sum the most where the least Z_i becomes reach, so the persons are taken from
// the lowest on until the sum suffices; with 0 < threshold < reach it does at the latest when all
// are. Behind it is the same with signs turned.
//
// Sensitivity: both numbers are Hamming distances of the list y to a set of lists of the same
// length, which depends on at, reach and threshold alone. They, and the less of them, change by at
// most 1 where one entry of y is any other. The order of y does not matter.
func (l line) score(at, reach, threshold int64) int64 {
	n := int64(len(l.y))
	i, _ := slices.BinarySearch(l.y, at-reach+1)
	j, _ := slices.BinarySearch(l.y, at+reach)
	// persons with Z = −reach, between, and Z = reach
	low, mid, high := int64(i), int64(j-i), n-int64(j)
	sum := reach*(high-low) + l.sums[j] - l.sums[i] - at*mid
	up := least(n*threshold-sum, low, mid, 2*reach, func(t int64) int64 {
		return t*(reach+at) - (l.sums[i+int(t)] - l.sums[i])
	})
	down := least(n*threshold+sum, high, mid, 2*reach, func(t int64) int64 {
		return t*(reach-at) + l.sums[j] - l.sums[j-int(t)]
	})
	return min(up, down)
}

// least returns the least number of exchanges that bring need, where the first ends bring whole
// each and t of the next mid bring gain(t), which does not fall.
func least(need, ends, mid, whole int64, gain func(t int64) int64) int64 {
	if need <= 0 {
		return 0
	}
	if t := (need + whole - 1) / whole; t <= ends {
		return t
	}
	need -= ends * whole
	return ends + 1 + int64(sort.Search(int(mid)-1, func(t int) bool { return gain(int64(t)+1) >= need }))
}

// weights are those of the scores 0, 1, 2, …: W(0) = 2^128 and W(s+1) = ⌊W(s)·b/2^128⌋ for the
// integer b = ⌊e^{ε/2}·2^128⌋, rounded down again in its computation. So W(s+1) ≤ e^{ε/2}·W(s), and
// W(s) ≤ W(s+1) as b/2^128 > 1 + 2^-43 for ε ≥ 2^-40: a score that moves by 1 changes its weight by
// a factor of at most e^{ε/2} either way, for all s, without any error term.
type weights struct{ growth *big.Int } // b

const weightBits = 128

// newWeights returns the weights for 2^-40 <= eps <= maxEpsilon.
func newWeights(eps float64) weights {
	b, _ := expDown(eps/2).SetMantExp(expDown(eps/2), weightBits).Int(nil)
	return weights{b}
}

// expDown returns e^x for 0 < x <= 32, at most 2^-200 of it too small, never too large.
//
// It is (e^{x/64})^64 with a Taylor series for the inner power. All terms are positive and every
// operation rounds towards 0. The term 60 is below 2^-300 of the sum, and 320 bits less 6 for the
// squarings and some for the rounding of the terms remain.
func expDown(x float64) *big.Float {
	zero := func() *big.Float { return new(big.Float).SetPrec(320).SetMode(big.ToZero) }
	y := zero().SetMantExp(zero().SetFloat64(x), -6)
	sum, term := zero().SetInt64(1), zero().SetInt64(1)
	for i := int64(1); i <= 60; i++ {
		term.Quo(term.Mul(term, y), zero().SetInt64(i))
		sum.Add(sum, term)
	}
	for range 6 {
		sum.Mul(sum, sum)
	}
	return sum
}

// each calls visit with the weights of the scores 0, 1, …, top, until it returns false. The number
// changes after the call.
func (w weights) each(top int, visit func(score int, weight *big.Int) bool) {
	weight, product := new(big.Int).Lsh(big.NewInt(1), weightBits), new(big.Int)
	for s := 0; s <= top && visit(s, weight); s++ {
		weight.Rsh(product.Mul(weight, w.growth), weightBits)
	}
}

// draw returns the score of a candidate, and its rank among those of this score, where counts[s]
// candidates have the score s, and one at least some: each is drawn with a probability of exactly
// its weight over the sum of all.
func (w weights) draw(n noise.Noiser, counts []int64) (score int, rank int64) {
	top := len(counts) - 1
	for counts[top] == 0 {
		top--
	}
	sum, part, count := new(big.Int), new(big.Int), new(big.Int)
	w.each(top, func(s int, weight *big.Int) bool {
		if counts[s] > 0 {
			sum.Add(sum, part.Mul(weight, count.SetInt64(counts[s])))
		}
		return true
	})
	u := below(n, sum)
	w.each(top, func(s int, weight *big.Int) bool {
		if counts[s] == 0 {
			return true
		}
		if u.Cmp(part.Mul(weight, count.SetInt64(counts[s]))) >= 0 {
			u.Sub(u, part)
			return true
		}
		score, rank = s, u.Quo(u, weight).Int64()
		return false
	})
	return score, rank
}

// below returns a uniform integer under bound > 0, by rejection.
func below(n noise.Noiser, bound *big.Int) *big.Int {
	length := bound.BitLen()
	for {
		u := new(big.Int)
		for have := 0; have < length; have += 64 {
			u.Lsh(u, 64).Or(u, new(big.Int).SetUint64(n.Uniform()))
		}
		if u.Rsh(u, uint((length+63)/64*64-length)); u.Cmp(bound) < 0 {
			return u
		}
	}
}
