package local

import (
	"math"

	"scrim/engine/collect/geometry"
)

// slice computes ℓ of one standard deviation for means on a grid g·step, g = 0, 1, …, by a few
// additions a point and level. The step is the power of two from sd/8 to sd/4, so cells of every
// level that says anything are a whole number of steps wide, and a level's part of ℓ repeats after
// four cells.
type slice struct {
	sd, step float64
	points   int     // g < points
	uniform  float64 // the part of levels that say nothing
	levels   []period
}

// period is one level's part of ℓ: within reach of the edge below residue a, edges[a][i] at i −
// near steps from that edge; farther inside of residue a's cell, inside[a]. If cells are not wider
// than that reach, all of the period is in whole instead.
type period struct {
	cell   int // steps of a cell
	near   int // steps of reach
	inside [geometry.Residues]float64
	edges  [geometry.Residues][]float64
	whole  []float64
}

// newSlice prepares the grid for a standard deviation.
func (r residues) newSlice(sd float64) slice {
	_, exponent := math.Frexp(sd)
	s := slice{sd: sd, step: math.Ldexp(1, exponent-3)}
	s.points = int(math.Floor(r.span/s.step)) + 1
	ramp := s.ramp()
	for _, l := range r.levels {
		switch {
		case l.width < fine*sd:
			s.uniform += r.score(l, residueShares(0, sd, l.width))
		case int(l.width/s.step) <= len(ramp):
			s.levels = append(s.levels, r.narrow(l, s, ramp))
		default:
			s.levels = append(s.levels, r.wide(l, s, ramp))
		}
	}
	return s
}

// ramp returns the probability of lying above an edge for means from near steps below it to near −
// 1 steps above: Φ at whole numbers of steps.
func (s slice) ramp() []float64 {
	near := int(math.Ceil(reach * s.sd / s.step))
	out := make([]float64, 2*near)
	for i := range out {
		out[i] = normal(float64(i-near) * s.step / s.sd)
	}
	return out
}

// narrow returns the part of a level whose cells are not wider than reach to both sides.
func (r residues) narrow(l residueLevel, s slice, ramp []float64) period {
	p := period{cell: int(l.width / s.step)}
	p.whole = make([]float64, geometry.Residues*p.cell)
	for g := range p.whole {
		p.whole[g] = r.score(l, rampShares(ramp, p.cell, g))
	}
	return p
}

// rampShares is residueShares for a mean at grid point g, 0 <= g < 4·cell: edges are grid points
// too.
func rampShares(ramp []float64, cell, g int) (p [geometry.Residues]float64) {
	near := len(ramp) / 2
	m := (g-near+geometry.Residues*cell*near)/cell - geometry.Residues*near // ⌊(g−near)/cell⌋
	below := 0.0
	for edge := (m+1)*cell - g + near; ; edge += cell {
		upto := 1.0
		if edge < len(ramp) {
			upto = ramp[edge]
		}
		p[m&3] += upto - below
		if upto == 1 {
			return p
		}
		below, m = upto, m+1
	}
}

// wide returns the part of a level whose cells are wider: no mean is within reach of two edges.
func (r residues) wide(l residueLevel, s slice, ramp []float64) period {
	p := period{cell: int(l.width / s.step), near: len(ramp) / 2}
	for a := range geometry.Residues {
		var shares [geometry.Residues]float64
		p.edges[a] = make([]float64, len(ramp))
		for i, above := range ramp {
			shares[a], shares[(a+3)%geometry.Residues] = above, 1-above
			p.edges[a][i] = r.score(l, shares)
		}
		shares[a], shares[(a+3)%geometry.Residues] = 1, 0
		p.inside[a] = r.score(l, shares)
	}
	return p
}

// fill writes ℓ of the grid points from g on into dst.
func (s slice) fill(dst []float64, g int) {
	for i := range dst {
		dst[i] = s.uniform
	}
	for i := range s.levels {
		s.levels[i].addTo(dst, g)
	}
}

// addTo adds the level's part at the grid points from g on.
func (p *period) addTo(dst []float64, g int) {
	if p.whole != nil {
		for at := g % len(p.whole); len(dst) > 0; at = 0 {
			n := min(len(dst), len(p.whole)-at)
			addTo(dst[:n], p.whole[at:at+n])
			dst = dst[n:]
		}
		return
	}
	for len(dst) > 0 {
		a, at := g/p.cell%geometry.Residues, g%p.cell
		n := p.addRun(dst, a, at)
		dst, g = dst[n:], g+n
	}
}

// addRun adds the part at steps from the lower edge of residue a's cell, up to where its form
// changes, and returns how many points that were.
func (p *period) addRun(dst []float64, a, at int) int {
	switch upper := p.cell - p.near; {
	case at < p.near:
		n := min(len(dst), p.near-at)
		addTo(dst[:n], p.edges[a][at+p.near:at+p.near+n])
		return n
	case at < upper:
		n := min(len(dst), upper-at)
		for i := range dst[:n] {
			dst[i] += p.inside[a]
		}
		return n
	default:
		n := min(len(dst), p.cell-at)
		addTo(dst[:n], p.edges[(a+1)%geometry.Residues][at-upper:at-upper+n])
		return n
	}
}
