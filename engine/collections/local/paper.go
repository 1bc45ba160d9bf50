package local

import (
	"math"
	"runtime"
	"sync"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/geometry"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// PublishPaper is Publish by the decoders that [JKMW19] prints instead of by likelihood: for tests
// and the bench, which compare the two. They need more reports a level, and find means up to
// 2^(L−1) units only, a quarter of what L levels tell apart.
func PublishPaper(p *collect.Params, t *Tally) (collect.Published, error) {
	if err := enough(p, t); err != nil {
		return collect.Published{}, err
	}
	h := newHistograms(p, t)
	mean, ok := h.mean()
	if !ok {
		return collect.Published{}, refuse.New(refuse.RoundInconclusive, "No mean agrees with the residues of round %d of %s.", p.Round, p.Collection)
	}
	if p.Protocol == collect.LDPUV2 {
		return windowOf(p, mean, h.sd()), nil
	}
	return collect.Published{Centre: []float64{mean}}, nil
}

// histograms are the debiased residues of each level, Ĥ^j in [JKMW19], and their reports k.
type histograms struct {
	eps float64
	k   []float64
	h   [][geometry.Residues]float64
}

func newHistograms(p *collect.Params, t *Tally) histograms {
	r := newResidues(p, t)
	out := histograms{eps: p.Declaration.Epsilon.Float()}
	for _, l := range r.levels {
		k, h := l.reports(), l.counts
		for a := range h {
			h[a] = (h[a] - k*r.other) / (r.keep - r.other)
		}
		out.k, out.h = append(out.k, k), append(out.h, h)
	}
	return out
}

// psi bounds the errors of all debiased counts of a level with probability 1 − β.
func (x histograms) psi(j int) float64 {
	return (x.eps + 4) / (x.eps * math.Sqrt2) * math.Sqrt(x.k[j]*math.Log(8*float64(len(x.k))/beta))
}

// mean is ESTMEAN [JKMW19, Algorithm 3], with all four residues in the place of the two that are
// printed in its aggregation, and the second largest bin for M2. ok is false if no multiple of a
// level's width has the residue that the level's reports show.
func (x histograms) mean() (mean float64, ok bool) {
	j := len(x.h) - 1
	lo, hi := 0.0, math.Ldexp(1, j)
	for ; j >= 0; j-- {
		top, _ := largest(x.h[j])
		if x.h[j][top] < 0.52*x.k[j]+x.psi(j) {
			break
		}
		c, ok := multiple(lo, hi, j, func(residue int) bool { return residue == top })
		if !ok {
			return 0, false
		}
		lo, hi = math.Ldexp(c, j), math.Ldexp(c+1, j)
	}
	j = max(j, 0)
	first, second := largest(x.h[j])
	c, ok := multiple(lo, hi, j, func(residue int) bool { return residue == first || residue == second })
	return math.Ldexp(c, j), ok
}

// largest returns the residues with the largest and the second largest count.
func largest(h [geometry.Residues]float64) (first, second int) {
	second = -1
	for a := 1; a < len(h); a++ {
		if h[a] > h[first] {
			first = a
		}
	}
	for a := range h {
		if a != first && (second < 0 || h[a] > h[second]) {
			second = a
		}
	}
	return first, second
}

// multiple returns the largest c with c·2^j in [lo, hi] and a wanted residue modulo 4.
func multiple(lo, hi float64, j int, wanted func(residue int) bool) (c float64, ok bool) {
	for c = math.Floor(math.Ldexp(hi, -j)); math.Ldexp(c, j) >= lo; c-- {
		if wanted(int(c) % geometry.Residues) {
			return c, true
		}
	}
	return 0, false
}

// sd is ESTVAR [JKMW19, section 4.1.1]: 2^j for the least j above which every level is
// concentrated, two adjacent residues of it having next to nothing.
func (x histograms) sd() float64 {
	j := len(x.h) - 1
	for j > 0 && x.concentrated(j) {
		j--
	}
	return math.Ldexp(1, j)
}

func (x histograms) concentrated(j int) bool {
	levels, k := float64(len(x.k)), x.k[j]
	tau := math.Sqrt(2*k*math.Log(2*levels/beta)) + (1+4/x.eps)*math.Sqrt(2*k*math.Log(8*levels/beta))
	least := math.Inf(1)
	for a := range x.h[j] {
		least = min(least, x.h[j][a]+x.h[j][(a+1)%geometry.Residues])
	}
	return least <= 0.03*k+tau
}

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
