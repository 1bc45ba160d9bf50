package scalar

import (
	"fmt"
	"math"
	"math/bits"
	"sort"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

// Ladder asks noisy ranks on both sides of a released cell v, for an interval of the quantile
// num/den of values of which a person has at most rows.
//
// The rungs are cells at the distances 0, 1, 2, 3, 5, 7, 11, 15, … of v: 2^k − 1 and 3·2^k − 1.
// Below v, a rung asks Q = den·#{x < its first number} − num·n, which is negative exactly if the
// quantile is not under that number. Above v it asks Q = den·#{x ≤ its last number} − num·n, which
// is not negative exactly if the quantile is not over that number. Each side is searched by halving
// for the nearest rung of which its answer is sure: Rounds answers at most.
//
// Sensitivity: Q moves as in a Bisection, by Δ at most, whatever the rung. The rungs follow from v
// and from earlier answers, which are released. So the 2·Rounds answers, each at an equal part of
// the loss, cost all of it together, zCDP or pure.
//
// Coverage: v is drawn before the answers. Where v lies above the quantile, what the side above
// says is true, whatever its noise; where v lies below it, or on its cell, the same holds of the
// other side. So Rounds answers at most can be wrong, each on one side of its noise.
type Ladder struct {
	axis     Axis
	num, den int64
	delta    int64
	noise    Noise
	loss     float64
	rungs    []int64 // distances
	least    float64 // an answer is sure where Z is beyond it
}

// ladderRisk is the risk that the search takes into account for the nearest rung, over all rounds:
// intervals at 95 % are then hardly wider than one rung, and those at 99 % are mostly one rung
// wider.
const ladderRisk = 0.02

// NewLadder returns the ranks around a quantile at a share of p's loss.
func NewLadder(p estimator.Params, a Axis, num, den, rows int64, share float64) Ladder {
	l := Ladder{axis: a, num: num, den: den, delta: rows * max(num, den-num), loss: share}
	if p.Relation == estimator.ReplaceOne {
		l.delta = rows * den
	}
	for step := int64(1); step < 2*a.cells; step *= 2 {
		for _, d := range [2]int64{step - 1, step + step/2 - 1} {
			if n := len(l.rungs); d < a.cells && (n == 0 || d > l.rungs[n-1]) {
				l.rungs = append(l.rungs, d)
			}
		}
	}
	l.noise = Single(p, l.delta, share/float64(2*l.Rounds())*(1-1e-12))
	l.least = math.Sqrt2 * math.Erfcinv(2*ladderRisk/float64(l.Rounds()))
	return l
}

// Rounds is the most ranks that are asked on one side.
func (l Ladder) Rounds() int { return bits.Len(uint(len(l.rungs))) }

// Step describes the ranks.
func (l Ladder) Step(name string) estimator.Step {
	s := l.noise.Step(estimator.Step{Name: name, Use: "ranks", Sensitivity: fmt.Sprintf("l2=%d", l.delta), Queries: 2 * l.Rounds()})
	if s.Epsilon > 0 {
		s.Epsilon = l.loss
	} else {
		s.Rho = l.loss
	}
	return s
}

// Ranks returns what the answers around cell v say, in the units of the axis. cells holds the cell
// of each value.
func (l Ladder) Ranks(n noise.Noiser, cells []uint32, v uint32) []estimator.Rank {
	below := l.side(int64(v), func(d int64) (float64, float64) {
		at := uint32(int64(v) - d)
		lo, _ := l.axis.Ends(at)
		return lo, -l.ask(n, cells, int64(at)-1)
	})
	above := l.side(l.axis.cells-1-int64(v), func(d int64) (float64, float64) {
		at := int64(v) + d
		_, hi := l.axis.Ends(uint32(at))
		return hi, l.ask(n, cells, at)
	})
	for i := range below {
		below[i].Z = -below[i].Z
	}
	return append(below, above...)
}

// side searches one side with room cells beyond v; the last of them has nothing to tell. ask
// returns the number that a rung is about and how sure it is that the quantile is not beyond it.
// What is returned are the answers that say so.
func (l Ladder) side(room int64, ask func(d int64) (at, z float64)) []estimator.Rank {
	rungs := sort.Search(len(l.rungs), func(i int) bool { return l.rungs[i] >= room })
	var found []estimator.Rank
	for lo, hi := 0, rungs; lo < hi; {
		mid := lo + (hi-lo)/2
		at, z := ask(l.rungs[mid])
		if z > 0 {
			found = append(found, estimator.Rank{At: at, Z: z})
		}
		if z > l.least {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return found
}

// ask returns by how many standard errors, or as many for a normal law of one risk, the noisy rank
// of a cell is above the quantile's.
func (l Ladder) ask(n noise.Noiser, cells []uint32, cell int64) float64 {
	upTo := int64(0)
	for _, c := range cells {
		one := int64(0) // nothing branches on it
		if int64(c) <= cell {
			one = 1
		}
		upTo += one
	}
	return l.noise.Point(l.noise.Add(n, l.den*upTo-l.num*int64(len(cells))))
}
