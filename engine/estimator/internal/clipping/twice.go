package clipping

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// Shares of a loss that the two histograms of a search for totals have; together Share.
const (
	firstShare  = 0.15
	secondShare = Share - firstShare
)

const (
	// plenty is the number of persons in the fullest octave, in standard deviations of the first
	// histogram's noise, from which on that histogram says enough,
	plenty = 400
	// unless octaves above the last one of at least sure standard deviations have, one to three
	// together, doubtful of them or more: they may be persons with many times as much as others, or
	// noise. One first histogram in ten or so is doubtful by noise alone.
	sure     = 6
	doubtful = 2.5
)

// Twice is a search for a clip of totals by a histogram of octaves that is released a second time
// where the first shows few persons, or may show persons far out. Otherwise the noise of counts
// matters less than that of the sum, which has the second one's loss then.
//
// Each is a Search, of the same sensitivity. Whether there is a second follows from the first
// one's counts, which are released.
//
// There is one, with all of the loss, where the loss is pure, since two counts with Laplace noise
// together are worse than one; and of totals of both signs, whose sum would make an exchange cost
// more, had it the second one's loss (Exchange).
type Twice struct {
	first, second Search
	again         float64 // loss of the second
}

// NewTwice returns a search at Share of p's loss for totals within [low, high], low ≤ 0 ≤ high. The
// rest of the loss is divided by Rest.
func NewTwice(p estimator.Params, low, high int64) Twice {
	parts := shares(p)
	if p.Pure() || low < 0 && high > 0 {
		return Twice{first: NewSearch(p, parts[0]+parts[1], low, high)}
	}
	return Twice{NewSearch(p, parts[0], low, high), NewSearch(p, parts[1], low, high), parts[1]}
}

// shares divides a loss: the two histograms, finer counts, and the sum.
func shares(p estimator.Params) []float64 {
	return scalar.Split(p.Loss(), firstShare, secondShare, FinerShare, 1-Share-FinerShare)
}

// Rest is the part of a loss that finer counts have where they are asked for, and that of the sum
// where all is asked for.
func Rest(p estimator.Params) (finer, sum float64) {
	parts := shares(p)
	return parts[2], parts[3]
}

// Steps describes the search.
func (t Twice) Steps(name string) []estimator.Step {
	if t.again == 0 {
		return []estimator.Step{t.first.Step(name)}
	}
	return []estimator.Step{t.first.Step(name), t.second.Step(name + ", again")}
}

// sigma is the standard deviation of the noise of what both histograms say of an octave.
func (t Twice) sigma() float64 {
	if t.again == 0 {
		return t.first.noise.Sigma()
	}
	return 1 / math.Hypot(1/t.first.noise.Sigma(), 1/t.second.noise.Sigma())
}

// Persons is the number of persons of one octave that stands out.
func (t Twice) Persons() int64 { return int64(gateZ*t.sigma()) + 1 }

// Release draws the noise. spared is the loss that the second histogram would have had, 0 where it
// was needed. groups is the number of groups that are searched in like this one, public or
// released.
func (t Twice) Release(n noise.Noiser, h *Histogram, groups int) (c Counts, spared float64) {
	c = t.first.Release(n, h, groups)
	switch {
	case t.again == 0:
		return c, 0
	case c.plenty():
		return c, t.again
	}
	return c.with(t.second.Release(n, h, groups)), 0
}

// plenty reports whether the noise of the counts matters little.
func (c Counts) plenty() bool {
	many := false
	for _, side := range [][]float64{c.up, c.down} {
		if side == nil {
			continue
		}
		many = many || side[fullest(side)] > plenty*c.sigma
		last := len(side) - 1
		for last >= 0 && side[last] < sure*c.sigma {
			last--
		}
		for width := 1; width <= 3; width++ {
			for to := last + 1 + width; to <= len(side); to++ {
				if sum(side[to-width:to]) > doubtful*c.sigma*math.Sqrt(float64(width)) {
					return false
				}
			}
		}
	}
	return many
}

// with returns what two releases of the same counts say together: means, weighed by the inverses of
// their variances.
func (c Counts) with(other Counts) Counts {
	a, b := 1/(c.sigma*c.sigma), 1/(other.sigma*other.sigma)
	for i, side := range [][]float64{c.up, c.down} {
		for k, x := range [][]float64{other.up, other.down}[i] {
			side[k] = (a*side[k] + b*x) / (a + b)
		}
	}
	c.sigma = 1 / math.Sqrt(a+b)
	return c
}

// Exchange is what an exchange costs the search, and a sum with the rest of the loss, in terms of
// that loss under add-remove, where it costs the sum so much in terms of its own. For
// estimator.Exchanging.
func (t Twice) Exchange(sum float64) float64 {
	histogram := float64(scalar.ExchangeHistogram)
	finer := max(sum, histogram) // they are asked for, or the sum has their loss
	second := finer
	if t.again == 0 {
		second = histogram
	}
	weights := []float64{0, firstShare, secondShare, FinerShare, 1 - Share - FinerShare}
	return scalar.Shares{AddRemove: weights}.Exchange(histogram, second, finer, sum)
}
