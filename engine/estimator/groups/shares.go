package groups

import (
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/scalar"
)

// Shares of the looks, for one part and for all together.
const (
	countShare, centreShare, spreadShare, scaleShare = 0.01, 0.08, 0.03, 0.03
	centreMost, lookMost                             = 0.20, 0.10
)

// joining is the most that a step costs under replace-one where a person comes or goes, of what an
// exchange costs: a half, as of histograms, profiles and sums without negative numbers. Ranks and
// other sums cost a quarter.
const joining = scalar.JoiningHistogram

// share splits the loss: the doc comment of New has the parts. counted says that the number of
// persons has no part in it.
func (r *release) share(counted bool) {
	l, means := r.layout, 0
	for _, p := range l.parts {
		if p.Measure.mean() {
			means++
		}
	}
	centre := min(centreShare, centreMost/float64(max(means, 1)))
	spread := min(spreadShare, lookMost/float64(max(means, 1)))
	scale := 0.0
	if len(l.parts) > 1 {
		scale = min(scaleShare, lookMost/float64(len(l.parts)))
	}
	b := budget{r.p.Rho, 1}
	r.planned = r.fixed == 0 && r.p.Groups >= leastPlanned
	switch {
	case !r.counting, counted:
	case r.p.Relation == estimator.ReplaceOne:
		r.persons = scalar.CoveredPersons(r.p.Rho, joining)
	default:
		r.persons = scalar.NewPersons(b.take(countShare))
	}
	for _, p := range l.parts {
		s := search{part: p}
		if p.Measure.mean() {
			open, first, second := scalar.Open(r.p.scalar(p.Aggregate, r.p.Rho)), b.take(centre), b.take(spread)
			s.centre = scalar.NewCentre(open, first)
			octaves := firstpass.NewOctaves(spreadPer, firstpass.Farthest(p.means.Lo, p.means.Hi, 1))
			s.spread = firstpass.NewHistogram(octaves, r.delta2, second)
			s.coarse = scalar.NewCoarse(open, s.centre.Means, (first+second)*(1-1e-12))
		}
		if scale > 0 {
			s.scale = firstpass.NewHistogram(firstpass.NewOctaves(r.normsPer(), l.farthest(p, r.most())), r.delta2, b.take(scale))
		}
		r.searches = append(r.searches, s)
	}
	if r.profiled() {
		r.profile = b.take(profileShare)
	}
	if r.fixed == 0 {
		r.norms = b.take(radiusShare(l.dim, r.farthest()/r.unit(), r.factor2, r.delta2))
	}
	if r.planned {
		r.second = b.take(radiusShare(l.dim, r.farthest()/r.unit(), r.factor2, r.delta2))
		r.first = b.take(b.left * firstShare)
	}
	r.sum = b.take(b.left)
}

// budget is what is left of a loss, in shares of the whole.
type budget struct{ rho, left float64 }

// take returns the loss of a share and reduces what is left. Each part is rounded down by one part
// in 10^12, far more than the error of the differences, so that the exact sum of all parts is at
// most rho.
func (b *budget) take(share float64) float64 {
	share = min(share, b.left)
	b.left -= share
	return b.rho * share * (1 - 1e-12)
}
