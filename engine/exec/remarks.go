package exec

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/estimator"
	"scrim/engine/estimator/errorbar"
	"scrim/engine/estimator/reconcile"
	"scrim/functions"
	"scrim/internal/lists"
	"scrim/internal/params"
	"scrim/internal/remark"
	"scrim/planner/plan"
)

// remarks is what the reader of a statement's answers has to know of them: one remark a kind, with
// the number of values that it is about.
//
// It is a function of the plan, which is public, and of the answers, which are released: their
// keys, values, standard errors, error laws and states (estimator.Estimate). So it is
// post-processing of what the statement's loss has paid for, under add-remove and replace-one
// alike, and a replay has the same remarks, without the words on the charge. Where keys are
// selected, the groups of an answer are the selected ones: nothing here knows of others, whether
// there are any or none.
func remarks(ctx *sql.Context, s *plan.Statement, answers map[*plan.Release]*answer, charged bool) []remark.Remark {
	cost := ""
	if charged {
		cost = " The charge stands."
	}
	var list []remark.Remark
	var few, wide, clips, open tally
	var times []float64
	apart := 1 // groups that share the loss of one where persons are too few
	tooWide := func(r *plan.Release, o plan.Output, g *answerGroup) bool {
		x, is := isWide(r, o, g)
		if is {
			times = append(times, x)
		}
		return is
	}
	for _, r := range s.Releases {
		a := answers[r]
		if a == nil {
			continue
		}
		if r.Selection != nil {
			list = append(list, keysRemark(s, r, a, cost))
		}
		if slices.ContainsFunc(r.Keys, func(k plan.Key) bool { return k.Rest }) {
			list = append(list, remark.New(remark.BooleanKeys, "Of a TINYINT(1) column (%s) the keys are 0 and 1: rows with other values, if there are any, are in no group.", plan.KeyNames(r)).
				With("Where there are others: %s.", declaration(r)))
		}
		if r.OneOwner != "" {
			list = append(list, remark.New(remark.TwoPersons, "Each row belongs to two persons of %s, and what each of them counts for is capped.", r.Owners[0]).With("%s", r.OneOwner))
		}
		groups := a.shown(r)
		for _, o := range r.Output {
			switch {
			case o.Aggregate < 0:
			case o.ErrorBar != functions.NoErrorBar:
				open.add(r, o, groups, isOpen, nil)
			default:
				before := few.cells
				if few.add(r, o, groups, isNull, neededText); few.cells > before && r.Aggregates[o.Aggregate].Groups == nil {
					apart = max(apart, r.PerUnit)
				}
				wide.add(r, o, groups, tooWide, nil)
				clips.add(r, o, groups, cutOf(r, o, groups), nil)
			}
		}
	}
	if few.cells > 0 {
		list = append(list, few.remark(remark.TooFewPersons, "NULL for too few persons, by a noisy number of them", cost).
			With("Ask for coarser groups or with a larger loss: %s%s.", forFewer(s), ofOneGroup(apart)))
	}
	if wide.cells > 0 {
		list = append(list, wide.remark(remark.WideError, "The 95 % interval reaches farther from the answer than half of it", cost).
			With("DP_LOW and DP_HIGH give its ends. Ask for coarser groups or with %s.", narrower(s, times)))
	}
	if clips.cells > 0 {
		list = append(list, clips.remark(remark.Clipped, "What a clip takes from the persons with the most was estimated and added back, and is 5 % or more of what is told (of a mean, more than the noise), or has no bound", cost))
	}
	if open.cells > 0 {
		list = append(list, open.remark(remark.NoBound, "NULL, as no bound of the error is known at that level", cost))
	}
	if t := s.Top; t != nil && answers[t.Release] != nil {
		list = append(list, topRemarks(ctx, t, answers[t.Release])...)
	}
	remark.Sort(list)
	return list
}

// topRemarks says where LIMIT and OFFSET choose between groups that the noise does not tell apart:
// those among the shown ones that may be behind the next one or before the one before, and others
// that may be before the last or behind the first of them.
// It looks at released numbers and their laws.
func topRemarks(ctx *sql.Context, t *plan.Top, a *answer) []remark.Remark {
	j, list, noisy := &errorbar.Joint{Risk: 1 - plan.WideLevel}, []errorbar.Form(nil), false
groups:
	for _, g := range a.shown(t.Release) {
		row, err := g.row(t.Release)
		if err != nil {
			return nil
		}
		for _, cond := range t.Having {
			if is, err := sql.EvaluateCondition(ctx, cond, row); err != nil || !sql.IsTrue(is) {
				continue groups
			}
		}
		if f, ok := formOf(ctx, t.By, j, func(at int) (errorbar.Form, bool) {
			o := t.Release.Output[at]
			if o.Aggregate < 0 || o.ErrorBar != functions.NoErrorBar {
				x, ok := numberOf(ctx, row[at])
				return errorbar.Number(x), ok
			}
			noisy = true
			l, ok := t.Release.Law(o, g.Estimates[o.Aggregate], g.Number)
			if !ok {
				return errorbar.Form{}, false
			}
			return j.Of(l), true
		}); ok {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(x, y errorbar.Form) int {
		if t.Descending {
			x, y = y, x
		}
		return cmp.Compare(x.Value, y.Value)
	})
	begin, end := min(t.Skip, len(list)), min(t.Skip+t.K, len(list))
	if begin == end || end-begin == len(list) || !noisy {
		return nil
	}
	// near says whether the noise leaves open which of two groups is first.
	near := func(i, k int) bool {
		if k < 0 || k == len(list) {
			return false
		}
		lo, hi := j.Ends(errorbar.Sum(list[i], list[k].Times(-1)))
		return !(lo > 0 || hi < 0)
	}
	shown, others := 0, 0
	for i := range list {
		switch {
		case i < begin && near(i, begin), i >= end && near(i, end-1):
			others++
		case i >= begin && i < end && (near(i, end) || near(i, begin-1)):
			shown++
		}
	}
	if shown == 0 {
		return nil
	}
	of := "the first"
	if begin > 0 {
		of = "the"
	}
	by := "what ORDER BY computes"
	if f, ok := t.By.(*expression.GetField); ok {
		o := t.Release.Output[f.Index()]
		by = nameOf(&t.Release.Aggregates[o.Aggregate], o.Part)
	}
	return []remark.Remark{remark.New(remark.Ranks, "By %s, %d of %s %d groups and %d of the others may change places: the noise does not tell them apart.", by, shown, of, end-begin, others)}
}

// formOf is what is known of an expression's value, of forms of what it reads; ok is false where it
// is computed otherwise than intervals are.
func formOf(ctx *sql.Context, e sql.Expression, j *errorbar.Joint, at func(int) (errorbar.Form, bool)) (f errorbar.Form, ok bool) {
	var of []errorbar.Form
	for _, c := range e.Children() {
		if f, ok = formOf(ctx, c, j, at); !ok {
			return f, false
		}
		of = append(of, f)
	}
	switch x := e.(type) {
	case *expression.GetField:
		return at(x.Index())
	case *expression.Literal:
		v, ok := numberOf(ctx, x.Value())
		return errorbar.Number(v), ok
	case *expression.UnaryMinus:
		return of[0].Times(-1), true
	case *expression.Div:
		return j.Quotient(of[0], of[1]), true
	case *expression.Arithmetic:
		switch x.Op {
		case "+":
			return errorbar.Sum(of...), true
		case "-":
			return errorbar.Sum(of[0], of[1].Times(-1)), true
		case "*":
			return j.Product(of[0], of[1]), true
		}
	case sql.FunctionExpression:
		rising, ok := functions.Rising[strings.ToLower(x.FunctionName())]
		if !ok || len(of) == 0 {
			return f, false
		}
		digits := 0.0
		if len(of) > 1 {
			digits = of[1].Value
		}
		return j.Map(of[0], func(x float64) float64 { return rising(x, digits) }), true
	}
	return f, false
}

// numberOf is an SQL value as a number.
func numberOf(ctx *sql.Context, v any) (float64, bool) {
	v, _, err := types.Float64.Convert(ctx, v)
	x, ok := v.(float64)
	return x, ok && err == nil
}

// keysRemark is about keys that are selected privately, of which so many are answered: their number
// is released, and the threshold is public. How many keys were not selected is private.
func keysRemark(s *plan.Statement, r *plan.Release, a *answer, cost string) remark.Remark {
	groups, rule := len(a.Groups), plan.KeysRule(r.Selection)
	if r.Other {
		return remark.New(remark.KeysTogether, "%d keys (%s) are answered each by itself, those that have %s. The row whose keys are NULL holds all others, and the rows without a key.", groups-1, plan.KeyNames(r), rule).
			With("Declared keys are all answered: %s.", declaration(r))
	}
	if groups == 0 {
		return remark.New(remark.NoKeys, "The result is empty: no key (%s) has %s.%s", plan.KeyNames(r), rule, cost).
			With("Group by fewer or coarser keys, ask with a larger loss: %s; or declare the keys: %s.", forFewer(s), declaration(r)).
			Briefly(remark.EmptyBrief+": no key of at least %d persons", r.Selection.Threshold())
	}
	return remark.New(remark.KeysLeftOut, "%d keys (%s) are answered; a key is left out unless it has %s.", groups, plan.KeyNames(r), rule).
		With("Declared keys are all answered: %s; SET %s = '%s' adds a row of what is left out.", declaration(r), params.Keys.Name, params.KeysKeep)
}

// totalsRemark is about totals that were left as they were released.
func totalsRemark(a reconcile.Apart) remark.Remark {
	var why []string
	if a.Absent > 0 {
		why = append(why, fmt.Sprintf("%d have a part that is NULL, or are so themselves", a.Absent))
	}
	if a.Off > 0 {
		why = append(why, fmt.Sprintf("%d differ from their parts by more than noise explains", a.Off))
	}
	return remark.New(remark.TotalsApart, "Of the totals, %s: they are shown as they were released, and need not agree with their parts.", strings.Join(why, " and "))
}

// plainKey is the name of a grouping expression that is a column; quoted and columnOf find the
// columns of one that is computed.
var (
	plainKey = regexp.MustCompile(`^(?:[\w$]+\.)?([\w$]+)$`)
	quoted   = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	columnOf = regexp.MustCompile(`\b[A-Za-z_$][\w$]*\.([A-Za-z_$][\w$]*)`)
)

// declaration is how a DBA declares the keys of a release, by the columns that they are or are
// computed from: an expression over declared columns has public values, too. It names them where
// the statement reads one table.
func declaration(r *plan.Release) string {
	var columns []string
	computed := false
	for _, k := range r.Keys {
		if k.Domain != nil && !k.Rest {
			continue
		}
		if m := plainKey.FindStringSubmatch(k.Name); m != nil {
			columns = append(columns, m[1])
			continue
		}
		computed = true
		for _, m := range columnOf.FindAllStringSubmatch(quoted.ReplaceAllString(k.Name, ""), -1) {
			columns = append(columns, m[1])
		}
	}
	slices.Sort(columns)
	if columns = slices.Compact(columns); len(r.Reads) != 1 || len(columns) == 0 {
		return "a DBA declares the columns that they are made of with dp_set_domain"
	}
	calls := lists.Map(columns, func(c string) string { return fmt.Sprintf("CALL dp_set_domain('%s', '%s', '[…]')", r.Reads[0], c) })
	if computed {
		return strings.Join(calls, " and ") + ", the columns that they are computed from, by their values or as '{\"min\": …, \"max\": …}'"
	}
	return strings.Join(calls, " and ")
}

// enough is how many times the loss parameter is advised where persons are too few.
const enough = 4

// forFewer is how the statement is asked with a larger loss, and what part of the persons does
// then: their number goes by the inverse of epsilon, and of the root of rho.
func forFewer(s *plan.Statement) string {
	p, now := lossOf(s)
	times := math.Min(enough, p.Max/now)
	if p == params.Rho {
		times = math.Sqrt(times)
	}
	return fmt.Sprintf("%s, and about %.0f %% of the persons do", larger(s, enough), 100/times)
}

// ofOneGroup is how groups have all of the loss that so many share, and what part of the persons
// does then: it goes by the inverse of the root of a group's rho, and of its epsilon at least that.
func ofOneGroup(apart int) string {
	if apart == 1 {
		return ""
	}
	return fmt.Sprintf("; or where a person is in one group: SET %s = 1, and about %.0f %% do", params.MaxGroups.Name, 100/math.Sqrt(float64(apart)))
}

// larger is how the statement is asked with so many times its loss parameter, as far as it goes.
// Some clients leave out what stands in comments. What is left of a budget is not looked at: a
// stored answer has the same remarks later.
func larger(s *plan.Statement, times float64) string {
	p, now := lossOf(s)
	value, _ := strconv.ParseFloat(strconv.FormatFloat(math.Min(times*now, p.Max), 'g', 2, 64), 64)
	text := strconv.FormatFloat(value, 'f', -1, 64)
	return fmt.Sprintf("SELECT /*+ SET_VAR(%s=%s) */ …, or SET %s = %s (if the budget has as much left)", p.Name, text, p.Name, text)
}

// lossOf is the parameter by which the statement was asked, and its value.
func lossOf(s *plan.Statement) (p *params.Parameter, now float64) {
	if s.Epsilon == 0 {
		return params.Rho, s.Rho
	}
	return params.Epsilon, s.Epsilon
}

// narrower says with which loss most errors would not be wide that are so many times as wide: noise
// goes by the inverse of epsilon, and of the root of rho. What a clip takes falls with it, too, and
// nothing says by how much.
func narrower(s *plan.Statement, times []float64) string {
	slices.Sort(times)
	most := times[len(times)/2] * 1.1
	p, now := lossOf(s)
	if p == params.Rho {
		most *= most
	}
	if most*now > p.Max || math.IsNaN(most) {
		return "a larger loss, as far as there is one: " + larger(s, enough)
	}
	return fmt.Sprintf("a loss at which noise would bring most within half: %s", larger(s, most))
}

// shown are the groups that the statement shows, in its order.
func (a *answer) shown(r *plan.Release) []answerGroup {
	groups := a.ordered(r)
	if len(r.Feasible) != len(groups) {
		return groups
	}
	var out []answerGroup
	for i, g := range groups {
		if r.Feasible[i] {
			out = append(out, g)
		}
	}
	return out
}

// tally counts the values of a statement that something is the matter with.
type tally struct {
	cells, of int
	texts     []string // by aggregate
}

// add counts the values of an output in some groups; more, if not nil, says more of them.
func (t *tally) add(r *plan.Release, o plan.Output, groups []answerGroup, hit func(*plan.Release, plan.Output, *answerGroup) bool, more func(int, []answerGroup) string) {
	cells := 0
	for i := range groups {
		if hit(r, o, &groups[i]) {
			cells++
		}
	}
	t.cells, t.of = t.cells+cells, t.of+len(groups)
	if cells == 0 {
		return
	}
	text := nameOf(&r.Aggregates[o.Aggregate], o.Part)
	if o.ErrorBar != functions.NoErrorBar {
		text = "DP_" + strings.ToUpper(o.ErrorBar.String()) + " of " + text
	}
	if len(groups) > 1 {
		text += fmt.Sprintf(" in %d of %d groups", cells, len(groups))
	}
	if more != nil {
		text += more(o.Aggregate, groups)
	}
	t.texts = append(t.texts, text)
}

// nameOf is a column of an aggregate as a client would write it.
func nameOf(a *plan.Aggregate, part int) string {
	if part < len(a.ErrorBars) {
		return clipped(a.ErrorBars[part].Text)
	}
	return clipped(a.Text)
}

// mostNamed is how many aggregates a remark names, and mostText how long a name may be.
const (
	mostNamed = 4
	mostText  = 60
)

func clipped(text string) string {
	if r := []rune(text); len(r) > mostText {
		return string(r[:mostText]) + "…"
	}
	return text
}

// remark words what was counted.
func (t *tally) remark(c remark.Code, what, cost string) remark.Remark {
	named := t.texts
	if len(named) > mostNamed {
		named = append(named[:mostNamed:mostNamed], fmt.Sprintf("and %d more", len(t.texts)-mostNamed))
	}
	return remark.New(c, "%s: %s.%s", what, strings.Join(named, "; "), cost).In(t.cells, t.of)
}

// isNull: too few persons, or rows of the group, by released numbers of them.
func isNull(r *plan.Release, o plan.Output, g *answerGroup) bool { return g.value(r, o) == nil }

// isOpen: what tells of the error of an answer is NULL, and the answer is not.
func isOpen(r *plan.Release, o plan.Output, g *answerGroup) bool {
	shown := o
	shown.ErrorBar = functions.NoErrorBar
	return g.value(r, o) == nil && g.value(r, shown) != nil
}

// neededText tells how many persons would do in the group that needs most, by released numbers.
func neededText(aggregate int, groups []answerGroup) string {
	persons, rows := int64(0), int64(0)
	for _, g := range groups {
		e := g.Estimates[aggregate]
		persons, rows = max(persons, e.Needed), max(rows, e.NeededRows)
	}
	switch {
	case persons > 0:
		return fmt.Sprintf(" (about %d persons are needed)", persons)
	case rows > 0:
		return fmt.Sprintf(" (about %d persons, or rows, of a group are needed)", rows)
	}
	return ""
}

// isWide: the 95 % interval reaches farther from the value than half of it, so many times. Of
// vectors it is the radius beside the norm; of several values of one answer the widest counts.
// Where no error is known nothing is said.
func isWide(r *plan.Release, o plan.Output, g *answerGroup) (times float64, wide bool) {
	e, bars := g.Estimates[o.Aggregate], r.Aggregates[o.Aggregate].ErrorBars
	if e.Status != estimator.OK || o.Part >= len(bars) {
		return 0, false
	}
	bar := bars[o.Part]
	if bar.At >= 0 {
		times = bar.Wide(e, bar.At)
	} else if times = 2 * errorbar.Radius(e, plan.WideLevel) / norm(e.Values); math.IsNaN(times) {
		times = 0
		for i := range e.Values {
			if x := bar.Wide(e, i); x > times {
				times = x
			}
		}
	}
	return times, times > 1
}

// leastCut is the share of all groups' answers together that is cut, from which on it is said.
const leastCut = 0.05

// cutOf returns what says that a part was cut from the answer of a group, and added: of counts and
// sums where that is leastCut of all groups together, as most groups' own shares are noise; of
// others where it is more than the noise of the clipped value, and of variances where it has no
// bound.
func cutOf(r *plan.Release, o plan.Output, groups []answerGroup) func(*plan.Release, plan.Output, *answerGroup) bool {
	added, all := 0.0, 0.0
	for i := range groups {
		if e, at, ok := cutAt(r, o, &groups[i]); ok && e.Error.IsSum(at) {
			added += math.Abs(e.Error.Cut[min(at, len(e.Error.Cut)-1)].Added)
			all += math.Abs(estimator.Entry(e.Values, at))
		}
	}
	return func(r *plan.Release, o plan.Output, g *answerGroup) bool {
		e, at, ok := cutAt(r, o, g)
		if !ok {
			return false
		}
		cut, noise := e.Error.Cut[min(at, len(e.Error.Cut)-1)], e.Error.Noise
		own := math.Abs(cut.Added)
		if e.Error.IsSum(at) {
			return own > 0 && added >= leastCut*all
		}
		if m := e.Error.Moments; m != nil {
			if cut.Endless() {
				return true
			}
			noise = m.Noise2 // of a variance, as what was added is
		}
		return own > estimator.Entry(noise, at)
	}
}

// cutAt is the answer of a group with the number of its value; ok says whether it has a clip.
func cutAt(r *plan.Release, o plan.Output, g *answerGroup) (e estimator.Estimate, at int, ok bool) {
	e, bars := g.Estimates[o.Aggregate], r.Aggregates[o.Aggregate].ErrorBars
	if e.Status != estimator.OK || e.Error == nil || len(e.Error.Cut) == 0 || o.Part >= len(bars) {
		return e, 0, false
	}
	at = max(0, bars[o.Part].At)
	v := estimator.Entry(e.Values, at)
	return e, at, v == v
}

func norm(x []float64) float64 {
	sum := lists.Sum(x, func(v float64) float64 { return v * v })
	return math.Sqrt(sum)
}
