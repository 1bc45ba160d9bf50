// Package cost divides what a statement may spend among its aggregations, and completes their
// releases.
//
// In go the aggregations of a statement and its settings. Out come estimators with their shares of
// the loss, the loss of each release, and the charges by account. An aggregate that names an error
// gets what that error costs, as far as public facts and earlier answers tell. Nothing is charged
// here.
package cost

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting/privacy"
	"scrim/catalog"
	"scrim/engine/estimator"
	"scrim/engine/estimator/partition"
	"scrim/engine/store"
	"scrim/functions"
	"scrim/internal/refuse"
	"scrim/planner/aggregate"
	"scrim/planner/plan"
	"scrim/planner/release"
	"scrim/planner/rule"
	"scrim/planner/settings"
)

// Divider divides what a statement may spend among its aggregations.
type Divider struct {
	builder *release.Builder
	ctx     *sql.Context
	params  *settings.Settings
	// Earlier finds what an earlier answer tells about the error of an aggregate, by its shape;
	// nil: nothing is kept.
	Earlier func(ctx *sql.Context, shape string) (plan.Earlier, bool)
	// Explains says that the plan is only shown: no pilot is run for it.
	Explains bool

	aggregations []*release.Aggregation
	nodes        []*plan.DPAggregate
	targetCosts  map[*aggregate.Aggregate]privacy.Cost // of aggregates that name an error
}

// NewDivider returns the divider of a statement with these aggregations and nodes.
func NewDivider(ctx *sql.Context, b *release.Builder, p *settings.Settings, aggregations []*release.Aggregation, nodes []*plan.DPAggregate) *Divider {
	return &Divider{builder: b, ctx: ctx, params: p, aggregations: aggregations, nodes: nodes}
}

// account is what the releases of a statement put on one protected table.
type account struct {
	name     string // schema.table
	policy   catalog.Table
	total    settings.Total
	spend    privacy.Cost // what the statement may spend
	deltaOne float64      // δ of one key selection, or of one mechanism with slack
	fixed    privacy.Cost // taken by aggregates with an epsilon or rho of their own
	targeted privacy.Cost // added by aggregates that name an error
	weight   int          // number of the other parts: aggregates and key selections
	loss     privacy.Loss
}

// Finish splits the loss of the statement and completes its releases. For each protected table T
// with total ρ_T, the aggregates that name their own loss take it from ρ_T, and the rest is divided
// evenly among the other aggregates and key selections that touch T; a part that touches several
// tables takes the smallest of their shares, and is charged to each of them in full. Means that are
// answered as one vector count as that many aggregates, and so do those that are answered in all
// groups at once, which run once, with all of their loss. What shares sums counts as many as these
// are.
//
// A person may be in up to L groups, so one aggregate with share ρ runs on each group with ρ/L; the
// composition over the L groups costs ρ; under replace-one it runs with ρ/(2L) to ρ/(4L)
// (release.Aggregation.Neighbours). Where a key selection runs, or a mechanism with slack, half of
// dp_delta is theirs and the other half converts (ε, δ) to ρ. A pure statement divides ε in the
// same way (package settings), by 2L under replace-one. All divisions round down, so the sum is at
// most ρ_T.
func (s *Divider) Finish() error {
	if len(s.aggregations) == 0 {
		return nil
	}
	accounts, err := s.accounts()
	if err != nil {
		return err
	}
	st := &plan.Statement{Text: s.ctx.Query(), Strict: s.params.Strict(), Pilot: settings.PilotOf(s.ctx).Share > 0}
	entities := map[string]privacy.Loss{}
	for _, d := range s.aggregations {
		if err := s.complete(d, accounts); err != nil {
			return err
		}
		st.Releases = append(st.Releases, d.Release)
		for _, t := range d.Tables() {
			accounts[t.Policy.Account].loss = accounts[t.Policy.Account].loss.Add(d.Release.Loss)
		}
		for _, e := range d.Release.Entities {
			entities[e] = entities[e].Add(d.Release.Loss)
		}
	}
	for _, a := range sorted(accounts) {
		st.Epsilon, st.Rho = least(st.Epsilon, a.total.Epsilon), least(st.Rho, a.total.Rho)
		st.Tables = append(st.Tables, plan.Charge{Account: a.policy.Account, Table: a.name, Loss: a.loss})
		if m := a.policy.Defaults.MaxEpsilon; m > 0 && !a.fixed.Add(a.targeted).Zero() {
			if eps := float64(privacy.EpsilonOf(privacy.Loss{Rho: a.loss.Rho, Pure: a.loss.Pure}, privacy.Delta(a.total.Delta))); eps > m {
				return rule.Deny(rule.EpsilonCap, refuse.Parameter, fmt.Sprintf("Give the aggregates at most %v together.", m),
					"A statement on %s may cost at most epsilon %v, this one asks for %.4g.", a.name, m, eps)
			}
		}
	}
	for _, e := range slices.Sorted(maps.Keys(entities)) {
		st.Entities = append(st.Entities, plan.Charge{Account: e, Loss: entities[e]})
	}
	if st.Totals, err = s.builder.Totals(s.aggregations); err != nil {
		return err
	}
	for _, n := range s.nodes {
		n.Statement = st
	}
	return nil
}

// least is the smaller of two numbers of which 0 stands for none.
func least(x, y float64) float64 {
	if x == 0 || y == 0 {
		return max(x, y)
	}
	return min(x, y)
}

// accounts resolves the parameters of every protected table that the statement touches.
func (s *Divider) accounts() (map[string]*account, error) {
	accounts := map[string]*account{}
	slack := map[string]int{} // parts with a δ of their own
	for _, d := range s.aggregations {
		for _, t := range d.Tables() {
			key := t.Policy.Account
			a := accounts[key]
			if a == nil {
				a = &account{name: t.Name, policy: t.Policy, fixed: s.params.Cost(0), targeted: s.params.Cost(0)}
				var err error
				if a.total, err = s.params.TotalFor(t.Policy); err != nil {
					return nil, err
				}
				if share := settings.PilotOf(s.ctx).Share; share > 0 {
					a.total.Epsilon, a.total.Rho = a.total.Epsilon*share, a.total.Rho*share
				}
				if s.params.IsPure() && a.total.Rho > 0 {
					return nil, s.params.NotRho("dp_rho")
				}
				accounts[key] = a
			}
			for _, x := range d.Aggregates {
				if o := x.Call.Options; o.Epsilon == 0 && o.Rho == 0 && x.Target == 0 {
					a.weight += x.Share()
				}
				if x.Call.Slack() {
					slack[key]++
				}
			}
			if !d.Public {
				a.weight++
				slack[key]++
			}
		}
	}
	for key, a := range accounts {
		convert := a.total.Delta
		if n := slack[key]; n > 0 {
			convert /= 2
			a.deltaOne = convert / float64(n)
		}
		if a.total.Rho > 0 {
			a.spend = privacy.CostWithin(privacy.RhoCost, a.total.Rho)
		} else {
			a.spend = privacy.CostFor(s.params.Kind(), privacy.Epsilon(a.total.Epsilon), privacy.Delta(convert))
		}
		a.total.Delta = convert
	}
	if err := s.solveTargets(accounts); err != nil {
		return nil, err
	}
	for _, d := range s.aggregations {
		for _, x := range d.Aggregates {
			if x.Target > 0 {
				continue
			}
			own := s.own(d, x, accounts)
			for _, t := range d.Tables() {
				accounts[t.Policy.Account].fixed = accounts[t.Policy.Account].fixed.Add(own)
			}
		}
	}
	for _, a := range sorted(accounts) {
		if a.weight > 0 && a.spend.Less(a.fixed).Zero() {
			return nil, rule.Deny(rule.EpsilonShare, refuse.Parameter, "Raise dp_epsilon, or lower the epsilon of the aggregates.",
				"The aggregates with an epsilon of their own leave nothing of the statement's total on %s for the others.", a.name)
		}
	}
	return accounts, nil
}

// event is the probability of the event of one mechanism that has one: it enters δ as it is.
func (a *account) event() float64 { return a.deltaOne * (1 - 1e-9) }

// slack is the total-variation slack of one mechanism that needs some: it enters δ multiplied by
// 1+e^ε.
func (a *account) slack() float64 {
	eps := a.total.Epsilon
	if eps == 0 {
		eps = float64(privacy.EpsilonOf(a.spend.Loss(), privacy.Delta(a.total.Delta)))
	}
	return a.deltaOne / (1 + math.Exp(eps)) * (1 - 1e-9)
}

// own is what an aggregate's options or its target say that it costs, zero where they say nothing.
func (s *Divider) own(d *release.Aggregation, x *aggregate.Aggregate, accounts map[string]*account) privacy.Cost {
	switch o := x.Call.Options; {
	case x.Target > 0:
		return s.targetCosts[x]
	case o.Rho > 0:
		return privacy.CostWithin(privacy.RhoCost, o.Rho)
	case o.Epsilon > 0:
		least := s.params.Cost(math.MaxUint64)
		for _, t := range d.Tables() {
			delta := privacy.Delta(accounts[t.Policy.Account].total.Delta)
			least = least.Min(privacy.CostFor(s.params.Kind(), privacy.Epsilon(o.Epsilon), delta))
		}
		return least
	}
	return s.params.Cost(0)
}

// complete builds the estimators and the selection of an aggregation with their shares.
func (s *Divider) complete(d *release.Aggregation, accounts map[string]*account) error {
	share, delta, event, slack := s.params.Cost(math.MaxUint64), 1.0, 1.0, 1.0
	minimum := 0
	for _, t := range d.Tables() {
		a := accounts[t.Policy.Account]
		if a.weight > 0 {
			share = share.Min(a.spend.Less(a.fixed).Over(a.weight))
		}
		if a.deltaOne > 0 {
			delta, event, slack = min(delta, a.deltaOne), min(event, a.event()), min(slack, a.slack())
		}
		minimum = max(minimum, t.Policy.Defaults.MinimumGroupUnits)
	}
	r := d.Release
	r.Relation, r.Choice = d.Neighbours(), d.Choice
	if !d.Public {
		sel, err := partition.New(partition.Params{Rho: share.Rho(), Delta: delta, MaxGroups: d.MaxGroups, Minimum: minimum, Relation: r.Relation})
		if err != nil {
			return rule.Deny(rule.GroupDelta, refuse.GroupKeys, "", "The group keys cannot be selected privately at this cost.")
		}
		r.Selection = sel
		r.Loss = r.Loss.Add(sel.Loss())
	}
	if err := s.builder.AnswerFits(d); err != nil {
		return err
	}
	if j := d.GroupVector; j != nil {
		if err := d.Expect(share.Times(j.Share()).Rho()); err != nil {
			return s.tooSmall(j, err)
		}
		r.Choice = d.Choice
	}
	for _, x := range d.Aggregates {
		cost := share.Times(x.Share())
		if own := s.own(d, x, accounts); !own.Zero() {
			cost = own
		}
		if x.Call.Slack() && d.Exchanged() {
			return rule.Deny(rule.Option, refuse.Option, "Leave the choice to method=auto, or ask without GROUP BY.",
				"%s has a slack that does not hold for groups under replace-one: leave out method=friendly and histogram=stability.", x.Text)
		}
		divided := d.Divide(x)
		switch {
		case x.Call.EventSlack():
			x.Slack = divided.Slack(event)
		case x.Call.Slack():
			x.Slack = divided.Slack(slack)
		}
		e, err := d.EstimatorOf(x, divided.Group(cost))
		if err != nil {
			return s.tooSmall(x, err)
		}
		if err := s.builder.Fits(x); err != nil {
			return err
		}
		r.Loss = r.Loss.Add(d.LossOf(x, divided, e.Loss()))
		_, sized := d.Estimated(x)
		r.Aggregates = append(r.Aggregates, plan.Aggregate{Text: x.Text, Scan: x.Scan, Columns: x.Columns, OneEntity: x.Call.Owners == functions.OneEntity, Estimator: e, Present: x.Present, Sized: sized, Exchange: divided.Exchange, Vector: x.Description(), Shape: d.Shape(x), Vectorized: x.GainText()})
		r.Aggregates[len(r.Aggregates)-1].ErrorBars = x.ErrorBars()
		if x.Parts != nil {
			a := &r.Aggregates[len(r.Aggregates)-1]
			a.Parts, a.Groups = x.Presents(), d.GroupsFacts(x, cost)
		}
	}
	r.Persons, r.Blocks, r.Partial = d.CountPersons(), d.Blocks, d.Partial
	r.Scans, r.Groups, r.PerUnit, r.MaxPersons = d.Scans, d.Groups, d.MaxGroups, release.MaxPersons(d.Relation.Private)
	if err := s.builder.AllFits(r); err != nil {
		return err
	}
	if d.Bounded {
		r.MaxGroups = d.MaxGroups
	}
	r.OneGroup, r.Other = d.OneGroup, d.Other
	r.Written = d.Written
	for _, k := range d.Keys {
		of := decode(k.Type)
		key := plan.Key{Name: k.Name, Type: k.Type, Decode: func(v any) (any, error) {
			v, err := of(v)
			return k.Image.Show(v), err
		}}
		if d.Public {
			key.Domain, key.From, key.Rest = k.Image.Shown(), k.Image.From, k.Image.Rest
		}
		r.Keys = append(r.Keys, key)
	}
	seen := map[string]bool{}
	for _, t := range d.Tables() {
		r.Tables = append(r.Tables, t.Policy.Account)
		for _, o := range t.Policy.Owners() {
			if !seen[o.Entity] {
				seen[o.Entity] = true
				r.Entities = append(r.Entities, o.Entity)
			}
		}
	}
	if d.Relation.Shared() {
		for _, o := range d.Relation.Owners() {
			r.Owners = append(r.Owners, o.Entity)
		}
		r.OneOwner = d.Relation.OneOwnerText(s.ctx)
	}
	read := map[store.TableRef]bool{}
	for _, t := range d.Relation.Reads {
		if !read[t] {
			read[t] = true
			r.Reads = append(r.Reads, t)
			r.Defined = append(r.Defined, s.builder.Definition(t))
			if text := s.builder.Persons(t); text != "" {
				r.Belongs = append(r.Belongs, text)
			}
		}
	}
	r.Key = s.builder.ReleaseKey(d)
	return nil
}

// tooSmall says why no estimator can be built with its share.
func (s *Divider) tooSmall(x *aggregate.Aggregate, err error) error {
	if _, ok := refuse.As(err); ok || errors.Is(err, estimator.ErrNotPure) {
		return s.builder.Aggs.Unbuilt(x, err)
	}
	return rule.Deny(rule.Parameter, refuse.Parameter, "Raise dp_epsilon, or ask for fewer aggregates and groups.",
		"The share of the loss that is left for %s is too small.", x.Text)
}

func sorted(m map[string]*account) []*account {
	return slices.SortedFunc(maps.Values(m), func(a, b *account) int { return strings.Compare(a.name, b.name) })
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
