package local

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"
)

// The estimates of KV and UV take values for Gaussian. What the reports say of that is asked twice:
// by the fit of all of them together, which sees any other law but none of them early, and by
// skewness and excess kurtosis alone, which see the usual ones early. What the reports do not
// exclude of these two widens the intervals.
//
// Near the Gaussian the distribution function at z standard deviations from the mean is, with
// skewness γ and excess kurtosis κ,
//
//	F(z) = Φ(z) − φ(z)·(γ/6·(z²−1) + κ/24·(z³−3z))
//
// which keeps mean and standard deviation (Gram and Charlier). All of this is computed from reports
// that are private already.

// moves are derivatives by the mean, the standard deviation, γ and κ.
type moves [4]float64

// edgeMoves returns the derivatives of F at an edge z standard deviations from the mean.
func edgeMoves(z, sd float64) moves {
	d := density(z)
	return moves{-d / sd, -z * d / sd, -d * (z*z - 1) / 6, -d * (z*z*z - 3*z) / 24}
}

func (m *moves) add(by moves, times float64) {
	for i := range m {
		m[i] += times * by[i]
	}
}

// reading is one possible report of a cell: how often it came, and how probable it is.
type reading struct {
	count, n float64 // of this report, and of all reports of the cell
	p        float64
	by       moves
}

// readings lists each level's residues at a point; levels without reports are left out.
func (r residues) readings(mean, sd float64) (all [][]reading) {
	for _, l := range r.levels {
		n := l.reports()
		if n == 0 {
			continue
		}
		shares, by := residueShares(mean, sd, l.width), residueMoves(mean, sd, l.width)
		cell := make([]reading, len(shares))
		for a, share := range shares {
			gain := r.keep - r.other
			cell[a] = reading{count: l.counts[a], n: n, p: r.other + gain*share}
			cell[a].by.add(by[a], gain)
		}
		all = append(all, cell)
	}
	return all
}

// residueMoves returns the derivatives of residueShares.
func residueMoves(mean, sd, width float64) (by [4]moves) {
	if width < fine*sd {
		return by
	}
	first := math.Floor((mean - reach*sd) / width)
	m := int(int64(first) & 3)
	for edge := (first + 1) * width; edge < mean+reach*sd; edge += width {
		move, above := edgeMoves((edge-mean)/sd, sd), (m+1)&3
		by[m].add(move, 1)
		by[above].add(move, -1)
		m = above
	}
	return by
}

// readings lists the two sides of each offset for the mean t.
func (s sides) readings(t float64) (all [][]reading) {
	for _, c := range s {
		y, _ := c.reported(t)
		var by moves
		for _, e := range c.edges(t) {
			by.add(edgeMoves(e.z, 1), e.sign*(2*c.keep-1))
		}
		one, zero := reading{count: c.ones, n: c.n, p: y, by: by}, reading{count: c.n - c.ones, n: c.n, p: 1 - y}
		zero.by.add(by, -1)
		all = append(all, []reading{one, zero})
	}
	return all
}

// law is what reports say of the law of values, where mean and maybe standard deviation are the
// likeliest ones.
type law struct {
	fit    float64    // p-value of all reports together
	shape  float64    // p-value of γ and κ, the smaller of the two, twice
	lean   [2]float64 // γ and κ by one step from 0, drawn towards 0 by lawSpread
	spread *mat.Dense // their covariance
	pull   [2]float64 // what a unit of each moves the likeliest mean by
}

// lawSpread is how large γ and κ are taken to be before any report: those of the exponential law, 2
// and 6.
var lawSpread = [2]float64{2, 6}

// lawOf returns what readings say at their likeliest point, of which the first estimated numbers,
// mean or mean and standard deviation, were estimated.
func lawOf(cells [][]reading, estimated int) law {
	score, info := evidence(cells)
	own, mixed := mat.NewDense(estimated, estimated, nil), mat.NewDense(estimated, 2, nil)
	for i := range estimated {
		for j := range estimated {
			own.Set(i, j, info[i][j])
		}
		mixed.Set(i, 0, info[i][2])
		mixed.Set(i, 1, info[i][3])
	}
	l := law{fit: fitOf(cells, estimated), shape: 1}
	var k mat.Dense
	if k.Solve(own, mixed) != nil {
		return law{fit: l.fit, shape: l.shape, spread: mat.NewDense(2, 2, []float64{square(lawSpread[0]), 0, 0, square(lawSpread[1])})}
	}
	var s [2]float64
	j := mat.NewDense(2, 2, nil)
	for a := range 2 {
		s[a] = score[2+a]
		for i := range estimated {
			s[a] -= k.At(i, a) * score[i]
		}
		for b := range 2 {
			x := info[2+a][2+b]
			for i := range estimated {
				x -= info[2+a][i] * k.At(i, b)
			}
			j.Set(a, b, x)
		}
		l.pull[a] = k.At(0, a)
		if v := j.At(a, a); v > 1e-9*info[2+a][2+a] {
			l.shape = min(l.shape, 2*math.Erfc(math.Abs(s[a])/math.Sqrt(2*v)))
		}
	}
	l.settle(j, s)
	return l
}

// settle computes γ and κ from their score and its information.
func (l *law) settle(information *mat.Dense, score [2]float64) {
	for a := range 2 {
		information.Set(a, a, information.At(a, a)+1/square(lawSpread[a]))
	}
	l.spread = new(mat.Dense)
	if l.spread.Inverse(information) != nil {
		panic("local: information of a law without an inverse") // it is more than positive
	}
	for a := range 2 {
		l.lean[a] = l.spread.At(a, 0)*score[0] + l.spread.At(a, 1)*score[1]
	}
}

func square(x float64) float64 { return x * x }

// evidence returns the score of readings, and its Fisher information.
func evidence(cells [][]reading) (score moves, info [4]moves) {
	for _, cell := range cells {
		for _, r := range cell {
			score.add(r.by, r.count/r.p)
			for i := range info {
				info[i].add(r.by, r.n*r.by[i]/r.p)
			}
		}
	}
	return score, info
}

// fitOf returns the p-value of the readings' probabilities: the probability of a chi-squared
// variable beyond
//
//	G² = 2 Σ C·ln(C/(n·π))
//
// with a degree of freedom less than reports a cell, and less those of what was estimated.
func fitOf(cells [][]reading, estimated int) float64 {
	g, degrees := 0.0, -float64(estimated)
	for _, cell := range cells {
		degrees += float64(len(cell) - 1)
		for _, r := range cell {
			if r.count > 0 {
				g += 2 * r.count * math.Log(r.count/(r.n*r.p))
			}
		}
	}
	if degrees < 1 {
		return 1
	}
	return mathext.GammaIncRegComp(degrees/2, max(g, 0)/2)
}

// poor is the p-value below which a fit is called poor.
const poor = 0.01

// poor reports whether the reports speak against Gaussian values, and tells it.
func (l law) poor(info *Info, then string) bool {
	info.FitP, info.ShapeP = &l.fit, &l.shape
	bad := l.fit < poor || l.shape < poor
	if bad {
		info.warn(PoorFit, "The values do not look Gaussian: "+then+" Collect a mean of such values with LDP_BIT.")
	}
	return bad
}

// further is how much more than two terms of the expansion laws may move an estimate: with 1.25 the
// intervals of TestOtherLaws hold.
const further = 1.25

// shift bounds what the law's departure from the Gaussian moves an estimate by, in its unit, with
// normal quantile z: by is what a unit of γ and of κ moves it by.
func (l law) shift(by [2]float64, z float64) float64 {
	at, variance := 0.0, 0.0
	for a := range 2 {
		at += by[a] * l.lean[a]
		for b := range 2 {
			variance += by[a] * by[b] * l.spread.At(a, b)
		}
	}
	return further * (math.Abs(at) + z*math.Sqrt(max(variance, 0)))
}
