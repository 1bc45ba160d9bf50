package planner

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/functions/standard"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/planner/aggregate"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/release"
	"scrim/planner/rule"
	"scrim/planner/settings"
	"scrim/planner/tree"
)

// maxReleases bounds the releases of one statement.
const maxReleases = 64

// release plans one GROUP BY over rows of persons.
// Its scans go on from the mark.
func (s *statement) release(g *gmsplan.GroupBy, r *rel.Relation, m *rel.Mark) (result, error) {
	if known, ok, err := s.declaredRange(g, r); ok || err != nil {
		return known, err
	}
	grouping, err := s.keys.Group(r, g.GroupByExprs)
	if rule.Of(err) == rule.GroupSize && len(grouping.Keys) > 0 && settings.ViewOf(s.ctx) != nil {
		err = release.TooManyCells(grouping)
	}
	if err != nil {
		return result{}, err
	}
	if grouping.Empty { // by a key that no row can have, whatever the data are
		return s.emptyGroups(g, s.noRows(g.Child))
	}
	d := &release.Aggregation{Relation: r, Mark: m, Grouping: grouping, Pure: s.params.IsPure()}
	if err := d.PublicGroups(); err != nil {
		return result{}, err
	}
	if !d.Public && d.Pure {
		return result{}, s.params.NotSelected()
	}
	if err := s.releases.CheckSynthetic(d); err != nil {
		return result{}, err
	}
	outputs, err := s.outputs(d, g)
	if err != nil {
		return result{}, err
	}
	if d.Public && len(d.Keys) > 0 && len(d.Aggregates) == 0 {
		return s.declaredKeys(g, d, outputs)
	}
	s.defines = g
	asked := slices.Clone(outputs)
	told, err := s.viewAnswers(g, d)
	if err != nil {
		return result{}, err
	}
	d.Other = !d.Public && len(d.Aggregates) > 0 && s.params.KeepsKeys()
	if !d.Pure { // a vector of means has no pure mechanism that is better than its columns'
		s.releases.Vectorize(d, outputs)
	}
	s.releases.ShareStatistics(d, outputs)
	s.releases.BoundGroups(d)
	if err := s.releases.GroupVector(d, outputs); err != nil {
		return result{}, err
	}
	s.releases.Together(d, outputs)
	if err := s.releases.Scans(d); err != nil {
		return result{}, err
	}
	if d, err = s.once(d); err != nil {
		return result{}, err
	}
	out, err := s.emitNode(g, d, outputs)
	if n, ok := out.node.(*plan.DPAggregate); ok {
		s.noteViews(d, n, asked, told)
	}
	return out, err
}

// outputs plans the columns of the GROUP BY: its aggregates, each once, and its keys. A column that
// is neither is one that the binder carries along for the expressions of keys above: it is NULL,
// and nothing may read it.
func (s *statement) outputs(d *release.Aggregation, g *gmsplan.GroupBy) ([]plan.Output, error) {
	outputs := make([]plan.Output, len(g.SelectDeps))
	known := map[string]int{}
	for i, e := range g.SelectDeps {
		outputs[i] = plan.Output{Key: -1, Aggregate: -1}
		switch e := e.(type) {
		case *expression.GetField:
			for k, key := range d.Keys {
				if gf, ok := standard.Unkeyed(key.Expr).(*expression.GetField); ok && gf.Id() == e.Id() {
					outputs[i].Key = k
				}
			}
			if outputs[i].Key < 0 {
				s.carried[e.Id()] = true
			}
		case sql.Aggregation:
			e, barSpec := aggregate.BarOf(e)
			name := aggregate.Identity(e)
			at, ok := known[name]
			if !ok {
				a, err := s.aggs.Of(d.Relation, e)
				if err != nil {
					return nil, err
				}
				if at = aggregate.SameCount(d.Aggregates, a); at < 0 {
					at = len(d.Aggregates)
					d.Aggregates = append(d.Aggregates, a)
				}
				known[name] = at
			}
			outputs[i].Aggregate = at
			if barSpec != nil {
				if err := s.aggs.Bar(d.Relation, d.Aggregates[at], barSpec, &outputs[i]); err != nil {
					return nil, err
				}
			}
		default:
			return nil, rule.Deny(rule.Node, refuse.Shape, "Select grouping columns and aggregates.", "The expression %s beside an aggregate is not supported.", e)
		}
	}
	s.releases.OrderAggregates(d, outputs)
	return outputs, nil
}

// once returns the draft with the same digest, so that what is asked twice, as by a CTE that
// is used twice or by an error bar in a subquery, is one release.
func (s *statement) once(d *release.Aggregation) (*release.Aggregation, error) {
	d.Digest = s.releases.DigestOf(d)
	if other, ok := lists.Find(s.aggregations, func(other *release.Aggregation) bool { return other.Digest == d.Digest }); ok {
		return other, nil
	}
	if len(s.aggregations) >= maxReleases {
		return nil, rule.Deny(rule.TooManyReleases, refuse.Shape, "Send several statements.", "The statement has more than %d private parts.", maxReleases)
	}
	d.Release = &plan.Release{Asked: d.Digest, Uses: s.uses(d)}
	s.aggregations = append(s.aggregations, d)
	return d, nil
}

// uses lists the releases whose answers are values of an aggregation's scans.
func (s *statement) uses(d *release.Aggregation) []*plan.Release {
	var out []*plan.Release
	for _, other := range s.aggregations {
		if slices.ContainsFunc(d.Scans, func(sc plan.Scan) bool {
			return slices.ContainsFunc(sc.Args, func(x any) bool {
				a, ok := x.(plan.AnswerArg)
				return ok && a.Asked == other.Digest
			})
		}) {
			out = append(out, other.Release)
		}
	}
	return out
}

// keyField is a grouping expression and the column of the answer that has its value. The binder has
// the nodes above compute YEAR(placed) from placed again; the answer has no placed, so they are
// made to read the key instead.
type keyField struct {
	expr  sql.Expression
	field *expression.GetField
	// of a key for which a node makes a column
	shown  *sql.Column
	output plan.Output
}

// keyFields are new columns for the keys that are expressions, by which the nodes above refer to
// them.
func (s *statement) keyFields(d *release.Aggregation) (list []keyField) {
	for i, k := range d.Keys {
		if _, ok := standard.Unkeyed(k.Expr).(*expression.GetField); !ok {
			list = append(list, keyField{k.Expr, tree.Column(s.NewID(), 0, k.Type, "", "", k.Name),
				&sql.Column{Name: k.Name, Type: k.Type, Nullable: true}, plan.Output{Key: i, Aggregate: -1}})
		}
	}
	return list
}

// emitNode makes the DPAggregate node: the columns of the GROUP BY, then the keys that are
// expressions, which the nodes above refer to by new columns.
func (s *statement) emitNode(g *gmsplan.GroupBy, d *release.Aggregation, outputs []plan.Output) (result, error) {
	n := &plan.DPAggregate{Shown: g.Schema(s.ctx), Keys: len(d.Keys)}
	for i, e := range g.SelectDeps {
		col, id := *n.Shown[i], tree.ID(e)
		if o := outputs[i]; o.Aggregate >= 0 {
			s.retyped.Note(id, col.Type, d.Type(o))
			col.Type = d.Type(o)
		}
		col.Nullable = true
		n.Shown[i] = &col
		n.Exprs = append(n.Exprs, tree.Column(id, 0, col.Type, col.DatabaseSource, col.Source, col.Name))
	}
	r := result{node: n, answer: true, keys: s.keyFields(d)}
	for _, k := range r.keys {
		n.Exprs, n.Shown, outputs = append(n.Exprs, k.field), append(n.Shown, k.shown), append(outputs, k.output)
	}
	n.Release = d.Release
	for i, o := range outputs {
		at := slices.Index(d.Release.Output, o)
		if at < 0 {
			at = len(d.Release.Output)
			d.Release.Output, d.Release.Schema = append(d.Release.Output, o), append(d.Release.Schema, n.Shown[i])
		}
		n.Columns = append(n.Columns, at)
	}
	var err error
	if d.Public {
		if n.Feasible, err = s.keys.Feasible(d.Relation, &d.Grouping); err != nil {
			return result{}, err
		}
		d.Release.Feasible = n.Feasible
	}
	s.nodes = append(s.nodes, n)
	return r, nil
}
