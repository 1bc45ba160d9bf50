// Package release builds the aggregations of one statement: one GROUP BY over rows of persons each,
// before its loss is known.
//
// In go a relation with its grouping and its aggregates. Out comes an Aggregation: how many groups
// a person may be in, whether groups and columns are answered as one vector, the neighbour relation
// that its estimators run under, the scans of one row a (group, person) or one row a row, and the
// key under which its answer is kept. All of it follows from public facts.
package release

import (
	"slices"
	"sort"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting/days"
	"scrim/accounting/privacy"
	"scrim/catalog"
	"scrim/engine/estimator"
	"scrim/internal/params"
	"scrim/planner/aggregate"
	"scrim/planner/keys"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/settings"
)

// AllGroups is the number of public groups up to which a person may be in all of them, where nobody
// says how many: no choice among a person's groups is then needed, which is faster, and no row is
// left out. Beyond it, and where keys are private, the number is params.DefaultMaxGroups.
const AllGroups = 24

// Aggregation is one release before the statement's loss is split.
type Aggregation struct {
	Relation *rel.Relation // what the GROUP BY is over
	Mark     *rel.Mark     // up to where the relation is translated: the scans go on from there
	keys.Grouping
	MaxGroups  int  // groups that a unit may be in, >= 1
	Bounded    bool // maxGroups is enforced by the scans
	Aggregates []*aggregate.Aggregate
	Choice     plan.Grouping // whether the groups are answered together
	// what would answer, or answers, all groups at once; nil where the two ways are not compared
	GroupVector *aggregate.Aggregate
	View        *settings.View // the aggregation is a view's definition; nil: it is none
	// Synthetic says that it is the release of a synthetic table; nil: it is none.
	Synthetic *settings.Synthetic
	Memory    int64 // of a query, as Builder has it, where it is of a view or a synthetic table
	Pure      bool  // by pure mechanisms only
	Other     bool  // what is in keys that are not selected is one group more, see scan.go
	specs     []scanSpec
	Scans     []plan.Scan
	Partial   []string   // the dimensions of a view that rows may have no value of
	Blocks    *days.Span // the days of the periods that the scans read; nil: any
	Digest    string
	Release   *plan.Release
}

// Builder builds the aggregations of one statement: how their groups are bounded and answered, and
// the scans that they read.
type Builder struct {
	*rel.Writer
	ctx    *sql.Context
	params *settings.Settings
	keys   *keys.Finder
	Aggs   *aggregate.Binder
	// Memory bounds the numbers of one query that the executor holds, in bytes; 0: no bound is
	// known.
	Memory int64
}

// NewBuilder returns the builder of a statement.
func NewBuilder(ctx *sql.Context, w *rel.Writer, p *settings.Settings, k *keys.Finder, a *aggregate.Binder, memory int64) *Builder {
	return &Builder{w, ctx, p, k, a, memory}
}

// BoundGroups chooses how many groups a person may be in, and whether the scans must see to it.
func (s *Builder) BoundGroups(d *Aggregation) {
	switch {
	case d.Relation.Shared():
		d.MaxGroups = max(1, d.Groups) // see scan_forms.go
		return
	case len(d.Keys) == 0 || d.Relation.Unique || d.OneGroup || d.Public && d.Groups <= 1:
		d.MaxGroups = 1
		return
	}
	n := s.params.MaxGroups(d.Relation.Private)
	if n == 0 {
		n = params.DefaultMaxGroups
		if d.Public && d.Groups <= AllGroups {
			n = d.Groups
		}
	}
	if d.Public && n >= d.Groups {
		d.MaxGroups = d.Groups
		return
	}
	d.MaxGroups, d.Bounded = n, true
}

// Tables lists the protected tables that an aggregation touches, each once.
func (d *Aggregation) Tables() []rel.Protected {
	var out []rel.Protected
	seen := map[string]bool{}
	for _, t := range d.Relation.Private {
		if !seen[t.Policy.Account] {
			seen[t.Policy.Account] = true
			out = append(out, t)
		}
	}
	return out
}

// ShareStatistics replaces statistics of the same arguments by one release, with the loss of all of
// them:
//
//	SELECT REGR_SLOPE(y, x), REGR_INTERCEPT(y, x), REGR_R2(y, x) FROM people
//	SELECT VAR_POP(x), STDDEV_SAMP(x) FROM people
//
// Their answers then fit each other, too: they are of one line, or of one variance.
func (s *Builder) ShareStatistics(d *Aggregation, outputs []plan.Output) {
	for i := 0; i < len(d.Aggregates); i++ {
		members := []*aggregate.Aggregate{d.Aggregates[i]}
		for _, b := range d.Aggregates[i+1:] {
			if s.Aggs.SharesRelease(members[0], b) {
				members = append(members, b)
			}
		}
		if len(members) > 1 {
			d.replace(members, aggregate.Shared(members), outputs)
			i = -1 // their place has changed
		}
	}
}

// Together replaces aggregates by one release of what they have in common, with the loss of as many
// aggregates as it has sums:
//
//	SELECT SUM(x), COUNT(x), AVG(x), COUNT(*) FROM orders
//
// is a number of rows and a sum about a centre (mean.NewTogether), and its answers agree. Where a
// table has a public number of rows, the number is free, and all stay apart; so do aggregates of
// declared bounds of which nothing is searched for, and those that are answered in all groups at
// once. It follows from public facts: with a number asked for, no answer is expected to be less
// exact than apart, as it has a share that is no smaller.
func (s *Builder) Together(d *Aggregation, outputs []plan.Output) {
	public := d.Neighbours() == estimator.ReplaceOne && d.Relation.Whole()
	if d.Pure || public || d.View != nil || d.Synthetic != nil || d.Relation.Shared() {
		return
	}
	for i := 0; i < len(d.Aggregates); i++ {
		if t := s.Aggs.Together(d.Relation, d.Aggregates, d.Aggregates[i]); t != nil {
			d.replace(t.Parts, t, outputs)
			i = -1 // their place has changed
		}
	}
}

// OrderAggregates puts the aggregates of an aggregation in the order of their texts, whatever the
// order of the columns that show them.
func (s *Builder) OrderAggregates(d *Aggregation, outputs []plan.Output) {
	texts := map[*aggregate.Aggregate]string{}
	for _, a := range d.Aggregates {
		texts[a] = s.Aggs.OrderText(d.Relation, a)
	}
	before := slices.Clone(d.Aggregates)
	sort.SliceStable(d.Aggregates, func(i, j int) bool { return texts[d.Aggregates[i]] < texts[d.Aggregates[j]] })
	for i, o := range outputs {
		if o.Aggregate >= 0 {
			outputs[i].Aggregate = slices.Index(d.Aggregates, before[o.Aggregate])
		}
	}
}

// Neighbours is the neighbour relation under which an aggregation's loss holds, and what follows
// from it.
//
// All tables of one entity have the same relation. An aggregation touches tables of one entity, or
// of two where its rows belong to a person of each: then it is replace-one where either is, for an
// estimator of it holds under add-remove as well (package flow; a removal from a group costs one
// part of what an exchange may). Under replace-one the number of units of a table is public, and
// one unit's rows are exchanged:
//
//   - An aggregate over the whole of one table, without groups, over a value that every row has,
//     knows its number of persons: it is Sized. With a condition, a join or a value that may be
//     absent, the unit may have entered or left what is aggregated: the number of persons is
//     private, and paid for.
//   - With groups, the unit may have left up to L groups and entered up to L others, or be in some
//     on both sides. Its estimators run under add-remove. An exchange is one removal and one
//     addition, so in a group with both a loss of ρ under add-remove is one of 4ρ at most by group
//     privacy [BS16, Proposition 27], δ being 0, and of what the estimator says where it knows less
//     (estimator.Exchanging); in a group with one of them it is ρ. With m groups of both that is
//     m·xρ + 2(L−m)ρ, at most L·max(x, 2)·ρ: each group gets one part in L·max(x, 2). A pure ε is
//     one of 2ε, and each group gets a half of an L-th.
//   - Groups that are answered together are one vector a unit. It has sensitivities of its own for
//     the relation, so it runs under it with the whole of its loss (package groups).
func (d *Aggregation) Neighbours() estimator.Relation {
	if slices.ContainsFunc(d.Relation.Private, func(t rel.Protected) bool { return t.Policy.Relation == catalog.ReplaceOne }) {
		return estimator.ReplaceOne
	}
	return estimator.AddRemove
}

// Exchanged reports whether the groups' estimators run under add-remove, and an exchange is paid
// for by them.
func (d *Aggregation) Exchanged() bool {
	return d.Neighbours() == estimator.ReplaceOne && len(d.Keys) > 0
}

// exchange is the factor between the loss of an aggregate's estimator and what it costs in a group,
// in parts of 1/estimator.ExchangeParts.
func (d *Aggregation) exchange(a *aggregate.Aggregate) int {
	switch {
	case a.GroupVector || !d.Exchanged():
		return estimator.ExchangeParts
	case d.Pure:
		return 2 * estimator.ExchangeParts
	}
	// The factor follows from public facts other than the loss. One for which there is no estimator
	// is refused later, with the loss that it has.
	e, err := d.EstimatorOf(a, privacy.CostWithin(privacy.RhoCost, 1))
	if err != nil {
		return 4 * estimator.ExchangeParts
	}
	return estimator.ExchangeCost(e)
}

// Divided is the plan of an aggregate's loss: what a release on one group may cost.
type Divided struct {
	Exchange int // factor for the relation, in parts of 1/estimator.ExchangeParts
	groups   int // that one person may be in
}

// Divide returns how the loss of an aggregate is divided.
func (d *Aggregation) Divide(a *aggregate.Aggregate) Divided {
	if a.GroupVector {
		return Divided{estimator.ExchangeParts, 1}
	}
	return Divided{d.exchange(a), d.MaxGroups}
}

// Group is what the release on one group may cost, of the cost of all, rounded down.
func (v Divided) Group(all privacy.Cost) privacy.Cost {
	return all.Times(estimator.ExchangeParts).Over(v.Exchange * v.groups)
}

// All is the cost of all groups, of that of one, rounded up.
func (v Divided) All(group privacy.Cost) privacy.Cost {
	all := group.Times(v.Exchange * v.groups).Add(privacy.Cost{Kind: group.Kind, Units: estimator.ExchangeParts - 1})
	return all.Over(estimator.ExchangeParts)
}

// Slack is a group's part of a slack, which no exchange multiplies.
func (v Divided) Slack(all float64) float64 { return all / float64(v.groups) }

// LossOf is the loss of an aggregate whose estimator has the loss given for one group. An exchange
// doubles a pure ε and has four times its ρ, the same as of a mechanism that is not pure; no ρ is
// above the ε.
func (d *Aggregation) LossOf(a *aggregate.Aggregate, v Divided, one privacy.Loss) privacy.Loss {
	l := one.Times(v.Exchange * v.groups).Over(estimator.ExchangeParts)
	if d.Pure && !a.GroupVector && d.Exchanged() {
		l.Rho = min(l.Rho.Add(l.Rho), privacy.Rho(l.Pure)) // counted in the same units
	}
	return l
}

// Estimated is the neighbour relation that an aggregate's estimator is built for, and whether the
// number of persons that it works on is public.
func (d *Aggregation) Estimated(a *aggregate.Aggregate) (r estimator.Relation, sized bool) {
	if d.Exchanged() {
		return estimator.AddRemove, false
	}
	r = d.Neighbours()
	return r, r == estimator.ReplaceOne && d.Relation.Whole() && a.Always()
}

// CountPersons is the SELECT of Release.Persons, "" where no aggregate takes their number as
// public. Should always be wrong of a value, the number is still that of the table.
func (d *Aggregation) CountPersons() string {
	if slices.ContainsFunc(d.Aggregates, func(a *aggregate.Aggregate) bool { _, sized := d.Estimated(a); return sized }) {
		return d.Relation.CountPersons()
	}
	return ""
}
