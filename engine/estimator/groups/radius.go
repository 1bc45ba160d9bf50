package groups

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/clipping"
	"scrim/engine/estimator/internal/firstpass"
)

// alignment is the share of the worst case that the bias of clipped vectors of dim coordinates has.
// What clipping takes away from persons points in the same direction in the worst case, and its
// norm is then Σ(‖y‖−C)₊, as [HLY21] Theorem 2 counts it. Vectors over many groups differ: the
// shares measured on click-streams, baskets and ratings are 0.95 over 20 groups, 0.4 to 0.7 over 50
// and 0.2 to 0.5 over more. 0.6 is within a quarter of the best radius' error on all of them,
// mostly within a twentieth: too long a radius costs less than too short a one.
func alignment(dim int) float64 { return max(leastAlignment, math.Sqrt(20/float64(max(dim, 20)))) }

const leastAlignment = 0.6

// Buckets of norms: octaves, of which laws of norms are fitted (package clipping). Where a first
// sum is planned there are four an octave, since there are many persons there and many coordinates:
// radii are then told sixteen an octave, with a bucket's persons spread evenly over it.
const (
	normsPer   = 1
	plannedPer = 4
	fineSteps  = 4
)

// cost is the squared ℓ2 error of a sum of clipped vectors, by its radius:
//
//	noise·C² + (alignment·Σ(‖y‖−C)₊)²
type cost struct {
	noise     float64 // f²·d/(2ρ)
	alignment float64
	shaped    bool // weights differ: there is an answer, however large its error
}

func newCost(dim int, factor2 int64, rho float64) cost {
	return cost{noise: float64(factor2) * float64(dim) / (2 * rho), alignment: alignment(dim)}
}

// of returns the cost of a radius that count norms of the given sum are beyond.
func (c cost) of(radius, count, sum float64) float64 {
	lost := c.alignment * max(0, sum-float64(count*radius))
	return float64(c.noise*radius*radius) + float64(lost*lost)
}

// Where something is counted, lengths are told in units of what the counts of one row have in the
// group where that is longest. It follows from the weights, which are released. The first octave
// ends there, and no radius is under its end: nobody with one row is shortened, as most persons may
// be. A shorter radius takes the same part of all of them, and so of every total over groups.
//
// Where nothing is counted there is no such length. Lengths are then planScale times as long where
// weights differ from group to group, as common coordinates make them shorter by 2^-15 at most, so
// that none is under 1.

// unitOf is what lengths by weights of the coordinates are multiplied by; shaped says that weights
// differ from group to group.
func (r release) unitOf(weights []float64, shaped bool) float64 {
	square := 0.0
	for _, p := range r.layout.parts {
		longest := 0.0
		for at := p.first; at < len(weights) && p.Measure.count(); at += r.layout.width {
			longest = max(longest, weights[at])
		}
		square += longest
	}
	switch {
	case square > 0:
		return 1 / math.Sqrt(square)
	case shaped:
		return planScale
	}
	return 1
}

// rescale multiplies lengths by a unit.
func rescale(weights []float64, unit float64) {
	for j, w := range weights {
		weights[j] = min(max(w*unit*unit, 0x1p-200), 0x1p200)
	}
}

// planScale is the unit of lengths by weights that differ where nothing is counted.
const planScale = 1 << 15

// mostBeyond is how far the radius may be beyond what stands out, in octaves.
const mostBeyond = 8

// radius returns the radius of the least cost by noisy counts of norms that do not pass limit, a
// public number, with what laws of norms say that it takes; ok is false if no norm stands out. It
// is at most the limit.
//
// Of octaves it is the best by laws that explain all counts (package clipping). Of finer buckets
// the counts are added up from the top downwards; those of the few who are farthest out are taken
// from a tail that is fitted to the others (tailOf).
func (c cost) radius(h firstpass.Histogram, noisy []float64, limit float64) (found clip, ok bool) {
	lengths, fitted := clipping.LengthsBy(h.Together(noisy, h.Per), h.Sigma*math.Sqrt(float64(h.Per)), limit)
	if top, seen := h.Top(noisy); seen && h.Per > normsPer {
		return c.fromTop(h, noisy, top, limit, lengths), true
	}
	if fitted {
		found.radius, ok = lengths.Radius(c.noise, c.alignment)
		ok = ok || c.shaped
	}
	if found.known = found.radius >= limit; ok && !found.known {
		found.losses = lengths.Losses(found.radius)
	}
	return found, ok
}

// mostLost is the most that may be lost, of what is left, for a loss to be told.
const mostLost = 1

// fromTop is the radius of the least cost by counts whose top is known. What it takes is told by
// the counts, and beyond the octave of the top by the laws of lengths.
func (c cost) fromTop(h firstpass.Histogram, noisy []float64, top int, limit float64, lengths clipping.Lengths) clip {
	t, above := tailOf(h, noisy, top)
	best, least, beyond, lost := 0.0, math.Inf(1), 0.0, 0.0
	try := func(at, count, sum float64) {
		if r := h.Edge(at); c.of(r, count, sum) < least {
			best, least = at, c.of(r, count, sum)
			beyond, lost = count, max(0, sum-count*r)
		}
	}
	for k := mostBeyond * h.Per * fineSteps; k >= 0; k-- {
		at := float64(above) + float64(k)/fineSteps
		try(at, t.beyond(h.Edge(at)), t.sum(h.Edge(at)))
	}
	end := h.Edge(float64(above))
	count, sum := t.beyond(end), t.sum(end)
	for i := above; i >= 0; i-- {
		for k := range fineSteps {
			at := float64(i) - float64(k)/fineSteps
			try(at, count, sum)
			count += noisy[i] / fineSteps
			sum += noisy[i] / fineSteps * h.Edge(at-0.5/fineSteps)
		}
	}
	found := clip{radius: min(h.Edge(max(0, best)), limit)}
	if found.known = found.radius >= limit; found.known {
		return found
	}
	left := -lost
	for i, count := range noisy[:top+1] {
		left += count * h.Edge(float64(i)-0.5)
	}
	if !(left > lost/mostLost) {
		return found // noise: nothing is known of what is lost
	}
	octave := math.Exp2(math.Ceil(float64(top) / float64(h.Per)))
	for _, l := range lengths.Losses(max(found.radius, octave)) {
		l.Near, l.Left = lost/left, left
		l.Wide += l.Near
		l.Heavy = min(1, max(l.Heavy, beyond*found.radius/left))
		found.losses = append(found.losses, l)
	}
	return found
}

// radiusShare is the share of the loss that a histogram of norms up to limit gets: enough that what
// it does not see, a window of 6σ, is no more than the number of persons that should be beyond the
// radius where it is the noise that counts, √noise/alignment; from 3 % to 15 %, which it is for few
// coordinates, where no share would do and the tail has to be guessed, and to 5 % where norms
// cannot differ by more than a factor of 8.
func radiusShare(dim int, limit float64, factor2, delta2 int64) float64 {
	const see = firstpass.FarZ * leastAlignment
	most := 0.15
	if limit <= 8 {
		most = 0.05
	}
	return min(max(see*see*float64(delta2)/(float64(factor2)*float64(max(dim, 1))), 0.03), most)
}

// tail is a tail of norms whose logarithms are normal: beyond from there are count of them, and
// they fall off as those of the normal law with mean mu and standard deviation sigma do. What few
// persons have, the noise of a histogram hides; what it does not hide, the upper half, says how the
// tail goes on. Numbers of rows, purchases and amounts of persons are often log-normal; a tail that
// is heavier gets a shorter radius than the best, by a few percent of the error where many persons
// are beyond the best radius, since only what noise hides is taken from here.
type tail struct{ from, count, mu, sigma float64 }

// tailOf fits the tail beyond 6σ of the counts, but no more than a quarter of all, and returns the
// bucket above that. The normal law is the one with the least sum of squared differences from the
// counts of all buckets from the median on, up to four octaves beyond the top: the noise is the
// same in all of them.
func tailOf(h firstpass.Histogram, noisy []float64, top int) (t tail, above int) {
	all := 0.0
	for _, c := range noisy[:top+1] {
		all += c
	}
	all = max(all, 4*firstpass.FarZ*h.Sigma)
	middle := placeOf(noisy, top, all/2)
	t.mu, t.sigma = fitted(h, noisy[:min(top+4*h.Per, len(noisy)-1)+1], all, middle)
	t.count = min(firstpass.FarZ*h.Sigma, all/4)
	at := placeOf(noisy, top, t.count)
	t.from = h.Edge(at)
	return t, int(math.Ceil(at))
}

// placeOf returns the place, in buckets, beyond which there are k by the counts up to the top.
func placeOf(noisy []float64, top int, k float64) float64 {
	for i := top; i > 0; i-- {
		if noisy[i] > k {
			return float64(i) - k/max(noisy[i], 1)
		}
		k -= noisy[i]
	}
	return 0
}

// fitted returns the normal law of least squares: standard deviations from 0.03 to 4 by eighths,
// means within two buckets of the middle.
func fitted(h firstpass.Histogram, noisy []float64, all, middle float64) (mu, sigma float64) {
	octave := math.Ln2 / float64(h.Per) // of a bucket, in logarithms
	from, least := int(middle), math.Inf(1)
	rest := squaresFrom(noisy)
	for s := 0.03; s < 4; s *= 1.125 {
		for shift := -2.0; shift <= 2; shift += 0.25 {
			m := (middle + shift) * octave
			sum, before, i := 0.0, upper((float64(from)*octave-m)/s), from+1
			for ; i < len(noisy) && all*before > 1e-3; i++ {
				beyond := upper((float64(i)*octave - m) / s)
				d := noisy[i] - all*(before-beyond)
				sum, before = sum+d*d, beyond
			}
			if sum += rest[min(i, len(noisy))]; sum < least {
				mu, sigma, least = m, s, sum
			}
		}
	}
	return mu, sigma
}

// squaresFrom returns the sums of the squares from each number on.
func squaresFrom(x []float64) []float64 {
	sums := make([]float64, len(x)+1)
	for i := len(x) - 1; i >= 0; i-- {
		sums[i] = sums[i+1] + x[i]*x[i]
	}
	return sums
}

// upper is the probability that a standard normal number is over z.
func upper(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// share is the share of the law beyond e^x, kept from 0.
func (t tail) share(x float64) float64 { return max(upper((x-t.mu)/t.sigma), 1e-300) }

// beyond is the number of norms beyond v, at least from, and sum their sum: the partial expectation
// of a log-normal number.
func (t tail) beyond(v float64) float64 {
	return t.count * t.share(math.Log(v)) / t.share(math.Log(t.from))
}

func (t tail) sum(v float64) float64 {
	whole := t.share(math.Log(v) - t.sigma*t.sigma)
	// Rounding far out in the tail must not bring the sum under that of as many norms of size v.
	return max(t.count*math.Exp(t.mu+t.sigma*t.sigma/2)*whole/t.share(math.Log(t.from)), v*t.beyond(v))
}

// What the joint clip takes from the answers is estimated by the laws of norms that the radius was
// chosen by, added, and allowed for in the interval. A law says which share of all vectors is lost,
// not of which groups: vectors beyond the radius are shortened as a whole, and may be in some
// groups more than in others.
//
//	added    the share lost along the sums, of all groups' clipped sums together, shared out by the
//	         sums without their noise (nearer): so totals over groups have all of it, and no group
//	         has its own noise once more
//	bound    by each group's share, with a share of heavy persons whose odds are e^unlike times
//	         those of all groups together, and with the drawing of persons: those of a group are
//	         fewer
//
// All of it follows from released numbers. It is a model: docs/proofs/clipping.md says what is
// measured of it.

// nearer returns sums of groups without much of their noise, of standard deviations sigma, which
// add up to the same. Each is brought nearer to the mean of all by the share that noise has of
// their variance, as James and Stein do: all the way where noise is all that there is to see. It is
// brought nearer once more where it is within few standard deviations of the mean: where a few
// groups have most, the noise of the others counts.
func nearer(sums, sigma []float64) []float64 {
	out, noise, moved := make([]float64, len(sums)), 0.0, 0.0
	for _, d := range sigma {
		noise += d * d / float64(len(sigma))
	}
	mean, variance := stat.MeanVariance(sums, nil)
	kept := 0.0
	if variance > noise {
		kept = 1 - noise/variance
	}
	for g, x := range sums {
		d, few := x-mean, nearZ*sigma[g]
		out[g] = mean + kept*d*d*d/(d*d+few*few)
		moved += (out[g] - mean) / float64(len(sums))
	}
	for g := range out {
		out[g] -= moved
	}
	return out
}

// nearZ is that number of standard deviations: half of a difference of so many is kept.
const nearZ = 3

// unlike is the standard deviation, from group to group, of the logarithm of the odds that what is
// in a group is of a person beyond the radius.
const unlike = 0.5

// clip is a radius and what laws of norms say that it takes; losses is nil, and known true, where
// it takes nothing.
type clip struct {
	radius float64
	losses []clipping.Loss
	known  bool
}

// along is the part of the share lost that sums are enlarged by: persons with long vectors over
// many groups are in other groups than all persons together. Of what baskets lose over 100 groups a
// fifth is along the sums of prices and a half along those of items; of ratings over 20 genres, and
// where persons differ in nothing but their numbers of rows, all of it is. Where persons are in few
// groups there is nothing to differ in: groups count up to alongReached times those that a person
// is in.
func along(groups, reached float64) float64 {
	return math.Sqrt(alongAll / max(min(groups, alongReached*reached), alongAll))
}

// left is the expected sum of the lengths that are left; 0 where it is not known.
func (c clip) left() float64 {
	sum := 0.0
	for _, l := range c.losses {
		sum += l.Weight * l.Left
	}
	return sum
}

// reached is about the number of groups that a person is in, at least 1, by a released sum: a
// vector over k groups that has the same in each has entries that add up to √k of its length, of
// each aggregate its part of that. left is the sum of the lengths.
func (r release) reached(sums, weights []float64, left float64) float64 {
	squares := 0.0
	for _, p := range r.layout.parts {
		column := p.first
		if p.Measure.mean() {
			column++
		}
		own := 0.0
		for at := column; at < len(sums); at += r.layout.width {
			x := sums[at] * math.Sqrt(weights[at])
			if p.Measure == Sum && p.total.lo < 0 {
				x = math.Abs(x)
			}
			own += x
		}
		squares += own * own
	}
	return max(1, squares/(left*left))
}

// alongAll is the number of groups up to which all of it is.
const alongAll, alongReached = 20, 10

// lostOf is the share that is expected to be lost of what is left.
func lostOf(losses []clipping.Loss) float64 {
	near := 0.0
	for _, l := range losses {
		near += l.Weight * l.Near
	}
	return near
}

// lost returns what a clip is expected to take from a group's sum, to be added, and laws of what it
// may take; share is the sum without much of its noise, sigma the noise, and all what |share| is of
// all groups together, in the units of the sum.
func (s released) lost(p part, share, sigma, all float64) estimator.Cut {
	if s.whole {
		return estimator.Cut{}
	}
	if s.losses == nil {
		beyond := []estimator.CutPart{{Weight: 1, Mean: math.Inf(1)}}
		return estimator.Cut{Up: beyond, Down: beyond}
	}
	cut := estimator.Cut{Added: share * clipping.AddedToSum(along(s.groups, s.reached)*lostOf(s.losses), 1)}
	one := p.Measure.count() || p.total.lo >= 0 || p.total.hi <= 0
	size := math.Abs(share)
	if one {
		size = max(0, share)
		if p.Measure == Sum && p.total.hi <= 0 {
			size = max(0, -share)
		}
	}
	parts := s.beyond(size, sigma, all)
	if !one { // what is lost on the two sides of 0 need not show in the sum
		for i, l := range s.losses {
			parts[i].StdDev = math.Hypot(parts[i].StdDev, all*l.Wide/s.groups)
		}
	}
	switch {
	case !one:
		cut.Up, cut.Down = parts, parts
	case p.Measure == Sum && p.total.hi <= 0:
		cut.Down = parts
	default:
		cut.Up = parts
	}
	return cut
}

// beyond returns laws of what a clip takes from a group that has size left, with noise of standard
// deviation sigma, of all groups together.
//
// Where the noise has taken from a group, it has taken as large a part of what its persons are
// said to lose. So as many are taken to be drawn as sigma has at least.
func (s released) beyond(size, sigma, all float64) []estimator.CutPart {
	parts := make([]estimator.CutPart, len(s.losses))
	for i, l := range s.losses {
		mean, more := size*l.Wide, 0.0
		if l.Heavy > 0 && l.Heavy < 1 {
			odds := math.Exp(unlike) * l.Heavy / (1 - l.Heavy)
			more = mean * (odds/(1+odds)/l.Heavy - 1)
		}
		left := max(size, sigma)
		drawn := l.Spread * math.Pow(left, 0.875) * math.Pow(max(all, left), 0.125)
		parts[i] = estimator.CutPart{Weight: l.Weight, Mean: mean, StdDev: math.Hypot(more, drawn)}
	}
	return parts
}

// lostOfMean returns laws of what a clip may move the mean of a group by, of whose rows, of all
// rows, it leaves so many, each as long as weight at least: what is lost may be differences, on one
// side of the mean of those that are left.
func (s released) lostOfMean(weight, rows, all float64) estimator.Cut {
	if s.whole {
		return estimator.Cut{}
	}
	if s.losses == nil {
		beyond := []estimator.CutPart{{Weight: 1, Mean: math.Inf(1)}}
		return estimator.Cut{Up: beyond, Down: beyond}
	}
	parts := s.beyond(max(0, rows), 0, all)
	for i, p := range parts {
		parts[i] = estimator.CutPart{Weight: p.Weight, StdDev: weight * math.Hypot(p.Mean, p.StdDev) / (max(0, rows) + p.Mean)}
	}
	return estimator.Cut{Up: parts, Down: parts}
}
