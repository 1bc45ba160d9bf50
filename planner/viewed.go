package planner

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"

	"scrim/catalog"
	"scrim/engine/estimator"
	"scrim/functions/standard"
	"scrim/internal/lists"
	"scrim/internal/params"
	"scrim/planner/cells"
	"scrim/planner/parse"
	"scrim/planner/plan"
	"scrim/planner/release"
	"scrim/planner/settings"
	"scrim/planner/survey"
	"scrim/planner/tree"
)

// viewed is what DP views tell of a release of the statement.
type viewed struct {
	grouping *release.Aggregation
	answers  []*cells.Answer // by different views
	columns  map[int]int     // of outputs of the release, their aggregates in the answers
	none     bool            // a node shows what no view tells
}

// viewAnswers finds what DP views tell of an aggregation, before its aggregates are put together.
func (s *statement) viewAnswers(g *gmsplan.GroupBy, d *release.Aggregation) ([]*cells.Answer, error) {
	if s.p.config.Views == nil || s.params.Views() == params.ViewsOff || settings.ViewOf(s.ctx) != nil || settings.PilotOf(s.ctx).Share > 0 {
		return nil, nil
	}
	if !d.Public || len(d.Aggregates) == 0 || d.Relation.Shared() {
		return nil, nil
	}
	views, err := s.p.config.Views(s.ctx, d.Relation.Reads)
	if err != nil || len(views) == 0 {
		return nil, err
	}
	rows, ok := s.rowsBelow(g)
	if !ok {
		for _, v := range views {
			s.notTaken(v.Name, "the rows below the GROUP BY are more than tables, joined and filtered")
		}
		return nil, nil
	}
	q := &cells.Question{Rows: rows, Relation: d.Relation, Grouping: d.Grouping, Aggregates: d.Aggregates}
	var out []*cells.Answer
	for _, v := range views {
		if s.catalog.Table(v.Ref.String()).State != catalog.Public {
			continue
		}
		if s.params.Views() != params.ViewsAlways && !v.Fresh {
			s.notTaken(v.Name, "something was written to its tables since it was released; SET dp_views = 'always' takes it all the same")
			continue
		}
		def, ok := s.definition(v)
		if !ok {
			s.notTaken(v.Name, "its definition means something else now; CALL dp_refresh_view('"+v.Name+"')")
			continue
		}
		a, why, err := cells.Find(s.ctx, def, q)
		switch {
		case s.ctx.Err() != nil:
			return nil, err
		case a != nil && err == nil:
			out = append(out, a)
		default: // one that was dropped just now tells nothing
			s.notTaken(v.Name, why)
		}
	}
	return out, nil
}

// mostNotTaken bounds what EXPLAIN says of views that do not answer.
const mostNotTaken = 8

// notTaken notes why a view does not answer a part of the statement.
func (s *statement) notTaken(view, why string) {
	line := plan.NotTaken{View: view, Why: why}
	if why != "" && len(s.viewsNot) < mostNotTaken && !slices.Contains(s.viewsNot, line) {
		s.viewsNot = append(s.viewsNot, line)
	}
}

// definition plans the definition of a view; false where it is not any more what was released.
func (s *statement) definition(v *cells.View) (*cells.Definition, bool) {
	d, known := s.definitions[v.Ref]
	if !known {
		d = s.p.define(s.ctx, s.analyzer, s.catalog, v)
		s.definitions[v.Ref] = d
	}
	return d, d != nil
}

// define plans the definition of a view, as it was planned when the view was made; nil where it is
// planned otherwise now, or cannot be.
func (p *Planner) define(ctx *sql.Context, a *analyzer.Analyzer, c catalog.Reader, v *cells.View) *cells.Definition {
	ctx = settings.WithView(parse.WithStatement(ctx, v.Text, v.Tree), v.Settings)
	bound, _, err := planbuilder.New(ctx, a.Catalog, nil).BindOnly(v.Tree, v.Text, nil)
	if err == nil { // as rewrite is given it, and plans it
		if bound, _, err = standard.Collate(ctx, bound); err == nil {
			bound, err = standard.ColumnTypes(ctx, bound)
		}
	}
	if err != nil {
		return nil
	}
	t, err := survey.ReadText(ctx)
	if err != nil {
		return nil
	}
	s, err := p.statement(ctx, a, c, t, survey.Of(ctx, c, bound))
	if err != nil {
		return nil
	}
	s.Answer, s.AnswerEach = s.scalar, s.answerEach
	s.params.Layers = []settings.Layer{t.Hints}
	if _, err := s.build(bound, position{top: true}); err != nil || len(s.aggregations) != 1 {
		return nil
	}
	d := s.aggregations[0]
	rows, ok := s.rowsBelow(s.defines)
	if !ok || d.Digest != v.Asked || len(d.Aggregates) != 1 {
		return nil
	}
	return &cells.Definition{View: v, Rows: rows, Relation: d.Relation, Keys: d.Keys, Parts: d.Aggregates[0].Parts, Finder: s.keys}
}

// rowsBelow reads what stands below a GROUP BY as a FROM clause with conditions; false where it is
// more than that.
func (s *statement) rowsBelow(g *gmsplan.GroupBy) (cells.Rows, bool) {
	var conds []sql.Expression
	n := g.Child
	for {
		if f, ok := n.(*gmsplan.Filter); ok {
			conds, n = append(conds, tree.Conjuncts(f.Expression)...), f.Child
		} else if p, ok := n.(*gmsplan.Project); ok {
			n = p.Child
		} else {
			break
		}
	}
	if !s.plainRows(n, false) {
		return cells.Rows{}, false
	}
	var out cells.Rows
	err := s.Aside(func() error {
		r, err := s.build(n, position{aggregate: true})
		if err == nil && r.rel != nil {
			out = cells.Rows{Text: s.Identity(r.rel), From: r.rel}
		}
		return err
	})
	if err != nil || out.From == nil {
		return cells.Rows{}, false
	}
	for _, c := range conds {
		o := out.From.Origin(s.ctx, c)
		if o == nil {
			return cells.Rows{}, false
		}
		out.Conds = append(out.Conds, o)
	}
	return out, true
}

// plainRows reports whether a subtree is tables, joined and filtered; and perhaps ordered and cut.
func (s *statement) plainRows(n sql.Node, ordered bool) bool {
	plain := true
	tree.Inspect(s.ctx, n, func(n sql.Node) {
		switch n.(type) {
		case *gmsplan.Limit, *gmsplan.Offset, *gmsplan.Sort:
			plain = plain && ordered
		case *gmsplan.Project, *gmsplan.Filter, *gmsplan.TableAlias, *gmsplan.SubqueryAlias, *gmsplan.JoinNode, *gmsplan.ResolvedTable:
		default:
			plain = false
		}
	}, func(e sql.Expression) {
		if _, ok := e.(*gmsplan.Subquery); ok {
			plain = false
		}
	})
	return plain
}

// noteViews keeps what views tell of the release of a node, whose columns were asked so.
func (s *statement) noteViews(d *release.Aggregation, n *plan.DPAggregate, asked []plan.Output, answers []*cells.Answer) {
	v := s.viewed[d.Release]
	if v == nil {
		v = &viewed{grouping: d, answers: answers, columns: map[int]int{}}
		s.viewed[d.Release] = v
	}
	v.none = v.none || len(answers) == 0
	for i, o := range asked {
		if o.Aggregate >= 0 {
			v.columns[n.Columns[i]] = o.Aggregate
		}
	}
}

// chooseViews answers the statement from views where they tell all of it: a part of the table and a
// part of a view would not agree.
func (s *statement) chooseViews() {
	count := map[string]int{} // of the releases that a view answers
	for _, v := range s.viewed {
		for _, a := range v.answers {
			count[a.View.Name]++
		}
	}
	if len(s.nodes) == 0 {
		return
	}
	st := s.nodes[0].Statement
	defer func() {
		if !st.Viewed() {
			st.NotTaken = s.viewsNot
		}
	}()
	chosen := map[*plan.Release]*cells.Answer{}
	for _, d := range s.aggregations {
		v := s.viewed[d.Release]
		if v == nil || v.none || slices.ContainsFunc(d.Release.Aggregates, asVector) {
			return
		}
		list := slices.DeleteFunc(slices.Clone(v.answers), func(a *cells.Answer) bool { return !s.goodEnough(v, a) })
		if len(list) == 0 {
			return
		}
		chosen[d.Release] = slices.MinFunc(list, func(a, b *cells.Answer) int {
			return cmp.Or(-cmp.Compare(count[a.View.Name], count[b.View.Name]), newest(a, b), cmp.Compare(a.Sums[0].Error(), b.Sums[0].Error()))
		})
	}
	for r, a := range chosen {
		r.FromView = s.viewed[r].fromView(r, a)
	}
	st.ViewsFirst = s.params.Views() == params.ViewsAlways
}

// asVector reports whether an aggregate answers several columns in units of their grids.
func asVector(a plan.Aggregate) bool { return a.Parts != nil && a.Vector != nil }

// newest puts views of the data of now first.
func newest(a, b *cells.Answer) int {
	if a.View.Fresh == b.View.Fresh {
		return 0
	} else if a.View.Fresh {
		return -1
	}
	return 1
}

// goodEnough reports whether the error of an answer is expected to be no larger than that of the
// release itself, as far as that is known: by the mechanism's formula, or in units of what one
// person counts for, of which the view has chosen a bound for the same persons. Noise is compared
// with noise: the release would search for a clip among the same totals, and take about as much. Of
// 7,200 totals with exponent 1.25 a view of ε 1 was 18 % off by its clip, and releases of ε 0.1 to
// 0.25 were 16 to 32 %; that of what the view's clip may take had them for the better ones.
func (s *statement) goodEnough(v *viewed, a *cells.Answer) bool {
	if s.params.Views() == params.ViewsAlways {
		return true
	}
	for at, i := range v.columns {
		if x, ok := ownError(v.grouping.Release, at, a.Sums[i].Clip); ok && a.Sums[i].StdErr > x {
			s.notTaken(a.View.Name, fmt.Sprintf("the error of %s would be %.4g, where about %.4g is expected of the table; SET dp_views = 'always' takes it all the same", a.Sums[i].Text, a.Sums[i].StdErr, x))
			return false
		}
	}
	return true
}

// ownError is the expected error of an output of a release, by about what one person counts for;
// false where nothing tells it.
func ownError(r *plan.Release, output int, clip float64) (float64, bool) {
	o := r.Output[output]
	a := r.Aggregates[o.Aggregate]
	if x, ok := a.Estimator.(estimator.Composed); ok {
		a.Estimator = x.Alone(o.Part)
	}
	if x, ok := a.Estimator.ExpectedError(); ok {
		return x, true
	}
	if e, ok := a.Estimator.(estimator.Relative); ok {
		if factor, _, ok := e.RelativeError(); ok {
			return factor * clip, clip > 0
		}
	}
	switch c := r.Choice; {
	case !c.Compared && a.ErrorBars[o.Part].Mean: // its sum about a centre, which has a quarter of the loss
		return 2 * clip / math.Sqrt(2*a.Estimator.Loss().Rho.Float()), clip > 0
	case !c.Compared:
		return 0, false
	case c.Together:
		return c.Expected.Vector * clip, clip > 0
	default:
		return c.Expected.Bounded * clip, clip > 0
	}
}

// fromView makes the answer of a release of what a view tells.
func (v *viewed) fromView(r *plan.Release, a *cells.Answer) *plan.FromView {
	out := &plan.FromView{View: a.View}
	places := v.places(r)
	for _, asked := range a.Groups {
		row := make([]estimator.Estimate, len(r.Aggregates))
		for i, parts := range places {
			row[i] = together(asked, parts)
		}
		out.Groups = append(out.Groups, row)
	}
	for _, i := range slices.Compact(slices.Sorted(maps.Values(v.columns))) {
		out.Sums = append(out.Sums, a.Sums[i].ViewSum)
	}
	return out
}

// places are the aggregates of the answers by aggregate of the release and by its part.
func (v *viewed) places(r *plan.Release) [][]int {
	out := lists.Map(r.Aggregates, func(a plan.Aggregate) []int { return make([]int, max(1, len(a.Parts))) })
	for at, i := range v.columns {
		o := r.Output[at]
		out[o.Aggregate][o.Part] = i
	}
	return out
}

// together makes one estimate of several of one value.
func together(list []estimator.Estimate, places []int) estimator.Estimate {
	if len(places) == 1 {
		e := list[places[0]]
		if math.IsNaN(e.Values[0]) {
			e.Status = estimator.TooFew
		}
		return e
	}
	out := estimator.Estimate{Error: &estimator.Error{Form: estimator.Quotient}}
	for _, i := range places {
		e := list[i]
		x := e.Error
		if x == nil {
			x = &estimator.Error{Noise: e.StdErr, Raw: e.Values}
		}
		cut := estimator.Cut{}
		if len(x.Cut) > 0 {
			cut = x.Cut[0]
		}
		out.Values, out.StdErr = append(out.Values, e.Values[0]), append(out.StdErr, e.StdErr[0])
		out.Error.Noise, out.Error.Raw = append(out.Error.Noise, x.Noise[0]), append(out.Error.Raw, x.Raw[0])
		out.Error.Under = append(out.Error.Under, estimator.Entry(x.Under, 0))
		out.Error.Cut = append(out.Error.Cut, cut)
	}
	return out
}
