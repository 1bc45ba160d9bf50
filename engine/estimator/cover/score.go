package cover

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"scrim/engine/estimator/internal/fork"
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
