package local

import (
	"math"
	"runtime"
	"sync"

	"scrim/internal/lists"
)

// point is a mean and a standard deviation, with ℓ there.
type point struct{ mean, sd, score float64 }

// blockPoints is how many grid points are looked at together: 64 KiB of them.
const blockPoints = 1 << 13

// grid is ℓ on slices of one standard deviation each.
type grid struct {
	slices []slice
	blocks []block // all slices' points, in order
}

type block struct{ slice, from, to int }

// newGrid prepares slices for standard deviations.
func (r residues) newGrid(sds []float64) grid {
	g := grid{slices: make([]slice, len(sds))}
	parallel(len(sds), func(i int) { g.slices[i] = r.newSlice(sds[i]) })
	for i, s := range g.slices {
		for from := 0; from < s.points; from += blockPoints {
			g.blocks = append(g.blocks, block{i, from, min(from+blockPoints, s.points)})
		}
	}
	return g
}

// each computes ℓ of every block on all cores, and has visit take what it wants.
func (g grid) each(visit func(b int, s slice, from int, scores []float64)) {
	buffers := sync.Pool{New: func() any { return new([blockPoints]float64) }}
	parallel(len(g.blocks), func(b int) {
		buffer := buffers.Get().(*[blockPoints]float64)
		defer buffers.Put(buffer)
		at := g.blocks[b]
		scores := buffer[:at.to-at.from]
		g.slices[at.slice].fill(scores, at.from)
		visit(b, g.slices[at.slice], at.from, scores)
	})
}

// best returns the grid point with the largest ℓ, the first of equals: however many cores there
// are.
func (g grid) best() point {
	found := make([]point, len(g.blocks))
	g.each(func(b int, s slice, from int, scores []float64) {
		top := 0
		for i, x := range scores {
			if x > scores[top] {
				top = i
			}
		}
		found[b] = point{float64(from+top) * s.step, s.sd, scores[top]}
	})
	top := found[0]
	for _, f := range found[1:] {
		if f.score > top.score {
			top = f
		}
	}
	return top
}

// negligible is a difference of ℓ beyond which a point's posterior mass is left out: e^−60 of the
// largest, and there are less than 2^30 points.
const negligible = 60

// outside returns the share of the posterior mass whose mean is farther than radius from the
// centre, for a prior that is uniform over means and over the slices. best is the grid's largest ℓ.
func (g grid) outside(best, centre, radius float64) float64 {
	far, all := make([]float64, len(g.blocks)), make([]float64, len(g.blocks))
	g.each(func(b int, s slice, from int, scores []float64) {
		for i, x := range scores {
			if x < best-negligible {
				continue
			}
			mass := s.step * math.Exp(x-best)
			all[b] += mass
			if mean := float64(from+i) * s.step; math.Abs(mean-centre) > radius {
				far[b] += mass
			}
		}
	})
	return total(far) / total(all)
}

func total(x []float64) float64 {
	return lists.Sum(x, func(v float64) float64 { return v })
}

// parallel calls f for 0 … n−1 on all cores.
func parallel(n int, f func(i int)) {
	var next struct {
		sync.Mutex
		i int
	}
	take := func() int {
		next.Lock()
		defer next.Unlock()
		next.i++
		return next.i - 1
	}
	var all sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for i := take(); i < n; i = take() {
				f(i)
			}
		})
	}
	all.Wait()
}
