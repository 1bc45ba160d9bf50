package planner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting/privacy"
	"scrim/internal/params"
	"scrim/internal/refuse"
)

// An aggregate may name the error that is wanted in the place of a cost: by the option error, or by dp_target_error for the whole
// statement. Its cost is then solved for before anything is spent:
//
//   - from the mechanism's own formula, where the error is known before the data are read: counts, and sums with declared bounds;
//   - else from an earlier answer of the same question by the same principal, whose cost and noisy error are both public to them:
//     the noise falls with the square root of ρ, and with ε of a pure release;
//   - else from a pilot, where one is allowed: the statement is answered at that share of its usual cost first, charged like any
//     other, and its answer is the earlier one;
//   - else the statement is refused.
//
// Every cost that comes of it is a function of public facts and of released answers, chosen before the charge, as the account's filter
// wants it. A target is for the noise of every group's answer. The cost comes on top of what the other aggregates of the statement
// cost; max_epsilon of the table and the budgets bound it as they bound any other.

// PilotNeeded is the refusal of a statement whose cost only a pilot can tell, where the pilot is allowed: the caller runs
// the statement under WithPilot, and plans it again under AfterPilot.
type PilotNeeded struct{ Share float64 } // of what the statement usually costs, within (0, 1]

// Error implements error.
func (p *PilotNeeded) Error() string { return "planner: a pilot is needed" }

// pilot is what a context says about pilots.
type pilot struct {
	share float64 // of the pilot that is running; 0: none is
	over  bool    // one has run
}

type pilotKey struct{}

// WithPilot returns a context in which a statement is planned as its own pilot.
func WithPilot(ctx *sql.Context, p *PilotNeeded) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx.Context, pilotKey{}, pilot{share: p.Share}))
}

// AfterPilot returns a context in which no further pilot is asked for.
func AfterPilot(ctx *sql.Context) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx.Context, pilotKey{}, pilot{over: true}))
}

func pilotOf(ctx *sql.Context) pilot {
	p, _ := ctx.Value(pilotKey{}).(pilot)
	return p
}

// aim notes the error that an aggregate is asked to have.
func (s *statement) aim(a *aggregate) {
	o := a.call.Options
	if o.Epsilon > 0 || o.Rho > 0 {
		return
	}
	if a.target = a.call.Target(); a.target == 0 {
		a.target = s.params.number(params.TargetError)
	}
	if a.pilot = o.Pilot; a.pilot == 0 {
		a.pilot = s.params.number(params.Pilot)
	}
	a.aimed = a.target > 0
	if pilotOf(s.ctx).share > 0 {
		a.target = 0
	}
}

// solve finds what an aggregate costs so that its error is what is wanted.
func (s *statement) solve(d *draft, a *aggregate) (privacy.Cost, error) {
	parts := d.parts(a)
	if a.call.Slack() {
		return s.fromEarlier(d, a, parts)
	}
	expected := func(units uint64) (float64, bool, error) {
		e, err := d.estimatorOf(a, s.cost(units))
		if err != nil {
			return 0, false, err
		}
		x, ok := e.ExpectedError()
		return x, ok, nil
	}
	most := privacy.CostWithin(s.kind(), mostForTarget).Over(parts).Units
	least, known, err := expected(most)
	switch {
	case err != nil:
		return privacy.Cost{}, s.tooSmall(a, err)
	case !known:
		return s.fromEarlier(d, a, parts)
	case least > a.target:
		return privacy.Cost{}, s.unreached(a, "Even at %s = %v its noise has a standard deviation of %.3g.", s.costWord(), mostForTarget, least)
	}
	lo, hi := uint64(0), most // the error at hi is small enough
	for hi-lo > 1 && float64(hi-lo) > 1e-4*float64(hi) {
		mid := lo + (hi-lo)/2
		if x, ok, err := expected(mid); err == nil && ok && x <= a.target {
			hi = mid
		} else {
			lo = mid
		}
	}
	return s.cost(hi).Times(parts), nil
}

// mostForTarget is the largest cost that a target may lead to, ρ or ε. The server chooses it, so it
// ends where nothing is private any more; who wants more than that states it.
var mostForTarget = params.Epsilon.Max

// fromEarlier scales what an earlier answer cost.
func (s *statement) fromEarlier(d *draft, a *aggregate, parts int) (privacy.Cost, error) {
	if find := s.p.config.Earlier; find != nil {
		if e, ok := find(s.ctx, d.shape(a)); ok && e.StdErr > 0 && e.Loss > 0 && !math.IsInf(e.StdErr, 0) {
			ratio := e.StdErr / a.target
			if !s.isPure() {
				ratio *= ratio
			}
			cost := math.Ceil(e.Loss * ratio / privacy.CostUnit)
			if most := privacy.CostWithin(s.kind(), mostForTarget).Over(parts); cost > float64(most.Units) {
				return privacy.Cost{}, s.unreached(a, "An earlier answer had %.3g: it would cost more than %s = %v.", e.StdErr, s.costWord(), mostForTarget)
			}
			return s.cost(max(1, uint64(cost))).Times(parts), nil
		}
	}
	switch p := pilotOf(s.ctx); {
	case p.over:
		return privacy.Cost{}, s.unreached(a, "The pilot's answer tells no error, as with too few persons.")
	case a.pilot == 0 || s.explains:
		return privacy.Cost{}, deny(RuleTarget, refuse.Parameter,
			"Ask once with an epsilon, or allow a pilot of, say, a tenth of the usual cost: SET dp_pilot = 0.1 or the option pilot=0.1; EXPLAIN runs none.",
			"What %s costs for an error of %.4g cannot be told: its error depends on the data, and you have no earlier answer of this query.", a.text, a.target)
	}
	return privacy.Cost{}, &PilotNeeded{Share: s.pilotShare()}
}

// unreached refuses a target that no cost reaches.
func (s *statement) unreached(a *aggregate, format string, args ...any) error {
	return deny(RuleTarget, refuse.Parameter, "Ask for a larger error, or state a cost with dp_epsilon.",
		"%s cannot have an error of %.4g. %s", a.text, a.target, fmt.Sprintf(format, args...))
}

// costWord names what the statement's costs are.
func (s *statement) costWord() string {
	if s.isPure() {
		return params.Epsilon.Option
	}
	return params.Rho.Option
}

// pilotShare is the largest share that an aggregate of the statement allows.
func (s *statement) pilotShare() float64 {
	share := 0.0
	for _, d := range s.drafts {
		for _, a := range d.aggregates {
			share = max(share, a.pilot)
		}
	}
	return share
}

// aimAll solves for every aggregate of the statement that names an error, and adds what they cost to their accounts.
func (s *statement) aimAll(accounts map[string]*account) error {
	for _, d := range s.drafts {
		for _, a := range d.aggregates {
			if a.target == 0 {
				continue
			}
			var err error
			if a.solved, err = s.solve(d, a); err != nil {
				return err
			}
			for _, t := range d.tables() {
				accounts[t.Policy.Account].aimed = accounts[t.Policy.Account].aimed.Add(a.solved)
			}
		}
	}
	return nil
}

// shape digests what an aggregate asks, without what it may cost: answers of one shape have errors that tell about each other.
func (d *draft) shape(a *aggregate) string {
	h := sha256.New()
	sc := d.scans[a.scan]
	fmt.Fprintf(h, "%q %v %v %v %v %v;", sc.SQL, sc.Types, sc.Rows, sc.Units, sc.Adds, sc.Kept)
	for _, x := range sc.Args {
		fmt.Fprintf(h, "%T %q,", x, fmt.Sprint(x))
	}
	o := a.call.Options
	o.Epsilon, o.Rho, o.Pilot, o.Given = 0, 0, 0, nil
	if a.call.Target() > 0 {
		o.Error = 0
	}
	fmt.Fprintf(h, "%q %s %v %v %v %d %v %v;", a.call.Function.Name, optionsText(o), a.call.Fractions, a.columns, a.grid.Grid, a.maxRows, a.call.Units, a.pure)
	if c := a.call.Constant; c != "" {
		fmt.Fprintf(h, "%q;", c)
	}
	for _, k := range d.Keys {
		fmt.Fprintf(h, "%q", k.Name)
	}
	fmt.Fprintf(h, "%d %d", d.Groups, d.maxGroups)
	return hex.EncodeToString(h.Sum(nil))
}
