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

// secondLook is the mean over rows once more, about the first answer.
//
// With v₁ the first answer and N̂ the noisy number of rows, both released, person i gives the one
// number tᵢ = Tᵢ − v₁·mᵢ, and the second answer is v₁ + Σ clip(tᵢ)/N̂. The first answer's vectors
// are as long as a person has rows, mostly; these numbers are only as large as a person's rows
// differ from the mean, so that the clip and its noise are several times less. What N̂ is off by
// counts in proportion to the step from v₁ alone.
//
// Sensitivity: given v₁, a person has one bucket of the histogram of tᵢ (package clipping), and
// moves the sum of numbers clipped to [−A, C] by max(A, C) where one comes or goes, by A + C where
// one is exchanged.
type secondLook struct {
	p         estimator.Params
	clip, sum float64 // losses of the search for a clip, and of the sum
}

// search is one for numbers up to a limit, which is public or released.
func (s secondLook) search(limit int64) clipping.Search {
	return clipping.NewSearch(s.p, s.clip, -limit, limit)
}

// leastSecond is how many times the persons that a clip of the first look needs there have to be
// for a second: with fewer, all of the loss is better spent on the first.
const leastSecond = 20

// farthest is how many radii of the first look a number counts with at most: its vectors are as
// long as these numbers, or longer, so that what seems to be farther off is noise.
const farthest = 16

// hiddenFrom is how many times the farthest number κ is at least where those whom it was chosen for
// are hidden.
const hiddenFrom = 2

// The bias that the clips are taken to leave when both answers are weighed, in what their laws
// allow for. The laws of the first take it that all rows that are lost are as far off as any.
const (
	biasOfFirst  = 1. / 6
	biasOfSecond = 1. / 2
)

// Steps describes the second look.
func (s secondLook) Steps() []estimator.Step {
	sum := estimator.Step{Name: "sum about the first mean", Sensitivity: "l2=clip"}
	if s.p.Relation == estimator.ReplaceOne {
		sum.Sensitivity = lengthOfClip
	}
	return []estimator.Step{s.search(vectorNormLimit).Step("clip about the first mean"), s.noise(interval{0, 1}).Step(sum)}
}

// noise is that of the sum of numbers of an interval.
func (s secondLook) noise(clip interval) scalar.Noise {
	return scalar.Single(s.p, clip.moves(s.p.Relation), s.sum)
}

// bias is a standard deviation of what the laws say that a clip may have taken.
func (a answer) bias() float64 {
	sum := 0.0
	for _, c := range a.cut {
		sum += clipping.Spread(c.Up) + clipping.Spread(c.Down)
	}
	return math.Sqrt(sum)
}

// release returns the mean of both looks, each weighed by the inverse of its variance, what a clip
// may have taken included. It is first where persons are hidden in the noise of which something is
// known: where numbers stand out on one side of v₁ alone, as some have to be on both, or where they
// end far before the distances that stood out when κ was chosen. of gives a person's number.
func (s secondLook) release(n noise.Noiser, in estimator.Input, first answer, of func(m, total int64) float64) answer {
	limit := int64(min(farthest*first.radius, vectorNormLimit))
	number := func(m, total int64) int64 {
		return int64(min(max(of(m, total), -float64(limit)), float64(limit)))
	}
	rows, totals := in.Columns[0], in.Columns[1]
	var h clipping.Histogram
	for i, m := range rows {
		if m > 0 {
			h.Add(awayFromZero(number(m, totals[i])))
		}
	}
	unit := s.noise(interval{0, far}).Sigma() / far
	choice, ok := s.search(limit).Release(n, &h, in.Groups).About().Choose(func(low, high int64) float64 {
		return unit * float64(interval{-low, high}.moves(s.p.Relation))
	}, 1/first.rows)
	if !ok || choice.OneSided() || first.kappa > hiddenFrom*choice.Gate {
		return first
	}
	clip := interval{-choice.Low, choice.High}
	var sum scalar.Sum
	for i, m := range rows {
		if m > 0 {
			sum.Add(clip.of(number(m, totals[i])))
		}
	}
	hidden := s.noise(clip)
	added := clipping.Added(choice.Cut, hidden.Sigma())
	step := (hidden.Of(n, sum) + added) / first.rows
	second := answer{
		value: first.value + step, noise: hidden.Sigma() / first.rows, size: hidden.Size() / first.rows,
		cut: choice.Means(added / first.rows),
	}
	return first.with(second, s.p.Pure())
}

// with takes two answers together. Laplace noise of both would follow no law of its own: then the
// better one is taken.
func (a answer) with(second answer, pure bool) answer {
	first, two := math.Hypot(a.noise, biasOfFirst*a.bias()), math.Hypot(second.noise, biasOfSecond*second.bias())
	part := 1.0
	if first > 0 || two > 0 {
		part = first * first / (first*first + two*two)
	}
	if pure {
		part = math.Round(part)
	}
	out := answer{
		value: a.value + part*(second.value-a.value),
		noise: math.Hypot((1-part)*a.noise, part*second.noise),
		size:  math.Hypot((1-part)*a.size, part*second.size),
		rows:  a.rows, under: a.under, centre: a.value,
		cut: clipping.Combined(a.cut, second.cut, part),
	}
	if part == 0 {
		out.centre = a.centre
	}
	return out
}

// awayFromZero counts who is at the centre as one unit away, so that rows of one value stand out.
func awayFromZero(d int64) int64 {
	if d == 0 {
		return 1
	}
	return d
}
