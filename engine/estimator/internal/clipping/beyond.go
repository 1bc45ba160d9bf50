package clipping

import "math"

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
