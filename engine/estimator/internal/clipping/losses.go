package clipping

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"scrim/engine/estimator"
)

// Loss is what one law says that vectors lose which are shortened to a radius, in shares of the
// lengths that are left of all of them together.
type Loss struct {
	Weight float64 // of all together 1
	Near   float64 // share lost, for the answer
	Wide   float64 // share lost, for the interval
	Spread float64 // standard deviation of Wide among persons drawn by the law
	Heavy  float64 // share that those have who are beyond the radius
	Left   float64 // sum of the lengths that are left
}

// mostLosses is the number of laws that Losses tells of: those alike are taken together.
const mostLosses = 12

// Lengths are what laws say of vectors of whose lengths there are noisy counts.
type Lengths struct {
	side  side
	limit float64
}

// LengthsBy fits the laws to noisy counts by octave, with noise of standard deviation sigma, of
// lengths up to limit, which need not be whole. ok is false where nothing stands out.
func LengthsBy(counts []float64, sigma, limit float64) (l Lengths, ok bool) {
	s, ok := newSide(counts, Counts{sigma: sigma, tail: 1, real: true})
	return Lengths{s, limit}, ok
}

// mostCut is the largest share of all lengths that a radius may take for them to be told by what is
// left: with hardly anything left the noise of a radius is next to nothing, and so is what differs
// from group to group.
const mostCut = 0.75

// Radius returns the radius to which the vectors are shortened with the least expected error of
// their sum, when what they lose by expectation is added: noise2 is the squared length of the sum's
// noise at radius 1, and aligned the length of what is lost in the sum, per length that persons
// lose. ok is false where the best radius would say next to nothing.
func (l Lengths) Radius(noise2, aligned float64) (radius float64, ok bool) {
	s := &l.side
	total, cuts := s.means(len(s.radii))
	best := math.Inf(1)
	for i, r := range s.radii {
		if cuts[i] > mostCut*total {
			continue
		}
		risk, grown := 0.0, total/(total-cuts[i])
		for _, f := range s.fits {
			d, doubt := f.cut[i]-cuts[i], f.doubt[i]
			bias, noise := aligned*aligned*(d*d+doubt*doubt), noise2*r*r*grown*grown
			risk += f.weight * min((bias+noise)/(f.total*f.total), 100)
		}
		if risk < best {
			best, radius = risk, r
		}
	}
	return min(radius, l.limit), math.Sqrt(best) <= mostRisk
}

// Lengths fits the laws to counts on one side, as LengthsBy does.
func (c Counts) Lengths() (l Lengths, ok bool) {
	s, ok := newSide(c.up, c)
	return Lengths{s, c.limit}, ok
}

// RadiusOfRatio returns the radius of the least expected error of a quotient of two sums of the
// vectors' coordinates: noise times the radius over the length that is left, and unlike times the
// share that is lost, whose quotient may be another one.
func (l Lengths) RadiusOfRatio(noise, unlike float64) float64 {
	s := &l.side
	best, radius := math.Inf(1), 1.0
	for i, r := range s.radii {
		risk := 0.0
		for _, f := range s.fits {
			e, lost := noise*r/max(r, f.total-f.cut[i]), unlike*math.Hypot(f.cut[i], f.doubt[i])/f.total
			risk += f.weight * (e*e + lost*lost)
		}
		if risk < best {
			best, radius = risk, r
		}
	}
	return min(radius, l.limit)
}

// Losses returns what the laws say of a radius, the least loss first.
func (l Lengths) Losses(radius float64) []Loss {
	all := make([]Loss, len(l.side.fits))
	for i, f := range l.side.fits {
		all[i] = l.side.loss(f, radius)
	}
	slices.SortFunc(all, func(a, b Loss) int { return cmp.Compare(a.Wide, b.Wide) })
	return together(all)
}

// loss is what one law says of a radius.
func (s *side) loss(f fit, radius float64) Loss {
	// the radii that it is between; what is beyond falls linearly there
	last := len(s.radii) - 1
	if last == 0 {
		left := max(radius, f.total-f.cut[0])
		return Loss{f.weight, f.cut[0] / left, f.wide[0] / left, f.spread[0] / left, 1, left}
	}
	at := min(max(sort.SearchFloat64s(s.radii, radius), 1), last)
	low, high := s.radii[at-1], s.radii[at]
	part := min(max((radius-low)/(high-low), 0), 1)
	between := func(x []float64) float64 { return x[at-1] + part*(x[at]-x[at-1]) }
	cut, wide := between(f.cut), between(f.wide)
	persons := max(0, (f.wide[at-1]-f.wide[at])/(high-low))
	left := max(radius, f.total-cut)
	spread := math.Hypot(between(f.spread), math.Hypot(distrust*cut, between(f.rough)))
	return Loss{f.weight, cut / left, wide / left, spread / left, min(1, persons*radius/left), left}
}

// together takes neighbours together until few are left, each of about the same weight.
func together(all []Loss) []Loss {
	var out []Loss
	var sum Loss
	for i, l := range all {
		w := l.Weight
		sum.Weight += w
		sum.Near += w * l.Near
		sum.Wide += w * l.Wide
		sum.Spread += w * (l.Spread*l.Spread + l.Wide*l.Wide)
		sum.Heavy += w * l.Heavy
		sum.Left += w * l.Left
		if sum.Weight < 1./mostLosses && i < len(all)-1 || sum.Weight == 0 {
			continue
		}
		w = sum.Weight
		wide := sum.Wide / w
		out = append(out, Loss{w, sum.Near / w, wide, math.Sqrt(max(0, sum.Spread/w-wide*wide)), sum.Heavy / w, sum.Left / w})
		sum = Loss{}
	}
	return out
}

// CutOfMean returns laws of what shortened vectors may move a mean by, whose rows differ by kappa
// from its centre: the rows that are lost may have another mean than those that are left. It is nil
// where nothing is lost.
func CutOfMean(losses []Loss, kappa float64) []estimator.Cut {
	if losses == nil {
		return nil
	}
	parts := make([]estimator.CutPart, len(losses))
	for i, l := range losses {
		parts[i] = estimator.CutPart{Weight: l.Weight, StdDev: kappa * l.Wide / (1 + l.Wide)}
	}
	return []estimator.Cut{{Up: parts, Down: parts}}
}

// fit reckons what a law says is beyond each radius: its expected counts, drawn towards the noisy
// ones by the variances of both, times what the law says of totals within the octave. Whole numbers
// stand for the values up to them, so that half a step is added.
func (s *side) fit(p place) fit {
	masses, more := make([]float64, s.wide+1), make([]float64, s.wide+1)
	s.shares(masses, p)
	kinds := [2]shape{{law: &s.laws[p.law], octave: p.octave}}
	expect := func(k int) float64 { return s.expected(k, masses[k]*p.persons+more[k]) }
	if p.second != nil {
		_, inside := p.second.masses(more, p.at)
		for k := range more {
			more[k] *= p.more / inside
		}
		kinds[1] = shape{law: &p.second.law, octave: p.at}
	}
	n := len(s.radii)
	of := make([]float64, 5*n)
	f := fit{cut: of[:n:n], wide: of[n : 2*n : 2*n], spread: of[2*n : 3*n : 3*n], rough: of[3*n : 4*n : 4*n], doubt: of[4*n:]}
	f.hidden = p.hidden
	// of the persons above the octave; unsure are those of the second law
	var near, far, unsure moments
	for k := s.wide; k >= 0; k-- {
		first := masses[k] * p.persons
		persons, edge := expect(k), math.Ldexp(1, k)
		sure := persons // that the answer counts on
		if p.hidden {
			sure = s.expected(k, first)
		}
		part := 0.0 // of the second law
		if more[k] > 0 {
			part = more[k] / (first + more[k])
		}
		within := totals{mean: 1, mean2: 1}
		if k > 0 && persons > 0 { // of nobody it makes no difference
			slope := func() float64 {
				if k > 1 && k <= s.top {
					return fall(expect(k-1), persons)
				}
				return 0
			}
			within = kinds[0].within(k, slope)
			if part > 0 {
				within = within.mixed(part, kinds[1].within(k, slope))
			}
			if !s.real {
				within = within.whole()
			}
		}
		beyond := func(at int, excess float64) {
			radius := s.radii[at]
			f.cut[at] = near.beyond(radius)
			if k <= s.top {
				f.cut[at] += sure * excess
			}
			f.wide[at] = far.beyond(radius) + persons*excess
			f.spread[at] = math.Sqrt(far.beyond2(radius) + 1.5*persons*excess*excess)
			if p.second != nil {
				f.spread[at] = math.Hypot(f.spread[at], (unsure.beyond(radius)+part*persons*excess)*p.moreSigma/p.more)
			}
			if radius < edge {
				f.rough[at] = misplaced * sure * (edge - radius) * (edge - radius) / edge
			}
		}
		switch {
		case k == s.top+1:
			beyond(s.top*perOctave, max(0, within.mean-s.radii[s.top*perOctave]))
		case k > 0 && k <= s.top:
			for j, excess := range within.excess {
				beyond((k-1)*perOctave+j, excess)
			}
		}
		if k == 0 {
			f.total = near.sum + sure
		}
		if k <= s.top {
			near.add(sure, within.mean, within.mean2)
		}
		far.add(persons, within.mean, within.mean2)
		unsure.add(part*persons, within.mean, within.mean2)
	}
	f.total = max(1, f.total)
	if !s.real {
		s.whole(f.cut)
		s.whole(f.wide)
	}
	for i := range f.doubt {
		f.doubt[i] = math.Hypot(distrust*f.cut[i], f.rough[i])
	}
	return f
}

// totals are those of persons within an octave: the mean of one and of its square, and what it is
// expected to be beyond each radius of the octave.
type totals struct {
	mean, mean2 float64
	excess      [perOctave]float64
}

// mixed returns the totals of persons of whom a part is of another law.
func (t totals) mixed(part float64, other totals) totals {
	t.mean += part * (other.mean - t.mean)
	t.mean2 += part * (other.mean2 - t.mean2)
	for j, e := range other.excess {
		t.excess[j] += part * (e - t.excess[j])
	}
	return t
}

// whole returns them for whole numbers, which stand for the values up to them.
func (t totals) whole() totals {
	t.mean2 += t.mean + 0.25
	t.mean += 0.5
	for j, e := range t.excess {
		if e > 0 {
			t.excess[j] += 0.4
		}
	}
	return t
}

// shape tells of totals within an octave by a law that is moved.
type shape struct {
	law    *law
	octave int
}

// within returns the totals within bucket k. Where the law has nobody, they follow from the slope.
func (x shape) within(k int, slope func() float64) (t totals) {
	i, ok := x.bucket(k)
	if !ok {
		return falling(slope(), math.Ldexp(1, k))
	}
	scale := math.Ldexp(1, x.octave)
	t.mean, t.mean2 = x.law.mean[i]*scale, x.law.mean2[i]*scale*scale
	for j, e := range x.law.excess[i*perOctave : (i+1)*perOctave] {
		t.excess[j] = e * scale
	}
	return t
}

// bucket is the law's own number of bucket k; ok is false where the law has nobody there, and what
// is counted there is believed against it. The places of these persons follow from the slope at
// which the octaves fall, see fall.
func (x shape) bucket(k int) (i int, ok bool) {
	i = k - x.law.first - x.octave
	return i, i >= 0 && i < len(x.law.mass) && x.law.mass[i] > 0
}

// steepest is the greatest slope that is told from counts, in octaves an octave.
const steepest = 6

// fall is the slope of the density of the logarithm of totals from one octave to the next, in
// octaves an octave; it does not rise.
func fall(before, persons float64) float64 {
	if !(persons > 0 && before > persons) {
		return 0
	}
	return min(math.Log2(before/persons), steepest)
}

// falling returns the totals within (u/2, u] whose logarithm has a density that falls by 2^slope an
// octave.
//
// With E(n, C) = E(xⁿ; x > C) of such x within (½, 1], and C = 2^(j/perOctave−1) of radius j, they
// are E(1, ½), E(2, ½) and E(1, C) − C·E(0, C).
func falling(slope, u float64) (t totals) {
	end, end1 := math.Exp2(-slope), math.Exp2(1-slope)
	all := integral(slope, 0, end)
	for j := range t.excess {
		from := float64(j) / perOctave
		mean := 0.5 * integral(slope-1, from, end1) / all
		if j == 0 {
			t.mean = mean * u
		}
		t.excess[j] = max(0, mean-math.Exp2(from-1)*(integral(slope, from, end)/all)) * u
	}
	t.mean2 = 0.25 * integral(slope-2, 0, math.Exp2(2-slope)) / all * u * u
	return t
}

// integral is that of 2^(−a·y) from a number to 1; end is its value at 1.
func integral(a, from, end float64) float64 {
	if math.Abs(a) < 1e-6 {
		return 1 - from
	}
	return (math.Exp2(-a*from) - end) / (a * math.Ln2)
}

// whole brings what is beyond each radius to the whole number under the radius, which is what
// clips.
func (s *side) whole(cut []float64) {
	for i := len(cut) - 1; i > 0; i-- {
		r := s.radii[i]
		persons := (cut[i-1] - cut[i]) / (r - s.radii[i-1])
		cut[i] += max(0, persons) * (r - math.Floor(r))
	}
}

// expected returns the expected number of persons of a bucket, where a law says mu.
func (s *side) expected(k int, mu float64) float64 {
	c, noise := s.counts[k], s.sigma*s.sigma
	own := mu + misfit*misfit*mu*mu
	if d := c - mu; d*d > outlier*(own+noise) && k <= s.top {
		own += d * d
	}
	if own == 0 {
		return 0
	}
	return max(0, (mu*noise+c*own)/(own+noise))
}

// moments are those of the persons above an octave.
type moments struct{ persons, sum, sum2 float64 }

func (m *moments) add(persons, mean, mean2 float64) {
	m.persons += persons
	m.sum += persons * mean
	m.sum2 += persons * mean2
}

// beyond is what they have beyond a radius that none is under, beyond2 the sum of its squares.
func (m *moments) beyond(radius float64) float64 { return max(0, m.sum-m.persons*radius) }

func (m *moments) beyond2(radius float64) float64 {
	return max(0, m.sum2-2*radius*m.sum+radius*radius*m.persons)
}

// cutOf returns what is beyond radius number at on a side, as a mixture of normal laws by the wide
// reckoning, and its expectation by the near one.
func (s *side) cutOf(at int, step float64) (mean float64, parts []estimator.CutPart) {
	at = min(at, len(s.radii)-1)
	for _, f := range s.fits {
		mean += f.weight * f.cut[at]
		parts = append(parts, estimator.CutPart{Weight: f.weight, Mean: f.wide[at] * step, StdDev: math.Hypot(f.spread[at], f.doubt[at]) * step, Unseen: f.hidden})
	}
	return mean, fewer(parts)
}

// mostParts is about the number of laws that a mixture is brought down to.
const mostParts = 24

// fewer takes neighbours of a mixture together until few are left, each with the mean and the
// variance of those in it: seen ones first, and then unseen ones.
func fewer(parts []estimator.CutPart) []estimator.CutPart {
	class := func(p estimator.CutPart) int {
		if p.Unseen {
			return 1
		}
		return 0
	}
	slices.SortFunc(parts, func(a, b estimator.CutPart) int {
		return cmp.Or(cmp.Compare(class(a), class(b)), cmp.Compare(a.Mean, b.Mean))
	})
	var out []estimator.CutPart
	var sum estimator.CutPart // weighted: mean, and mean square
	for i, p := range parts {
		sum.Weight += p.Weight
		sum.Mean += p.Weight * p.Mean
		sum.StdDev += p.Weight * (p.Mean*p.Mean + p.StdDev*p.StdDev)
		last := i == len(parts)-1 || parts[i+1].Unseen != p.Unseen
		if sum.Weight < 1./mostParts && !last || sum.Weight == 0 {
			continue
		}
		mean := sum.Mean / sum.Weight
		out = append(out, estimator.CutPart{Weight: sum.Weight, Mean: mean, StdDev: math.Sqrt(max(0, sum.StdDev/sum.Weight-mean*mean)), Unseen: p.Unseen})
		sum = estimator.CutPart{}
	}
	return out
}

// Both returns laws of the sum of two things that clips take, each of which follows laws of its
// own.
func Both(a, b []estimator.CutPart) []estimator.CutPart {
	for _, parts := range [][]estimator.CutPart{a, b} {
		if len(parts) == 1 && math.IsInf(parts[0].Mean, 1) {
			return parts
		}
	}
	var parts []estimator.CutPart
	for _, x := range a {
		for _, y := range b {
			parts = append(parts, estimator.CutPart{Weight: x.Weight * y.Weight, Mean: x.Mean + y.Mean, StdDev: math.Hypot(x.StdDev, y.StdDev), Unseen: x.Unseen || y.Unseen})
		}
	}
	return fewer(parts)
}

// CutOfAlike are laws of what a clip takes from a mean where all that stand out have one value.
func CutOfAlike() []estimator.Cut { return []estimator.Cut{{Up: unseen(), Down: unseen()}} }

// unseen is the law of what a clip takes where nothing bounds it.
func unseen() []estimator.CutPart {
	return []estimator.CutPart{{Weight: 1, Mean: math.Inf(1)}}
}

// Sum is what two clips take from a sum of two values.
func Sum(a, b estimator.Cut) estimator.Cut {
	both := func(a, b []estimator.CutPart) []estimator.CutPart {
		switch {
		case len(a) == 0:
			return b
		case len(b) == 0:
			return a
		}
		return Both(a, b)
	}
	return estimator.Cut{Added: a.Added + b.Added, Up: both(a.Up, b.Up), Down: both(a.Down, b.Down), Long: a.Long || b.Long}
}

// Signed is what a clip takes from a value times a number of either sign.
func Signed(c estimator.Cut, f float64) estimator.Cut {
	if f < 0 {
		c.Up, c.Down, c.Added = c.Down, c.Up, -c.Added
	}
	return c.Times(math.Abs(f))
}
