package clipping

import "math"

// fit reckons what a law says is beyond each radius: its expected counts, drawn towards the noisy
// ones by the variances of both, times what the law says of totals within the octave. Whole numbers
// stand for the values up to them, so that half a step is added.
func (s *side) fit(p place) fit {
	masses, more := make([]float64, s.wide+1), make([]float64, s.wide+1)
	s.shares(masses, p)
	kinds := [2]shape{{law: &s.laws[p.law], octave: p.octave, scale: math.Exp2(float64(p.octave))}}
	expect := func(k int) float64 { return s.expected(k, masses[k]*p.persons+more[k]) }
	if p.second != nil {
		_, inside := p.second.masses(more, p.at)
		for k := range more {
			more[k] *= p.more / inside
		}
		kinds[1] = shape{law: &p.second.law, octave: p.at, scale: math.Exp2(float64(p.at))}
	}
	f := fit{cut: make([]float64, len(s.radii)), wide: make([]float64, len(s.radii)), spread: make([]float64, len(s.radii)), rough: make([]float64, len(s.radii))}
	// of the persons above the octave; unsure are those of the second law
	var near, far, unsure moments
	for k := s.wide; k >= 0; k-- {
		first := masses[k] * p.persons
		persons, slope := expect(k), 0.0
		sure := persons // that the answer counts on
		if p.hidden {
			sure = s.expected(k, first)
		}
		if k > 1 && k <= s.top {
			slope = fall(expect(k-1), persons)
		}
		part := 0.0 // of the second law
		if more[k] > 0 {
			part = more[k] / (first + more[k])
		}
		mean, mean2 := 1.0, 1.0
		if k > 0 {
			mean, mean2 = kinds[0].moments(k, slope)
			if part > 0 {
				a, b := kinds[1].moments(k, slope)
				mean, mean2 = mean+part*(a-mean), mean2+part*(b-mean2)
			}
			if !s.real {
				mean2 += mean + 0.25
				mean += 0.5
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
			if edge := math.Exp2(float64(k)); radius < edge {
				f.rough[at] = misplaced * persons * (edge - radius) * (edge - radius) / edge
			}
		}
		switch {
		case k == s.top+1:
			beyond(s.top*perOctave, max(0, mean-s.radii[s.top*perOctave]))
		case k > 0 && k <= s.top:
			for j := range perOctave {
				at := (k-1)*perOctave + j
				excess := kinds[0].excess(k, j, slope)
				if part > 0 {
					excess += part * (kinds[1].excess(k, j, slope) - excess)
				}
				if excess > 0 && !s.real {
					excess += 0.4
				}
				beyond(at, excess)
			}
		}
		if k == 0 {
			f.total = near.sum + sure
		}
		if k <= s.top {
			near.add(sure, mean, mean2)
		}
		far.add(persons, mean, mean2)
		unsure.add(part*persons, mean, mean2)
	}
	f.total = max(1, f.total)
	if !s.real {
		s.whole(f.cut)
		s.whole(f.wide)
	}
	return f
}

// shape tells of totals within an octave by a law that is moved.
type shape struct {
	law    *law
	octave int
	scale  float64
}

// moments returns the mean of a total within bucket k, and of its square.
func (x shape) moments(k int, slope float64) (mean, mean2 float64) {
	if i, ok := x.bucket(k); ok {
		return x.law.mean[i] * x.scale, x.law.mean2[i] * x.scale * x.scale
	}
	u := math.Exp2(float64(k))
	return falling(slope, 1, 0) * u, falling(slope, 2, 0) * u * u
}

// excess returns what a total within bucket k is expected to be beyond radius number j of it.
func (x shape) excess(k, j int, slope float64) float64 {
	if i, ok := x.bucket(k); ok {
		return x.law.excess[i*perOctave+j] * x.scale
	}
	c := math.Exp2(float64(j)/perOctave - 1)
	return max(0, falling(slope, 1, j)-c*falling(slope, 0, j)) * math.Exp2(float64(k))
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

// falling returns E(xⁿ; x > C) of x within (½, 1] whose logarithm has a density that falls by
// 2^slope an octave, and C = 2^(j/perOctave−1).
func falling(slope float64, n, j int) float64 {
	integral := func(a, from float64) float64 { // of 2^(−a·y) from there to 1
		if math.Abs(a) < 1e-6 {
			return 1 - from
		}
		return (math.Exp2(-a*from) - math.Exp2(-a)) / (a * math.Ln2)
	}
	return math.Exp2(-float64(n)) * integral(slope-float64(n), float64(j)/perOctave) / integral(slope, 0)
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
