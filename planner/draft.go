package planner

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/internal/refuse"
	"scrim/planner/aggregate"
	"scrim/planner/keys"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// Defaults of the number of groups that a person may be in. All groups are kept where the keys are
// public and at most AllGroups in number: no choice among a person's groups is then needed, which
// is faster, and no row is left out.
const (
	AllGroups        = 24
	DefaultMaxGroups = 8
)

// maxReleases bounds the releases of one statement.
const maxReleases = 64

// draft is one release before the statement's loss is split.
type draft struct {
	relation *rel.Relation
	keys.Grouping
	maxGroups   int  // groups that a unit may be in, >= 1
	bounded     bool // maxGroups is enforced by the scans
	aggregates  []*aggregate.Aggregate
	choice      plan.Grouping        // whether the groups are answered together
	groupVector *aggregate.Aggregate // what would answer, or answers, all groups at once; nil where the two ways are not compared
	pure        bool                 // by pure mechanisms only
	specs       []scanSpec
	scans       []plan.Scan
	digest      string
	release     *plan.Release
}

// release plans one GROUP BY over rows of persons.
func (s *statement) release(g *gmsplan.GroupBy, r *rel.Relation) (result, error) {
	if ends, ok, err := s.ends(g, r); ok || err != nil {
		return ends, err
	}
	grouping, err := s.keys.Group(r, g.GroupByExprs)
	if err != nil {
		return result{}, err
	}
	if grouping.Empty {
		return s.noGroups(g)
	}
	d := &draft{relation: r, Grouping: grouping, pure: s.params.IsPure()}
	if !d.Public && d.pure {
		return result{}, s.params.NotSelected()
	}
	outputs, err := s.outputs(d, g)
	if err != nil {
		return result{}, err
	}
	if d.Public && len(d.Keys) > 0 && len(d.aggregates) == 0 {
		return s.declaredKeys(g, d, outputs)
	}
	if !d.pure { // a vector of means has no pure mechanism that is better than its columns'
		s.vectorize(d, outputs)
	}
	s.boundGroups(d)
	s.together(d, outputs)
	if err := s.scans(d, g.Child); err != nil {
		return result{}, err
	}
	if d, err = s.distinctDraft(d); err != nil {
		return result{}, err
	}
	return s.place(g, d, outputs)
}

// noGroups is a GROUP BY by a key that no row can have, whatever the data are.
func (s *statement) noGroups(g *gmsplan.GroupBy) (result, error) {
	return s.emptyGroups(g, s.noRows(g.Child))
}

// outputs plans the columns of the GROUP BY: its aggregates, each once, and its keys. A column that
// is neither is one that the binder carries along, and is NULL.
func (s *statement) outputs(d *draft, g *gmsplan.GroupBy) ([]plan.Output, error) {
	outputs := make([]plan.Output, len(g.SelectDeps))
	known := map[string]int{}
	for i, e := range g.SelectDeps {
		outputs[i] = plan.Output{Key: -1, Aggregate: -1}
		switch e := e.(type) {
		case *expression.GetField:
			for k, key := range d.Keys {
				if gf, ok := key.Expr.(*expression.GetField); ok && gf.Id() == e.Id() {
					outputs[i].Key = k
				}
			}
		case sql.Aggregation:
			e, barSpec := aggregate.BarOf(e)
			name := aggregate.Identity(e)
			at, ok := known[name]
			if !ok {
				a, err := s.aggs.Of(d.relation, e)
				if err != nil {
					return nil, err
				}
				if at = aggregate.SameCount(d.aggregates, a); at < 0 {
					at = len(d.aggregates)
					d.aggregates = append(d.aggregates, a)
				}
				known[name] = at
			}
			outputs[i].Aggregate = at
			if barSpec != nil {
				if err := s.aggs.Bar(d.relation, d.aggregates[at], barSpec, &outputs[i]); err != nil {
					return nil, err
				}
			}
		default:
			return nil, rule.Deny(rule.Node, refuse.Shape, "Select grouping columns and aggregates.", "The expression %s beside an aggregate is not supported.", e)
		}
	}
	s.orderAggregates(d, outputs)
	return outputs, nil
}

// boundGroups chooses how many groups a person may be in, and whether the scans must see to it.
func (s *statement) boundGroups(d *draft) {
	switch {
	case len(d.Keys) == 0 || d.relation.Unique || d.Public && d.Groups <= 1:
		d.maxGroups = 1
		return
	}
	n := s.params.MaxGroups(d.relation.Private)
	if n == 0 {
		n = DefaultMaxGroups
		if d.Public && d.Groups <= AllGroups {
			n = d.Groups
		}
	}
	if d.Public && n >= d.Groups {
		d.maxGroups = d.Groups
		return
	}
	d.maxGroups, d.bounded = n, true
}

// distinctDraft returns the draft with the same digest, so that what is asked twice, as by a CTE that is used twice or by
// an error bar in a subquery, is one release.
func (s *statement) distinctDraft(d *draft) (*draft, error) {
	d.digest = s.digestOf(d)
	for _, other := range s.drafts {
		if other.digest == d.digest {
			return other, nil
		}
	}
	if len(s.drafts) >= maxReleases {
		return nil, rule.Deny(rule.TooManyReleases, refuse.Shape, "Send several statements.", "The statement has more than %d private parts.", maxReleases)
	}
	d.release = &plan.Release{}
	s.drafts = append(s.drafts, d)
	return d, nil
}

// place makes the DPAggregate node: the columns of the GROUP BY, then the keys that are expressions,
// which the nodes above refer to by new columns.
func (s *statement) place(g *gmsplan.GroupBy, d *draft, outputs []plan.Output) (result, error) {
	n := &plan.DPAggregate{Shown: g.Schema(s.ctx), Keys: len(d.Keys)}
	for i, e := range g.SelectDeps {
		col := *n.Shown[i]
		var id sql.ColumnId
		if x, ok := e.(sql.IdExpression); ok {
			id = x.Id()
		}
		if o := outputs[i]; o.Aggregate >= 0 {
			s.retyped.Note(id, col.Type, d.sqlType(o))
			col.Type = d.sqlType(o)
		}
		col.Nullable = true
		n.Shown[i] = &col
		n.Exprs = append(n.Exprs, tree.Column(id, 0, col.Type, col.DatabaseSource, col.Source, col.Name))
	}
	r := result{node: n, answer: true}
	for i, k := range d.Keys {
		if _, ok := k.Expr.(*expression.GetField); ok {
			continue
		}
		f := tree.Column(s.NewID(), 0, k.Type, "", "", k.Name)
		n.Exprs = append(n.Exprs, f)
		n.Shown = append(n.Shown, &sql.Column{Name: k.Name, Type: k.Type, Nullable: true})
		outputs = append(outputs, plan.Output{Key: i, Aggregate: -1})
		r.keys = append(r.keys, keyField{k.Expr, f})
	}
	n.Release = d.release
	for i, o := range outputs {
		at := slices.Index(d.release.Output, o)
		if at < 0 {
			at = len(d.release.Output)
			d.release.Output, d.release.Schema = append(d.release.Output, o), append(d.release.Schema, n.Shown[i])
		}
		n.Columns = append(n.Columns, at)
	}
	var err error
	if d.Public {
		if n.Reachable, err = s.keys.Feasible(d.relation, &d.Grouping); err != nil {
			return result{}, err
		}
	}
	s.nodes = append(s.nodes, n)
	return r, nil
}

// decode returns how a privately selected key comes back as an SQL value.
func decode(t sql.Type) func(any) (any, error) {
	ctx := sql.NewEmptyContext()
	return func(v any) (any, error) {
		if v == nil {
			return nil, nil
		}
		x, _, err := t.Convert(ctx, v)
		return x, err
	}
}
