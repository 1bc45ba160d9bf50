package plan

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/errorbar"
)

// What an end of an interval rests on, as DP_INFO says it.
const (
	byNoise = "noise" // nothing is clipped on this side, or the clip is public: proved
	// the clip was searched for: laws of persons' totals bound what it takes
	byLaws    = "noise and clip"
	unknown   = "unknown"         // the end is NULL
	notInside = "noise, not clip" // a clip may take something that the end does not allow for
	// the group has too few rows for an interval of its own: the other groups' means say where its
	// mean may be
	byGroups = "noise, clip and other groups"
)

// info is what DP_INFO tells of an answer: of one value an object, of an array a list of them. It
// is post-processing of what is released, as the ends of intervals are.
func (t ErrorBar) info(a *Aggregate, e estimator.Estimate) any {
	if t.At >= 0 || len(e.Values) == 0 {
		return t.infoOf(a, e, max(0, t.At))
	}
	list := make([]any, len(e.Values))
	for i := range list {
		list[i] = t.infoOf(a, e, i)
	}
	return list
}

// infoOf is what DP_INFO tells of value i.
func (t ErrorBar) infoOf(a *Aggregate, e estimator.Estimate, i int) any {
	out := map[string]any{}
	if e.Status != estimator.OK || i >= len(e.Values) || math.IsNaN(e.Values[i]) {
		out["answer"] = "NULL for too few persons"
		if e.Needed > 0 {
			out["persons_needed"] = e.Needed
		}
		return out
	}
	out["noise"] = known(t.Value(e.StdErr[i]))
	lo, hi := errorbar.Interval(e, i, WideLevel)
	low, high := byNoise, byNoise
	if bias, allowed := biasOf(a.Estimator); bias != "" && !allowed {
		low, high = notInside, notInside
	}
	if e.Error == nil {
		return ends(out, unknown, unknown)
	}
	if e.Error.Persons > 0 {
		out["persons"] = math.Round(e.Error.Persons)
	}
	if x := e.Error.Cut; x != nil {
		c := x[min(i, len(x)-1)]
		low, high = byNoise, byNoise
		if len(c.Down) > 0 {
			low = byLaws
		}
		if len(c.Up) > 0 {
			high = byLaws
		}
		v := e.Values[i]
		if m := e.Error.Moments; m != nil && m.Root {
			t.clipOfRoot(out, c, v)
		} else {
			t.clip(out, c, v)
		}
	}
	if x := e.Error; x.Beyond > 0 {
		out["persons_beyond"], out["persons_beyond_at_most"] = x.Beyond, x.BeyondAtMost
	}
	if estimator.Entry(e.Error.Common, i) > 0 {
		low, high = byGroups, byGroups
	}
	if x := e.Error.Fractions; i < len(x) && len(x[i].Cut.Up) > 0 {
		low, high = byLaws, byLaws
	}
	if !finite(lo) {
		low = unknown
	}
	if !finite(hi) {
		high = unknown
	}
	return ends(out, low, high)
}

// clip adds what is known of a clip.
func (t ErrorBar) clip(out map[string]any, c estimator.Cut, value float64) {
	if c.Radius > 0 {
		out["clip"] = t.Value(c.Radius)
	}
	if c.Seen > 0 {
		out["without_persons_above"] = t.Value(c.Seen)
	}
	if c.Added != 0 {
		out["added"] = t.Value(c.Added)
	}
	if cut := c.Expected(); finite(cut) && value != 0 {
		out["share_cut"] = min(1, math.Round(1e4*math.Abs(cut/value))/1e4)
	}
}

// clipOfRoot is clip for a standard deviation: c is of the variance.
func (t ErrorBar) clipOfRoot(out map[string]any, c estimator.Cut, value float64) {
	clipped := math.Sqrt(max(0, value*value-c.Added))
	if c.Added != 0 {
		out["added"] = t.Value(value - clipped)
	}
	if whole := math.Sqrt(clipped*clipped + c.Expected()); finite(whole) && whole > 0 {
		out["share_cut"] = math.Round(1e4*(1-clipped/whole)) / 1e4
	}
}

// ends adds what the ends rest on.
func ends(out map[string]any, low, high string) map[string]any {
	out["low"], out["high"] = low, high
	return out
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
