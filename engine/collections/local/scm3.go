package local

import (
	"math"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/geometry"
	"scrim/engine/collections/tree"
	"scrim/internal/lists"
)

// publishSCM3 ends rounds 1 and 2 of the shifted clipped mean: it finds the centre of the rotated
// vectors, and then how long they are about it.
//
// Source: [HLY21] Section 5.1, steps (2) and (3) of its framework; groups of contributors, one
// coordinate a person in round 1 and geometric buckets in round 2 are ours.
func publishSCM3(p *collect.Params, t *Tally) (collect.Published, error) {
	if p.Round == 1 {
		coordinates := lists.Make(p.Derived.Padded, func(j int) *tree.Hier { return tree.NewHier(treeLevels(p, t, j)) })
		return collect.Published{Centre: tree.Centre(p, coordinates)}, nil
	}
	norms := tree.NewHier(treeLevels(p, t, 0))
	return collect.Published{Centre: p.Published.Centre, Clip: tree.Clip(p, norms)}, nil
}

// treeLevels returns the levels of a coordinate's tree, from the root down.
func treeLevels(p *collect.Params, t *Tally, coordinate int) []tree.Level {
	var levels []tree.Level
	for _, c := range p.Cells {
		if c.Coordinate == coordinate {
			levels = append(levels, t.level(c))
		}
	}
	return levels
}

// vector is the estimate of a mean vector.
type vector struct {
	Only
	mean   []float64
	stderr float64 // root of the expected squared length of the error
}

// Vector implements Estimate.
func (v vector) Vector() ([]float64, float64, error) {
	return append([]float64(nil), v.mean...), v.stderr, nil
}

// decodeSCM3 ends round 3: the mean of the clipped vectors about the centre, from directions or
// from Gaussian reports, shifted and rotated back. It is unbiased but for what was clipped, and its
// noise is alike in all directions, so that of the d declared coordinates is their share of the
// noise of all.
func decodeSCM3(p *collect.Params, t *Tally, info Info) (Estimate, error) {
	cell := p.Cells[0]
	n := float64(t.Received(cell.Cell))
	var y []float64
	var variance float64 // of all rotated coordinates together
	if cell.Randomiser == collect.Sphere {
		y, variance = sphereMean(p, cell, t.part(cell.Cell).sum.(*sphere), n)
	} else {
		y, variance = gaussMean(p, t.part(cell.Cell).sum.(*coordinates).sums, n)
	}
	target := p.Derived.ClipTarget
	info.Clip, info.Covers, info.Omits = &target, coversBoth, omitsBias
	share := float64(p.Declaration.Dimension) / float64(p.Derived.Padded)
	return vector{only(info, "LDP_VECTOR_MEAN(report)"), tree.Restore(p, y), math.Sqrt(share * variance)}, nil
}

// sphereMean returns the mean of the clipped vectors and the variance of its length's error,
//
//	y = S/n·Σ ±u     S = C·A/c_d     ((S)² − ‖y‖²)/n
//
// where ±u are the reported unit vectors and c_d is the mean of a unit vector along the side that
// it was drawn from: a report S·u has length S and mean y.
//
// Source: [DJW18], with directions named by seeds.
func sphereMean(p *collect.Params, c collect.Cell, s *sphere, n float64) (y []float64, variance float64) {
	noise := float64(uint64(1)<<62) / float64(2*c.Keep-1<<62)
	scale := p.Published.Clip * noise / geometry.SphereMean(int(c.Domain))
	y = make([]float64, c.Domain)
	for j, sum := range s.sums {
		y[j] = scale * (float64(sum) / directionUnit) / n
	}
	length := min(geometry.Norm(y), p.Published.Clip)
	return y, (scale*scale - length*length) / n
}

// gaussMean is sphereMean for reports on the grid of 65536·√d steps in C, with Gaussian noise a
// coordinate. That contributors are a sample adds at most (C² − ‖y‖²)/n.
func gaussMean(p *collect.Params, sums []int64, n float64) (y []float64, variance float64) {
	d := float64(len(sums))
	step := p.Published.Clip / (collect.GridRoot * math.Sqrt(d))
	y = lists.Map(sums, func(sum int64) float64 { return step * float64(sum) / n })
	length := min(geometry.Norm(y), p.Published.Clip)
	return y, (d*step*step*float64(p.GaussVariance()) + p.Published.Clip*p.Published.Clip - length*length) / n
}

// directionUnit is the number of steps of a unit vector's coordinate in sums: 2^30, so that 2^32
// reports sum within an int64.
const directionUnit = 1 << 30

// seedBytes is the length of a seed; the byte of a bit follows it.
const seedBytes = len(geometry.Seed{})

// sphere sums the directions of LDP_SCM3's round 3: a report is a seed and a bit, and stands for
// the unit vector of the seed, or for its opposite if the bit is 0. The sums are integers, so they
// do not depend on the order of the reports, or on who added which. Nothing is allocated for a
// report.
type sphere struct {
	cell       collect.Cell
	directions *geometry.Sphere
	unit       []float64
	sums       []int64 // in 1/directionUnit
}

func newSphere(p *collect.Params, c collect.Cell) accumulator {
	return &sphere{c, geometry.NewSphere(p.Fingerprint()), make([]float64, c.Domain), make([]int64, c.Domain)}
}

func (s *sphere) add(payload []byte, times uint64) error {
	if len(payload) != seedBytes+1 || payload[seedBytes] > 1 {
		return malformed(s.cell)
	}
	s.directions.DirectionTo(s.unit, geometry.Seed(payload[:seedBytes]))
	sign := (2*int64(payload[seedBytes]) - 1) * int64(times)
	for j, x := range s.unit {
		s.sums[j] += sign * int64(math.RoundToEven(x*directionUnit))
	}
	return nil
}

func (s *sphere) merge(other accumulator) { addTo(s.sums, other.(*sphere).sums) }

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
	return lists.Make(2*near, func(i int) float64 { return normal(float64(i-near) * s.step / s.sd) })
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
