// Package settings resolves the privacy parameters of one statement.
//
// In go the layers of the hints and of the session, and the tables with their defaults. Out comes
// what a statement may spend on each table, in which currency, and every word that chooses a
// method. The parameters themselves, with their ranges, are those of internal/params.
package settings

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting/privacy"
	"scrim/catalog"
	"scrim/internal/params"
	"scrim/internal/refuse"
	"scrim/planner/rel"
	"scrim/planner/rule"
)

// Layer holds the parameters that one source sets.
type Layer map[*params.Parameter]params.Value

// Settings are the layers of one statement, the nearest first: hint, session. The defaults of a
// table and the built-in values come after them.
type Settings struct {
	Layers    []Layer
	PureTable string // a table on the pure account, for messages; "" where there is none
}

// BadParameter refuses a value. shown is how its source spells it, from is the source.
func BadParameter(p *params.Parameter, shown, from string) error {
	if len(shown) > 40 {
		shown = shown[:40] + "…"
	}
	return rule.Deny(rule.Parameter, refuse.Parameter, "Set "+p.Name+" to "+p.Want()+".", "%s: %s is %s.", from, p.Name, shown)
}

// Rewrite reports whether plain SQL aggregates are rewritten.
func (p *Settings) Rewrite() bool {
	v, set := p.nearest(params.Rewrite)
	return !set || v.On()
}

// EmptyPreviews reports whether a preview of a protected table has no rows instead of a refusal.
func (p *Settings) EmptyPreviews() bool {
	v, _ := p.nearest(params.Preview)
	return v.Word == params.PreviewEmpty
}

// Strict reports whether an answer that a warning is about ends the statement.
func (p *Settings) Strict() bool {
	v, _ := p.nearest(params.Warnings)
	return v.Word == params.WarningsError
}

// Views tells whether a statement may be answered from DP views: params.Auto, ViewsAlways or
// ViewsOff.
func (p *Settings) Views() string {
	if v, set := p.nearest(params.Views); set {
		return v.Word
	}
	return params.Auto
}

// KeepsKeys reports whether what is in keys that are not selected is answered as one group more.
func (p *Settings) KeepsKeys() bool {
	v, _ := p.nearest(params.Keys)
	return v.Word == params.KeysKeep
}

// MaxGroups returns the number of groups a unit may be in: 0 when nothing sets it.
func (p *Settings) MaxGroups(tables []rel.Protected) int {
	if v, set := p.nearest(params.MaxGroups); set {
		return int(v.Number)
	}
	n := 0
	for _, t := range tables {
		if d := t.Policy.Defaults.MaxGroups; d > 0 && (n == 0 || d < n) {
			n = d
		}
	}
	return n
}

// Method returns the method of means: "" when nothing sets it, or tables that are joined disagree.
func (p *Settings) Method(tables []rel.Protected) string {
	return p.word(params.Method, tables, func(d catalog.Defaults) string { return d.Method })
}

// GroupBy returns how groups are answered: auto when nothing sets it, or tables that are joined
// disagree.
func (p *Settings) GroupBy(tables []rel.Protected) string {
	word := p.word(params.GroupBy, tables, func(d catalog.Defaults) string { return d.GroupBy })
	if word == "" {
		return params.Auto
	}
	return word
}

// word returns what the nearest layer sets, else the default on which the tables agree, else "".
func (p *Settings) word(of *params.Parameter, tables []rel.Protected, byDefault func(catalog.Defaults) string) string {
	if v, set := p.nearest(of); set {
		return v.Word
	}
	word := ""
	for i, t := range tables {
		if d := byDefault(t.Policy.Defaults); i == 0 {
			word = d
		} else if d != word {
			return ""
		}
	}
	return word
}

// Number is what the nearest layer sets, 0 where none does.
func (p *Settings) Number(of *params.Parameter) float64 {
	v, _ := p.nearest(of)
	return v.Number
}

// nearest is what the nearest layer sets.
func (p *Settings) nearest(of *params.Parameter) (v params.Value, set bool) {
	for _, l := range p.Layers {
		if v, set = l[of]; set {
			break
		}
	}
	return v, set
}

// Total is what a statement may spend on one table: (ε, δ), or ρ with a δ for key selection. Of a
// pure statement it is ε alone.
type Total struct {
	Epsilon float64 // 0 when ρ is set
	Delta   float64
	Rho     float64
}

// TotalFor resolves the nearest setting for a table: dp_rho, where it is set at least as near as
// dp_epsilon, takes its place.
func (p *Settings) TotalFor(t catalog.Table) (Total, error) {
	var out Total
	for _, l := range append(slices.Clone(p.Layers), tableLayer(t.Defaults)) {
		if out.Epsilon == 0 && out.Rho == 0 {
			if rho, set := l[params.Rho]; set {
				out.Rho = rho.Number
			} else {
				out.Epsilon = l[params.Epsilon].Number
			}
		}
		if out.Delta == 0 {
			out.Delta = l[params.Delta].Number
		}
	}
	if out.Epsilon == 0 && out.Rho == 0 {
		out.Epsilon = params.DefaultEpsilon
	}
	out.Delta = cmp.Or(out.Delta, params.DefaultDelta)
	if m := t.Defaults.MaxEpsilon; m > 0 {
		eps := out.Epsilon
		if out.Rho > 0 {
			eps = float64(privacy.EpsilonOf(privacy.Loss{Rho: privacy.RhoOf(out.Rho)}, privacy.Delta(out.Delta)))
		}
		if eps > m {
			return Total{}, rule.Deny(rule.EpsilonCap, refuse.Parameter, fmt.Sprintf("Set dp_epsilon to at most %v.", m),
				"A statement on %s may cost at most epsilon %v, this one asks for %.4g.", t.Name, m, eps)
		}
	}
	return out, nil
}

// DefaultLoss returns what a statement costs a table where neither session nor hint says, whatever
// it asks: its ρ is that of a statement without private keys, its δ that of one with them. pure
// says that the table is on the pure account. It returns false where no such statement is planned.
func DefaultLoss(t catalog.Table, pure bool) (privacy.Loss, bool) {
	total, err := new(Settings).TotalFor(t)
	if err != nil { // beyond the table's largest ε, which is then asked for
		t.Defaults.Epsilon, t.Defaults.Rho = t.Defaults.MaxEpsilon, 0
		if total, err = new(Settings).TotalFor(t); err != nil {
			return privacy.Loss{}, false
		}
	}
	if pure {
		return privacy.CostFor(privacy.PureCost, privacy.Epsilon(total.Epsilon), 0).Loss(), total.Rho == 0
	}
	loss := privacy.CostWithin(privacy.RhoCost, total.Rho).Loss()
	if total.Rho == 0 {
		loss = privacy.CostFor(privacy.RhoCost, privacy.Epsilon(total.Epsilon), privacy.Delta(total.Delta)).Loss()
	}
	loss.DeltaEvent = total.Delta / 2
	return loss, true
}

// tableLayer turns the defaults of a table into a layer.
func tableLayer(d catalog.Defaults) Layer {
	l := Layer{}
	for p, v := range map[*params.Parameter]float64{params.Epsilon: d.Epsilon, params.Delta: d.Delta, params.Rho: d.Rho} {
		if v > 0 {
			l[p] = params.Value{Number: v}
		}
	}
	return l
}

// A statement is pure when it touches a table on the pure account: what the principal spends on the
// table, or on its entity, is tested against a budget with δ = 0. Only charges with a pure ε fit
// there, so the whole statement is planned with pure mechanisms: it costs dp_epsilon, divided among
// the aggregates as ρ is elsewhere, and dp_delta plays no part. Everything that has no pure
// mechanism is refused by name. The ledger's filter decides again when the charge is made: should a
// budget have changed in between, a charge that is not pure does not fit.

// IsPure reports whether the statement is planned with pure mechanisms only.
func (s *Settings) IsPure() bool { return s.PureTable != "" }

// Kind is what the statement's costs are numbers of.
func (s *Settings) Kind() privacy.CostKind {
	if s.IsPure() {
		return privacy.PureCost
	}
	return privacy.RhoCost
}

// Cost is a cost of the statement's kind.
func (s *Settings) Cost(units uint64) privacy.Cost {
	return privacy.Cost{Kind: s.Kind(), Units: units}
}

// NotRho refuses a cost stated as ρ on the pure account.
func (s *Settings) NotRho(what string) error {
	return rule.Deny(rule.Pure, refuse.Parameter, "State the cost as an epsilon: SET dp_epsilon, or the option epsilon; dp_rho must be unset.",
		"%s states a cost in zCDP, and %s is on the pure account (delta 0), where a cost is an epsilon.", what, s.PureTable)
}

// NotSelected refuses the private selection of group keys on the pure account: whether a key is
// shown that one person alone has cannot be ε-DP.
func (s *Settings) NotSelected() error {
	return rule.Deny(rule.Pure, refuse.GroupKeys, "A DBA makes the keys public with CALL dp_set_domain(table, column, '[…]').",
		"The group keys are private, and %s is on the pure account (delta 0), where no key can be selected: that takes a delta.", s.PureTable)
}

// CostWord names what the statement's costs are.
func (s *Settings) CostWord() string {
	if s.IsPure() {
		return params.Epsilon.Option
	}
	return params.Rho.Option
}

// View says that a statement is planned as the definition of a view: its groups are the cells of a
// cube whose marginals are released together.
type View struct {
	Ways int // marginals of up to so many dimensions are asked for
	// Sets are the marginals that are asked for in their place, where it is not nil, by the places
	// of the keys in the release.
	Sets [][]int
	// Ranges are the places of the keys along which sums over intervals have little noise.
	Ranges []int
	// Series makes it the definition of running totals, whose only key is the day; nil: of a cube.
	Series *Series
}

// Series says which days running totals have, and for how much one person counts over all of them.
type Series struct {
	Days      []any   // as SQL values, in their order: the values of the key, whatever is declared
	PerPerson int64   // rows
	Clip      float64 // sums, in units of the sum; 0: as many times the largest value
}

type viewKey struct{}

// WithView returns a context in which a statement is planned as a view's definition.
func WithView(ctx *sql.Context, v View) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx.Context, viewKey{}, &v))
}

// ViewOf returns what the context says of views, nil where it says nothing.
func ViewOf(ctx *sql.Context) *View {
	v, _ := ctx.Value(viewKey{}).(*View)
	return v
}

// Synthetic says that a statement, SELECT DP_MEAN(DP_VECTOR(codes)) FROM table, is planned as the
// release of a synthetic table: each person is one row of codes.
type Synthetic struct {
	Columns []Coded
	Ways    int // tables of up to so many columns may be measured
	Rows    int // the most rows that are made; 0: as many as the limits allow
}

// Coded is a column as codes 0 to Size − 1.
type Coded struct {
	Name string // for messages
	Size int
}

type syntheticKey struct{}

// WithSynthetic returns a context in which a statement is planned as a synthetic table's release.
func WithSynthetic(ctx *sql.Context, s Synthetic) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx.Context, syntheticKey{}, &s))
}

// SyntheticOf returns what the context says of synthetic tables, nil where it says nothing.
func SyntheticOf(ctx *sql.Context) *Synthetic {
	s, _ := ctx.Value(syntheticKey{}).(*Synthetic)
	return s
}

// PilotNeeded is the refusal of a statement whose cost only a pilot can tell, where the pilot is
// allowed: the caller runs the statement under WithPilot, and plans it again under AfterPilot.
type PilotNeeded struct{ Share float64 } // of what the statement usually costs, within (0, 1]

// Error implements error.
func (p *PilotNeeded) Error() string { return "planner: a pilot is needed" }

// pilot is what a context says about pilots.
type pilot struct {
	Share float64 // of the pilot that is running; 0: none is
	Over  bool    // one has run
}

type pilotKey struct{}

// WithPilot returns a context in which a statement is planned as its own pilot.
func WithPilot(ctx *sql.Context, p *PilotNeeded) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx.Context, pilotKey{}, pilot{Share: p.Share}))
}

// AfterPilot returns a context in which no further pilot is asked for.
func AfterPilot(ctx *sql.Context) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx.Context, pilotKey{}, pilot{Over: true}))
}

// PilotOf returns what the context says about pilots; the zero value where it says nothing.
func PilotOf(ctx *sql.Context) pilot {
	p, _ := ctx.Value(pilotKey{}).(pilot)
	return p
}
