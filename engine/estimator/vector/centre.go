package vector

import (
	"math"
	"math/bits"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/noise"
)

// plannedRounds are the rounds of a centre on which the least number of persons is computed: 256
// cells over the reach of the values. Where more would be needed than the persons allow, the cells
// are made coarser.
const plannedRounds = 8

// mostRounds bounds the rounds of any search.
const mostRounds = 24

// centring is how a centre is searched: cells of width 2^shift, and the share of the loss.
type centring struct {
	axis  block.Axis
	share float64
	// what the squared norm of the noise is multiplied by, against a centre known for nothing
	cost float64
}

// centring chooses cells and share for a centre within ±reach of the middle, from released numbers.
//
// The centre's error adds to the squared radius, and its loss is taken from the sum. With cells of
// width h, spread σ a coordinate and the share x of the loss ρ, T rounds,
//
//	squared noise ~ (1 + h²/(12σ²) + 2π·r²/n̂²) / (1 − x)     r = (delta/2)·√(T·d/(2xρ)) the rank's error
//
// (a median of a Gaussian is off by √(2π)·σ times the error of its rank's share). For each h the
// best share is near the square root of the third term at x = 1, but not under what keeps the
// search from turning the wrong way (medians.share). Where coordinates are scaled, those of small
// spread count as much as the others: σ is a third of the root mean square then.
func (d dense) centring(count, spread float64, reach int64, scaled bool) centring {
	most := mostCentre
	lo, hi := d.within(reach)
	sigma := spread / math.Sqrt(float64(d.p.Dim))
	if scaled {
		sigma *= 0.35
		if d.sigma == nil {
			most = min(most, mostPrepared-d.scaleShare(count))
		}
	}
	if d.p.Relative {
		return d.relativeCentring(count, lo, hi, most)
	}
	sigma = max(sigma, 0.5)
	best := centring{cost: math.Inf(1)}
	for step := -finest; step <= 62; step++ {
		shift := max(0, int(math.Floor(math.Log2(sigma)))+step)
		rounds := bits.Len64(uint64(hi-lo) >> shift)
		if rounds > mostRounds {
			continue
		}
		h := math.Ldexp(1, shift) / sigma
		error2 := 2 * math.Pi * math.Pow(d.find.rank(d.p.Dim, max(1, rounds), d.rho)/count, 2)
		share := max(math.Sqrt(error2), d.find.share(d.p.Dim, max(1, rounds), d.rho, count))
		if share > most && rounds > 1 {
			continue
		}
		share = min(share, most)
		cost := (1 + h*h/12 + error2/share) / (1 - share)
		if cost < best.cost {
			best = centring{block.NewAxis(lo, hi, shift, 63), share, cost}
		}
		if rounds <= 1 {
			break
		}
	}
	return best
}

// relativeCentring is centring where coordinates are different things, whose spreads may differ by
// any factor: cells of one unit near 0 and of a relative width of 2^-bits beyond, as fine as the
// persons allow at a quarter of the loss.
func (d dense) relativeCentring(count float64, lo, hi int64, most float64) centring {
	for bits := mostRounds - 4; ; bits-- {
		axis := block.NewAxis(lo, hi, 0, bits)
		rounds := max(1, axis.Rounds())
		share := max(0.05, d.find.share(d.p.Dim, rounds, d.rho, count))
		if rounds <= mostRounds && share <= 0.25 || bits == 2 {
			return centring{axis: axis, share: min(share, most)}
		}
	}
}

// finest is the power of two under σ of the finest cells.
const finest = 2

// mostCentre is the largest share of the loss for a centre.
const mostCentre = 0.4

// within returns the part of the public range that is within ±reach of the middle.
func (d dense) within(reach int64) (lo, hi int64) {
	return max(d.lo, d.middle-reach), min(d.hi, d.middle+reach)
}

// centre releases the medians of all coordinates.
func (d dense) centre(n noise.Noiser, b *estimator.Block, c centring, left *budget) []int64 {
	cells := d.find.cells(n, b, c.axis, nil, left.take(c.share))
	centre := make([]int64, b.Dim)
	for j, cell := range cells {
		centre[j] = c.axis.Value(cell)
	}
	return centre
}
