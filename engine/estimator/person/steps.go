package person

import "scrim/engine/estimator"

// steps describes the steps after the number of persons, as planned for the least number of them.
// With more persons the steps before the last sum take less of the loss. With Split Persons the
// stages have the loss of one of them, the last, since a person is in one.
func (m mean) steps() []estimator.Step {
	count := float64(m.needs())
	out, stage := m.looks(count), count
	left := budget{m.core, 1}
	left.take(m.rowsShare(count))
	left.take(m.spreadShare(count))
	if m.p.Split == Persons {
		stage = count / 3
	}
	p := m.plan(m.widest(), stage, left.rest())
	out = append(out, m.stage(m.choice(), p.coarse, false))
	if len(p.rounds) > 0 {
		sum := 0.0
		for _, r := range p.rounds {
			sum += r
		}
		out = append(out, m.stage(m.sum("clipped sums for a centre", len(p.rounds)), sum, false))
	}
	if p.norms > 0 {
		mechanism, norm := m.law.noisy()
		buckets := m.radiusOctaves(m.paperRadius(m.widest(), stage, p.last)).Buckets
		out = append(out, m.stage(estimator.Step{Name: "clip radius", Mechanism: mechanism, Use: "histogram", Sensitivity: norm + m.law.moves(false), Queries: buckets}, p.norms, true))
	}
	return append(out, m.stage(m.sum("clipped sum", 1), p.last, true))
}

// looks describes the histograms.
func (m mean) looks(count float64) (out []estimator.Step) {
	mechanism, norm := m.law.noisy()
	add := func(name string, share float64, buckets int, groups bool) {
		if share > 0 {
			s := estimator.Step{Name: name, Mechanism: mechanism, Use: "histogram", Sensitivity: norm + m.law.moves(groups), Queries: buckets}
			out = append(out, m.law.step(s, (&budget{m.core, 1}).take(share)))
		}
	}
	add("rows of a person", m.rowsShare(count), m.rowOctaves().Buckets, false)
	add("spread", m.spreadShare(count), m.distanceOctaves().Buckets, true)
	return out
}

// stage puts the loss of a stage into its description.
func (m mean) stage(s estimator.Step, loss float64, last bool) estimator.Step {
	if m.p.Split == Persons {
		s.Sensitivity += ", of a third of the persons"
		if !last {
			return s
		}
	}
	return m.law.step(s, loss)
}

// choice describes the coarse estimate.
func (m mean) choice() estimator.Step {
	s := estimator.Step{Name: "coarse estimate", Mechanism: estimator.Exponential, Sensitivity: "range=1", Queries: m.p.Dim}
	if m.law.relation == estimator.ReplaceOne {
		s.Sensitivity = "range=2"
	}
	if m.p.Delta > 0 {
		s.Mechanism, s.Use, s.Sensitivity = estimator.DiscreteGaussian, "threshold", "l2"+m.law.moves(false)
	}
	return s
}

// sum describes clip-and-noise, a number of times.
func (m mean) sum(name string, times int) estimator.Step {
	mechanism, norm := m.law.noisy()
	s := estimator.Step{Name: name, Mechanism: mechanism, Sensitivity: norm + "=C", Queries: times * m.p.Dim}
	if m.law.relation == estimator.ReplaceOne {
		s.Sensitivity = norm + "=2C"
	}
	return s
}

// moves is how far one person, or one group, moves a histogram, in the norm of the law.
func (l law) moves(groups bool) string {
	switch {
	case !groups && l.relation == estimator.AddRemove:
		return "=1"
	case l.pure:
		return "=2"
	}
	return "=√2"
}
