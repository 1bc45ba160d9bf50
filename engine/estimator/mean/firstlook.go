package mean

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/clipping"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// firstLook is the clipped sum of the vectors.
type firstLook struct {
	clip   clipping.Search // of the vectors' norms
	noise  scalar.Noise    // of each coordinate of the sum
	narrow scalar.Noise    // the same about the declared bounds
}

func (e rowMean) look(clip, sum float64) firstLook {
	open := scalar.Open(e.p)
	return firstLook{
		clip:   clipping.NewSearch(e.p, clip, 0, vectorNormLimit),
		noise:  scalar.NewNoise(e.p, rowWidth(open).Square(), rowCross(open).Units(), sum),
		narrow: scalar.NewNoise(e.p, rowWidth(e.p).Square(), rowCross(e.p).Units(), sum),
	}
}

// answer is a mean over rows in units of the persons' means, and what it is known by.
type answer struct {
	value  float64
	noise  float64 // its standard deviation
	rows   float64 // noisy number of rows that it divides by
	size   float64 // of the noise by its law
	under  float64 // of the noise of rows by its law, over them
	centre float64 // what the rows are counted from
	radius float64 // that vectors were shortened to
	kappa  float64 // the radius of one row
	cut    []estimator.Cut
}

// release returns the mean that the clipped vectors give; ok is false where no length stands out,
// or there are hardly any rows.
func (l firstLook) release(n noise.Noiser, in estimator.Input, f frame, e rowMean) (a answer, ok bool) {
	rows, totals := in.Columns[0], in.Columns[1]
	hidden, vector := l.noise, e.vectors(f)
	if f.declared {
		hidden = l.narrow
	}
	sigma := hidden.Sigma()
	radius, losses := f.fixed, []clipping.Loss(nil)
	if f.fixed == 0 {
		var h clipping.Histogram
		pure := e.p.Pure()
		for i, m := range rows {
			if m > 0 {
				d, w := vector.of(m, totals[i])
				h.Add(int64(min(scalar.Ceil(norm(pure, d, w)), vectorNormLimit)))
			}
		}
		lengths, ok := l.clip.Release(n, &h, in.Groups).Lengths()
		if !ok {
			return a, false
		}
		radius = math.Floor(lengths.RadiusOfRatio(noiseOfRatio*sigma/(1<<scalar.BallBits), unlike))
		losses = lengths.Losses(radius)
	}
	s0, s1 := e.clipped(rows, totals, vector, radius, f.declared)
	values, weights := hidden.Of(n, s0), hidden.Of(n, s1)
	if weights < 3*sigma {
		return a, false
	}
	ratio, scale := values/weights, rowWeight*float64(f.kappa)
	a = answer{
		value: float64(f.c) + scale*ratio, noise: scale * sigma * math.Hypot(1, ratio) / weights,
		size: scale * hidden.Size() / weights, under: hidden.Size() / weights, centre: float64(f.c),
		rows:   weights * radius / ((1 << scalar.BallBits) * scale) * (1 + clipping.Expected(losses)),
		radius: radius, kappa: float64(f.kappa),
		cut: clipping.CutOfMean(losses, float64(f.kappa)),
	}
	if f.alike {
		a.cut = clipping.CutOfAlike()
	}
	return a, true
}

// clipped adds up the vectors, each shortened to the radius.
func (e rowMean) clipped(rows, totals []int64, vector vectors, radius float64, declared bool) (s0, s1 scalar.Sum) {
	ball, cross, pure := scalar.NewBall(radius), scalar.NewCross(radius), e.p.Pure()
	wedge := declared && e.p.Relation == estimator.ReplaceOne
	for i, m := range rows {
		if m > 0 {
			d, w := int64(0), int64(0)
			if pure {
				d, w = cross.Clip2(vector.of(m, totals[i]))
			} else {
				d, w = ball.Clip2(vector.of(m, totals[i]))
			}
			if wedge { // true but for rounding
				d = min(max(d, -2*w), 2*w)
			}
			s0.Add(d)
			s1.Add(w)
		}
	}
	return s0, s1
}

// vectors makes the vectors of persons; it is small, as it is used once or twice a person.
type vectors struct {
	centre int64
	shift  uint
	weight float64 // wκ
	low    float64 // the least and the most that a row may be beyond the centre
	high   float64
}

func (e rowMean) vectors(f frame) vectors {
	return vectors{centre: f.c, shift: e.centred.Shift, weight: rowWeight * float64(f.kappa), low: f.low, high: f.high}
}

// of returns (T − c·m, wκm) in units of the person means, for m > 0. With declared bounds the mean
// of the rows is within them, which is enforced: a person who breaks the promise is pulled back to
// it.
func (v vectors) of(m, total int64) (difference, weight float64) {
	d, rows := scalar.Deviation(m, total, v.centre, v.shift), float64(m)
	return min(max(d, v.low*rows), v.high*rows), v.weight * rows
}
