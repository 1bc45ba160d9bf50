package cover

import "math"

// The accuracy that is claimed, for independent rows and no rounding but the one that is named. Let
// μ be the mean, ξ the deviation of a person's mean from it along a unit vector u, n the number of
// persons, h the threshold, P the reach.
//
// Moments. The k-th root of E|ξ|^k is at most τ = σ_k·min(1, √((k−1)/m)): the triangle inequality,
// and Rio's inequality of 2009 for sums of independent variables of mean 0, ‖S‖_k² ≤
// (k−1)·Σ‖X_i‖_k². Its variance is at most v = σ_k²/m.
//
// Bias. (y−t)₊ ≤ y^k·(k−1)^{k−1}/(k^k·t^{k−1}) for y, t > 0 (both sides touch at y = tk/(k−1)), so
// E(|ξ|−t)₊ ≤ B(t) = τ^k·(k−1)^{k−1}/(k^k·t^{k−1}). For a point that is behind μ by a along u, E
// clip(a+ξ, ±P) is at most a + B(P−|a|) and at least a − B(P−|a|).
//
// Fluctuation. The clipped variables have a variance of at most v, as clipping brings no two values
// further apart, and are within P−a and P+a of their mean. By Bernstein's inequality their average
// is off by more than f = Mq/3 + √((Mq/3)² + 2vq), q = ln(1/β)/n, M ≥ P+|a|, on a given side with
// probability at most β. It falls as the point moves ahead. So one event for every direction covers
// all points that are behind μ by s or more, and another one all points that are behind it by g or
// less, wherever candidates lie: 4·lines events in all, whatever the coarse step answers.
//
// A good candidate, the nearest to μ, is off by at most g along every u. Where f does not fail the
// average of its Z_i is at most g + B(P−g) + f, and an exchange moves it by 2P/n at most: its score
// is at least G = n·(h − g − B(P−g) − f)/(2P). For a candidate that is off by more than α some
// direction is within π/(2·lines) of the one to μ, and it is behind μ by s = α·cos(π/(2·lines))
// along it: with h = s − B(P−s) − f its score is 0. By the draw's weights one of those is drawn
// with probability at most candidates·e^{−ε_2·G/2}.
//
// The coarse step. A person's coordinate is more than a bucket's width w ≥ 8σ_k/√m away from μ's
// with probability at most 1/64, and more than a twelfth of the persons are so with probability at
// most e^{−0.0741·n} (Chernoff's bound; 0.0741 is less than the divergence of 1/12 from 1/64). The
// others are in μ's bucket and the two beside it, so one of the three has 11n/36, and any other
// bucket at most 3n/36. A draw is among the three but for a probability of
// buckets·e^{−ε_1·(8n/36)/2}; then its middle is within 1.5·w.
const (
	failRange  = 0.02 // probabilities of failure: the coarse step,
	failSample = 0.04 // the fluctuation,
	failDraw   = 0.04 // the draw
	confidence = 1 - failRange - failSample - failDraw

	tailRate = 0.0741
)

// target is what a cover aims at. Lengths are in units.
type target struct {
	facts
	near   float64 // g: how far a good candidate is off at most, with all rounding
	far    float64 // s: how far a bad one is behind at least
	events float64
	tick   float64
}

// bias is B(t); it is +Inf for t <= 0.
func (f facts) bias(t float64) float64 {
	if t <= 0 {
		return math.Inf(1)
	}
	k := f.moment
	return f.root * math.Pow(f.root*(k-1)/(k*t), k-1) / k
}

// fluctuation is f for variables within width of their mean.
func (t target) fluctuation(width float64) float64 {
	q := math.Log(t.events/failSample) / t.persons
	linear := width * q / 3
	return linear + math.Sqrt(linear*linear+2*t.variance*q)
}

// score returns the threshold for a reach, a whole number of ticks, and G for it.
func (t target) score(reach float64) (threshold, score float64) {
	f := t.fluctuation(reach + t.far)
	threshold = math.Floor((t.far-t.bias(reach-t.far)-f)/t.tick) * t.tick
	return threshold, t.persons * (threshold - t.near - t.bias(reach-t.near) - f) / (2 * reach)
}

// best returns the reach, in ticks like the threshold, with the largest G.
func (t target) best() (reach, threshold, score float64) {
	score = math.Inf(-1)
	for i := range 96 {
		r := math.Ceil(max(1.25*t.far, t.root/4)*math.Exp2(float64(i)/8)/t.tick) * t.tick
		if h, s := t.score(r); s > score {
			reach, threshold, score = r/t.tick, h/t.tick, s
		}
	}
	return math.Round(reach), math.Round(threshold), score
}

// rangeShare returns ε_1 for one coordinate's fullest bucket, and whether there are enough persons
// for it.
func (f facts) rangeShare(buckets float64) (float64, bool) {
	fail := failRange / float64(2*f.dim) // half of it for the tail
	share := 9 * math.Log(buckets/fail) / f.persons
	return share, tailRate*f.persons >= -math.Log(fail) && float64(f.dim)*share <= f.epsilon/2
}
