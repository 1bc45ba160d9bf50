package collections

import (
	"context"
	"encoding/json"
	"errors"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/local"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// Next ends the round: it stops taking reports, evaluates those of every stratum, and publishes the
// parameters of the next round, which is open then. After the last round it keeps the results, and
// the collection is FINAL.
//
// Where reports are too few nothing changes (TooFewReports tells what is missing). Where a round is
// inconclusive the collection is FAILED and can be opened again for additional people
// (RoundInconclusive). A crash on the way leaves it BETWEEN: Next or Open go on.
func (c *Collections) Next(ctx context.Context, name string) error {
	before, err := c.closeForNext(ctx, name)
	if err != nil {
		return err
	}
	c.hook("between")
	outcomes, err := c.outcomes(ctx, before)
	if err != nil {
		return errors.Join(err, c.stay(context.WithoutCancel(ctx), before, err))
	}
	return c.transition(ctx, name, func(col *collection) (*change, error) {
		if col.Step != before.closed.Step {
			return nil, col.changed()
		}
		return col.advance(outcomes, c.moment())
	})
}

// evaluated is a round that Next has closed for evaluating it.
type evaluated struct {
	was    State  // before
	closed record // BETWEEN
	rounds []*collect.Params
}

// closeForNext makes the collection BETWEEN, if it is not, and if the counts of reports allow going
// on.
func (c *Collections) closeForNext(ctx context.Context, name string) (evaluated, error) {
	var e evaluated
	err := c.transition(ctx, name, func(col *collection) (*change, error) {
		e = evaluated{was: col.State}
		var ch *change
		switch col.State {
		case Open:
			ch = col.closing(c.moment())
			ch.forget = nil // until the round has been evaluated
		case Between:
			ch = col.change()
		default:
			return nil, col.wrongState("brought to its next round")
		}
		for _, s := range col.strata() {
			p := col.rounds[roundKey{col.Round, s}].params
			if err := col.enough(p); err != nil {
				return nil, err
			}
			e.rounds = append(e.rounds, p)
		}
		e.closed = ch.record
		e.closed.Step++
		return ch, nil
	})
	return e, err
}

// enough refuses a round with too few reports, as its decoder would, without reading them.
func (c *collection) enough(p *collect.Params) error {
	s, _ := c.stratum(p.Stratum)
	total := uint64(0)
	for _, cell := range p.Cells {
		have := c.received[place{uint8(p.Round), uint16(s), cell.Cell}]
		if total += have; have < cell.Min {
			return tooFew(c, p, "cell %d of round %d needs %d reports and has %d", cell.Cell, p.Round, cell.Min, have)
		}
	}
	if total < p.Min {
		return tooFew(c, p, "round %d needs %d reports and has %d", p.Round, p.Min, total)
	}
	return nil
}

// outcomes evaluates a round of every stratum.
func (c *Collections) outcomes(ctx context.Context, e evaluated) (map[string]outcome, error) {
	out := map[string]outcome{}
	for _, p := range e.rounds {
		o, err := c.outcome(ctx, e.closed, p)
		if err != nil {
			return nil, err
		}
		out[p.Stratum] = o
	}
	return out, nil
}

// stay brings a round that could not be evaluated to FAILED if it was inconclusive, and else back
// to what it was.
func (c *Collections) stay(ctx context.Context, e evaluated, cause error) error {
	r, _ := refuse.As(cause)
	inconclusive := r != nil && r.Code == refuse.RoundInconclusive
	if e.was == Between && !inconclusive {
		return nil
	}
	return c.transition(ctx, e.closed.Name, func(col *collection) (*change, error) {
		if col.Step != e.closed.Step {
			return nil, col.changed()
		}
		ch := col.change()
		if inconclusive {
			ch.State, ch.Reason = Failed, r.Cause
		} else {
			ch.State = e.was
			ch.closeRounds(col, "")
		}
		return ch, nil
	})
}

func (c *collection) changed() error {
	return refuse.New(refuse.CollectionState, "Another statement has changed the collection %s meanwhile; it is %s.", c.Name, c.where()).
		With("Look at it with SELECT * FROM dp.collections, and call again if it still applies.")
}

// advance goes on with what a round has given.
func (c *collection) advance(outcomes map[string]outcome, moment string) (*change, error) {
	ch := c.change()
	ch.dropKeys(c)
	if c.Round < c.design.Rounds() {
		ch.State, ch.Round = Open, c.Round+1
		pub := map[string]collect.Published{}
		for s, o := range outcomes {
			pub[s] = o.published
		}
		return ch, ch.publish(c, pub, moment)
	}
	ch.State = Final
	results := map[string][]byte{}
	for s, o := range outcomes {
		b, err := json.Marshal(summarise(o.estimate))
		if err != nil {
			return nil, err
		}
		results[s] = b
		ch.others = append(ch.others, func(t tx) error { return t.s.Meta().Put(t.ctx, bucketResult, entry(c.UUID, s), b) })
	}
	ch.after = func(c *collection) {
		for s, b := range results {
			c.results[s] = b
		}
		c.tokens = nil // read again if somebody retries
	}
	return ch, nil
}

// tooFew refuses with what is missing.
func tooFew(c *collection, p *collect.Params, format string, args ...any) error {
	where := ""
	if p.Stratum != "" {
		where = " in stratum '" + p.Stratum + "'"
	}
	return refuse.New(refuse.TooFewReports, "%s: "+format+"%s.", append(append([]any{c.Name}, args...), where)...)
}

func refused(err error) bool {
	_, ok := refuse.As(err)
	return ok
}

// Preview says of a stratum what has arrived in the present round, and what Next would make of it.
// It changes nothing and costs nothing: it is computed from reports that are private already.
type Preview struct {
	Stratum string
	Round   int
	Info    local.Info // counts by cell, warnings
	// for the next round; zero in the last round or where Refusal is set
	Published collect.Published
	Result    *Result       // of the last round
	Refusal   *refuse.Error // what Next would refuse with
}

// Preview previews the present round of every stratum.
func (c *Collections) Preview(ctx context.Context, name string) ([]Preview, error) {
	c.mu.RLock()
	col, err := c.find(name)
	var r record
	var list []*collect.Params
	if err == nil {
		r = col.record
		if r.Round == 0 || !r.takes() && r.State != Final {
			err = col.wrongState("previewed")
		}
	}
	if err == nil {
		for _, s := range r.strata() {
			list = append(list, col.rounds[roundKey{r.Round, s}].params)
		}
	}
	c.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	return lists.Try(list, func(p *collect.Params) (Preview, error) { return c.preview(ctx, r, p) })
}

func (c *Collections) preview(ctx context.Context, r record, p *collect.Params) (Preview, error) {
	o, err := c.outcome(ctx, r, p)
	out := Preview{Stratum: p.Stratum, Round: p.Round, Info: o.arrived, Published: o.published}
	if refusal, ok := refuse.As(err); ok {
		out.Refusal = refusal
		return out, nil
	}
	if o.estimate != nil {
		result := summarise(o.estimate)
		out.Result, out.Info = &result, result.Info
	}
	return out, err
}
