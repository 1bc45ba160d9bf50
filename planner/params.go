package planner

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"scrim/accounting"
	"scrim/catalog"
	"scrim/functions"
	"scrim/internal/refuse"
)

// What a statement costs when nobody says: ε = 1 with δ = 1e-8 per protected table. δ is far below
// 1/(number of persons) of any table that the server is meant for, so that it stays negligible.
const (
	DefaultEpsilon = 1.0
	DefaultDelta   = 1e-8
)

// Ranges of the parameters. Above ε = 100 nothing is private; below 1e-6 no answer is more than noise.
const (
	MinEpsilon   = 1e-6
	MaxEpsilon   = 100.0
	MinDelta     = 1e-30
	MaxDelta     = 1e-3
	MinRho       = 1e-12
	MaxRho       = 1000.0
	MaxMaxGroups = 100000

	MinTargetError, MaxTargetError = 1e-9, 1e18
	MinPilot                       = 1e-3
)

// layer holds the parameters that one source sets; nil where it is silent.
type layer struct {
	epsilon, delta, rho *float64
	maxGroups           *int
	rewrite             *bool
	method              *string
	groupBy             *string
	preview             *string
	targetError, pilot  *float64
}

// parameters are the layers of one statement, the nearest first: hint, session. The defaults of a
// table and the built-in values come after them.
type parameters struct{ layers []layer }

// set checks one parameter and puts it into the layer. from says where the value comes from.
func (l *layer) set(name string, v any, from string) error {
	switch name {
	case ParamEpsilon:
		return number(&l.epsilon, name, v, MinEpsilon, MaxEpsilon, from)
	case ParamDelta:
		return number(&l.delta, name, v, MinDelta, MaxDelta, from)
	case ParamRho:
		return number(&l.rho, name, v, MinRho, MaxRho, from)
	case ParamTargetError:
		return number(&l.targetError, name, v, MinTargetError, MaxTargetError, from)
	case ParamPilot:
		return number(&l.pilot, name, v, MinPilot, 1, from)
	case ParamMaxGroups:
		var f *float64
		if err := number(&f, name, v, 1, MaxMaxGroups, from); err != nil {
			return err
		}
		if *f != math.Trunc(*f) {
			return badParameter(name, v, "a whole number from 1 to 100000", from)
		}
		n := int(*f)
		l.maxGroups = &n
		return nil
	case ParamRewrite:
		b, ok := boolean(v)
		if !ok {
			return badParameter(name, v, "ON or OFF", from)
		}
		l.rewrite = &b
		return nil
	case ParamMethod:
		m := strings.ToLower(fmt.Sprint(v))
		if !functions.IsMethod(m) {
			return badParameter(name, v, functions.MethodList, from)
		}
		l.method = &m
		return nil
	case ParamGroupBy:
		w := strings.ToLower(fmt.Sprint(v))
		if !ValidGroupBy(w) {
			return badParameter(name, v, groupByWords, from)
		}
		l.groupBy = &w
		return nil
	case ParamPreview:
		w := strings.ToLower(fmt.Sprint(v))
		if !ValidPreview(w) {
			return badParameter(name, v, "refuse or empty", from)
		}
		l.preview = &w
		return nil
	}
	return deny(RuleHint, refuse.Parameter, "Use dp_epsilon, dp_delta, dp_rho, dp_max_groups_contributed, dp_group_by, dp_method, dp_pilot, dp_preview, dp_rewrite or dp_target_error.",
		"%s is not a parameter that %s can set.", name, from)
}

// number reads a finite number within [lo, hi]; text, NULL, NaN and infinities are refused by name.
func number(dst **float64, name string, v any, lo, hi float64, from string) error {
	want := fmt.Sprintf("a number from %v to %v", lo, hi)
	f, ok := asFloat(v)
	if !ok || math.IsNaN(f) || math.IsInf(f, 0) || f < lo || f > hi {
		return badParameter(name, v, want, from)
	}
	*dst = &f
	return nil
}

func badParameter(name string, v any, want, from string) error {
	shown := "NULL"
	if v != nil {
		shown = fmt.Sprint(v)
	}
	if len(shown) > 40 {
		shown = shown[:40] + "…"
	}
	return deny(RuleParameter, refuse.Parameter, "Set "+name+" to "+want+".", "%s: %s is %s.", from, name, shown)
}

// asFloat reads numbers of SQL values, and text of hints that is a number.
func asFloat(v any) (float64, bool) {
	switch x := v.(type) {
	case float64:
		return x, true
	case float32:
		return float64(x), true
	case int:
		return float64(x), true
	case int8:
		return float64(x), true
	case int16:
		return float64(x), true
	case int32:
		return float64(x), true
	case int64:
		return float64(x), true
	case uint8:
		return float64(x), true
	case uint16:
		return float64(x), true
	case uint32:
		return float64(x), true
	case uint64:
		return float64(x), true
	case hintText:
		f, err := strconv.ParseFloat(string(x), 64)
		return f, err == nil
	case fmt.Stringer:
		f, err := strconv.ParseFloat(x.String(), 64)
		return f, err == nil
	}
	return 0, false
}

func boolean(v any) (bool, bool) {
	if f, ok := asFloat(v); ok {
		return f != 0, f == 0 || f == 1
	}
	switch strings.ToLower(fmt.Sprint(v)) {
	case "on", "true":
		return true, true
	case "off", "false":
		return false, true
	}
	b, ok := v.(bool)
	return b, ok
}

// hintText is a value as a hint spells it.
type hintText string

// String implements fmt.Stringer.
func (t hintText) String() string { return string(t) }

// rewrite reports whether plain SQL aggregates are rewritten.
func (p *parameters) rewrite() bool {
	for _, l := range p.layers {
		if l.rewrite != nil {
			return *l.rewrite
		}
	}
	return true
}

// maxGroups returns the number of groups a unit may be in: 0 when nothing sets it.
func (p *parameters) maxGroups(tables []protected) int {
	for _, l := range p.layers {
		if l.maxGroups != nil {
			return *l.maxGroups
		}
	}
	n := 0
	for _, t := range tables {
		if d := t.policy.Defaults.MaxGroups; d > 0 && (n == 0 || d < n) {
			n = d
		}
	}
	return n
}

// method returns the method of the means of vectors: "" when nothing sets it, or tables that are joined disagree.
func (p *parameters) method(tables []protected) string {
	for _, l := range p.layers {
		if l.method != nil {
			return *l.method
		}
	}
	method := ""
	for i, t := range tables {
		if d := t.policy.Defaults.Method; i == 0 {
			method = d
		} else if d != method {
			return ""
		}
	}
	return method
}

// groupBy returns how groups are answered: auto when nothing sets it, or tables that are joined disagree.
func (p *parameters) groupBy(tables []protected) string {
	for _, l := range p.layers {
		if l.groupBy != nil {
			return *l.groupBy
		}
	}
	word := ""
	for i, t := range tables {
		if d := t.policy.Defaults.GroupBy; i == 0 {
			word = d
		} else if d != word {
			word = ""
		}
	}
	if word == "" {
		return GroupByAuto
	}
	return word
}

// target is the error that every aggregate without a cost of its own is asked to have, 0 for none.
func (p *parameters) target() float64 {
	return p.first(func(l layer) *float64 { return l.targetError })
}

// pilot is the share of the usual cost that a pilot may take, 0 for none.
func (p *parameters) pilot() float64 { return p.first(func(l layer) *float64 { return l.pilot }) }

// first is what the nearest layer sets, 0 where none does.
func (p *parameters) first(of func(layer) *float64) float64 {
	for _, l := range p.layers {
		if v := of(l); v != nil {
			return *v
		}
	}
	return 0
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
	layers := append(append([]layer(nil), p.layers...), tableLayer(t.Defaults))
	var out total
	for _, l := range layers {
		if out.epsilon == 0 && out.rho == 0 {
			if l.rho != nil {
				out.rho = *l.rho
			} else if l.epsilon != nil {
				out.epsilon = *l.epsilon
			}
		}
		if out.delta == 0 && l.delta != nil {
			out.delta = *l.delta
		}
	}
	if out.epsilon == 0 && out.rho == 0 {
		out.epsilon = DefaultEpsilon
	}
	if out.delta == 0 {
		out.delta = DefaultDelta
	}
	if m := t.Defaults.MaxEpsilon; m > 0 {
		eps := out.epsilon
		if out.rho > 0 {
			eps = float64(accounting.EpsilonOf(accounting.Loss{Rho: accounting.RhoOf(out.rho)}, accounting.Delta(out.delta)))
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
	var l layer
	if d.Epsilon > 0 {
		l.epsilon = &d.Epsilon
	}
	if d.Delta > 0 {
		l.delta = &d.Delta
	}
	if d.Rho > 0 {
		l.rho = &d.Rho
	}
	return l
}
