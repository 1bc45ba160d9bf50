package accuracy

import (
	"math"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/geometry"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// beta is the failure probability that the product's decoders have as well.
const beta = 0.05

// publishPaper is local.Publish by the decoders that [JKMW19] prints instead of by likelihood. They
// need more reports a level, and find means up to 2^(L−1) units only, a quarter of what L levels
// tell apart.
func publishPaper(p *collect.Params, counts []residueCounts) (collect.Published, error) {
	h := newHistograms(p, counts)
	mean, ok := h.mean()
	if !ok {
		return collect.Published{}, refuse.New(refuse.RoundInconclusive, "No mean agrees with the residues of round %d of %s.", p.Round, p.Collection)
	}
	if p.Protocol != collect.LDPUV2 {
		return collect.Published{Centre: []float64{mean}}, nil
	}
	half := 2 + math.Sqrt(math.Log(4*float64(p.Declaration.Expected)))
	return collect.Published{Centre: []float64{math.Round(mean*1e4) / 1e4}, Width: math.Ceil(h.sd()*half*1e4) / 1e4}, nil
}

// residueCounts is how often each residue was reported on a level.
type residueCounts [geometry.Residues]float64

// add takes the report of a residue.
func (c *residueCounts) add(payload []byte) { c[payload[1]]++ }

// histograms are the debiased residues of each level, Ĥ^j in [JKMW19], and their reports k.
type histograms struct {
	eps float64
	k   []float64
	h   []residueCounts
}

func newHistograms(p *collect.Params, counts []residueCounts) histograms {
	keep := math.Ldexp(float64(p.Cells[0].Keep), -62)
	other := (1 - keep) / (geometry.Residues - 1)
	out := histograms{eps: p.Declaration.Epsilon.Float()}
	for _, h := range counts {
		k := lists.Sum(h[:], func(n float64) float64 { return n })
		for a := range h {
			h[a] = (h[a] - k*other) / (keep - other)
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
func largest(h residueCounts) (first, second int) {
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
