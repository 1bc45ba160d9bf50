package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/estimator"
	"scrim/engine/estimator/errorbar"
	"scrim/engine/estimator/groups"
	"scrim/functions"
	"scrim/internal/lists"
)

// ErrorBar is how error bars of one column are made from an estimate: post-processing of what is
// released, like the answer itself.
type ErrorBar struct {
	Text  string // of the column, as a client would write it
	At    int    // place among the values; -1: all of them, as an array
	Value func(steps float64) float64
	Count bool // whole, and where it is COUNT at least 0
	Clamp bool
	// Moment shows a number of a moment's as it; nil where numbers are shown.
	Moment func(float64) any
	// Digits after the point of the answer; -1: it is a DOUBLE.
	Digits int
	// Rounding is the step that rows are rounded to, in units of the value; 0 where they are not.
	Rounding float64
	Mean     bool // the answer is between those of its rows
}

// Asked is the aggregate as a client would write it, of several columns each.
func (a *Aggregate) Asked() string {
	return strings.Join(lists.Map(a.ErrorBars, func(t ErrorBar) string { return t.Text }), ", ")
}

// bar is the SQL value of an output that tells of the aggregate's error: NULL where nothing is
// known.
func (a *Aggregate) bar(o Output, e estimator.Estimate) any {
	t := a.ErrorBars[o.Part]
	if o.ErrorBar == functions.Radius {
		return known(errorbar.Radius(e, o.Level))
	}
	if o.ErrorBar == functions.Info {
		return types.JSONDocument{Val: t.info(a, e)}
	}
	if t.At >= 0 {
		x := t.of(o, e, t.At)
		if t.Moment != nil && o.ErrorBar != functions.StdErr {
			return t.Moment(x)
		}
		return known(x)
	}
	list := lists.Make(len(e.Values), func(i int) any { return known(t.of(o, e, i)) })
	return types.JSONDocument{Val: list}
}

// Law is what an interval of an expression reads of an output's answer in a group: released numbers
// and what is public, like the ends of its own interval. The noises of different releases, groups
// and aggregates are independent; those of several parts of one estimate go together as Error.Rows
// tells. Without that it is not known, nor of answers that were made to agree, or that a view
// tells.
func (r *Release) Law(o Output, e estimator.Estimate, group int) (law errorbar.Law, ok bool) {
	a := &r.Aggregates[o.Aggregate]
	t := a.ErrorBars[o.Part]
	if e.Status != estimator.OK || t.At < 0 || math.IsNaN(e.Values[t.At]) {
		return law, false
	}
	law = errorbar.Law{Estimate: e.Part(t.At, t.At+1), Unit: t.Value(1), NonNegative: t.Clamp}
	law.Estimate.Values, law.Estimate.StdErr = law.Estimate.Values[:1:1], law.Estimate.StdErr[:1:1]
	columns := a.Groups != nil && !slices.ContainsFunc(a.Groups.Aggregates, func(x groups.Aggregate) bool { return x.Mean > 0 }) // of its own for each
	if x := e.Error; r.FromView == nil && (a.Parts == nil || columns || x != nil && x.Rows != nil) && (x == nil || !x.Tied) {
		law.Rows = fmt.Sprintf("%.16x %d %d", r.Asked, group, o.Aggregate)
		law.Source = fmt.Sprint(law.Rows, " ", o.Part)
	}
	return law, true
}

// of returns one number, NaN for NULL.
func (t ErrorBar) of(o Output, e estimator.Estimate, i int) float64 {
	if math.IsNaN(e.Values[i]) {
		return math.NaN()
	}
	if o.ErrorBar == functions.StdErr {
		return t.Value(e.StdErr[i])
	}
	lo, hi := errorbar.Interval(e, i, o.Level)
	lo, hi = t.Value(lo), t.Value(hi)
	if t.Count { // the answer is shown as a whole number, and the exact one is one
		shown := math.RoundToEven(e.Values[i])
		lo, hi = min(math.Ceil(lo), shown), max(math.Floor(hi), shown)
	}
	if t.Clamp {
		lo, hi = max(lo, 0), max(hi, 0)
	}
	if o.ErrorBar == functions.Low {
		return lo
	}
	return hi
}

// WideLevel is the level of the interval by which an error is called wide.
const WideLevel = 0.95

// Wide is how many times half of the size of value i of an estimate its interval reaches from it:
// the error is called wide above 1. It is NaN where the error is not known.
func (t ErrorBar) Wide(e estimator.Estimate, i int) float64 {
	lo, hi := errorbar.Interval(e, i, WideLevel)
	v := t.Value(e.Values[i])
	return 2 * math.Max(v-t.Value(lo), t.Value(hi)-v) / math.Abs(v)
}

// known is a number as an SQL value: NULL for one that is not known or has no bound.
func known(x float64) any {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return x
}

// barLines say of the columns that tell of an aggregate's error what they leave out, for EXPLAIN.
func (r *Release) barLines(at int) []string {
	var lines []string
	for _, o := range r.Output {
		if o.Aggregate != at || o.ErrorBar == functions.NoErrorBar {
			continue
		}
		covers := "covers the noise"
		switch bias, allowed := biasOf(r.Aggregates[at].Estimator); {
		case bias == "":
		case allowed:
			covers += ", and by an estimate " + bias
		default:
			covers += ", not " + bias
		}
		text := o.ErrorBar.String()
		if o.Level > 0 {
			text += fmt.Sprintf(" level=%v", o.Level)
		}
		if r.Aggregates[at].Parts != nil {
			text += fmt.Sprintf(" of column %d", o.Part+1)
		}
		lines = append(lines, text+"  free  "+covers)
	}
	return lines
}

// biasOf is what an estimator's answers lack beside noise, and whether intervals allow for it.
func biasOf(e estimator.Estimator) (bias string, allowed bool) {
	b, ok := e.(estimator.Biased)
	if !ok {
		return "", false
	}
	a, ok := e.(estimator.Allowing)
	return b.Bias(), ok && a.AllowsForBias()
}

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
	return lists.Make(len(e.Values), func(i int) any { return t.infoOf(a, e, i) })
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
		if m := e.Error.Moments; m != nil && m.Shown(i).Root {
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
	cut := math.Abs(c.Added)
	if cut == 0 || len(c.Up) > 0 && len(c.Down) > 0 { // of a mean, or of both signs
		cut = c.Expected()
	}
	if doubt := c.Doubt(); finite(cut) && finite(doubt) && value != 0 {
		share := func(x float64) float64 { return min(1, math.Round(1e4*math.Abs(x/value))/1e4) }
		out["share_cut"], out["share_cut_error"] = share(cut), share(doubt)
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
