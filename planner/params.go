package planner

import (
	"fmt"
	"slices"

	"scrim/accounting/privacy"
	"scrim/catalog"
	"scrim/internal/params"
	"scrim/internal/refuse"
	"scrim/planner/rel"
)

// layer holds the parameters that one source sets.
type layer map[*params.Parameter]params.Value

// parameters are the layers of one statement, the nearest first: hint, session. The defaults of a
// table and the built-in values come after them.
type parameters struct{ layers []layer }

// badParameter refuses a value. shown is how its source spells it, from is the source.
func badParameter(p *params.Parameter, shown, from string) error {
	if len(shown) > 40 {
		shown = shown[:40] + "…"
	}
	return deny(RuleParameter, refuse.Parameter, "Set "+p.Name+" to "+p.Want()+".", "%s: %s is %s.", from, p.Name, shown)
}

// rewrite reports whether plain SQL aggregates are rewritten.
func (p *parameters) rewrite() bool {
	v, set := p.nearest(params.Rewrite)
	return !set || v.On()
}

// emptyPreviews reports whether a preview of a protected table has no rows instead of a refusal.
func (p *parameters) emptyPreviews() bool {
	v, _ := p.nearest(params.Preview)
	return v.Word == params.PreviewEmpty
}

// maxGroups returns the number of groups a unit may be in: 0 when nothing sets it.
func (p *parameters) maxGroups(tables []rel.Protected) int {
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

// method returns the method of means: "" when nothing sets it, or tables that are joined disagree.
func (p *parameters) method(tables []rel.Protected) string {
	return p.word(params.Method, tables, func(d catalog.Defaults) string { return d.Method })
}

// groupBy returns how groups are answered: auto when nothing sets it, or tables that are joined
// disagree.
func (p *parameters) groupBy(tables []rel.Protected) string {
	word := p.word(params.GroupBy, tables, func(d catalog.Defaults) string { return d.GroupBy })
	if word == "" {
		return params.Auto
	}
	return word
}

// word returns what the nearest layer sets, else the default on which the tables agree, else "".
func (p *parameters) word(of *params.Parameter, tables []rel.Protected, byDefault func(catalog.Defaults) string) string {
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

// number is what the nearest layer sets, 0 where none does.
func (p *parameters) number(of *params.Parameter) float64 {
	v, _ := p.nearest(of)
	return v.Number
}

// nearest is what the nearest layer sets.
func (p *parameters) nearest(of *params.Parameter) (v params.Value, set bool) {
	for _, l := range p.layers {
		if v, set = l[of]; set {
			break
		}
	}
	return v, set
}

// total is what a statement may spend on one table: (ε, δ), or ρ with a δ for key selection. Of a pure statement it is ε alone.
type total struct {
	epsilon float64 // 0 when ρ is set
	delta   float64
	rho     float64
}

// totalFor resolves the nearest setting for a table: dp_rho, where it is set at least as near as
// dp_epsilon, takes its place.
func (p *parameters) totalFor(t catalog.Table) (total, error) {
	var out total
	for _, l := range append(slices.Clone(p.layers), tableLayer(t.Defaults)) {
		if out.epsilon == 0 && out.rho == 0 {
			if rho, set := l[params.Rho]; set {
				out.rho = rho.Number
			} else {
				out.epsilon = l[params.Epsilon].Number
			}
		}
		if out.delta == 0 {
			out.delta = l[params.Delta].Number
		}
	}
	if out.epsilon == 0 && out.rho == 0 {
		out.epsilon = params.DefaultEpsilon
	}
	if out.delta == 0 {
		out.delta = params.DefaultDelta
	}
	if m := t.Defaults.MaxEpsilon; m > 0 {
		eps := out.epsilon
		if out.rho > 0 {
			eps = float64(privacy.EpsilonOf(privacy.Loss{Rho: privacy.RhoOf(out.rho)}, privacy.Delta(out.delta)))
		}
		if eps > m {
			return total{}, deny(RuleEpsilonCap, refuse.Parameter, fmt.Sprintf("Set dp_epsilon to at most %v.", m),
				"A statement on %s may cost at most epsilon %v, this one asks for %.4g.", t.Name, m, eps)
		}
	}
	return out, nil
}

// tableLayer turns the defaults of a table into a layer.
func tableLayer(d catalog.Defaults) layer {
	l := layer{}
	for p, v := range map[*params.Parameter]float64{params.Epsilon: d.Epsilon, params.Delta: d.Delta, params.Rho: d.Rho} {
		if v > 0 {
			l[p] = params.Value{Number: v}
		}
	}
	return l
}
