package collections

import (
	"context"

	"scrim/engine/collect"
	"scrim/engine/estimator/local"
	"scrim/internal/refuse"
)

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
	out := make([]Preview, len(list))
	for i, p := range list {
		if out[i], err = c.preview(ctx, r, p); err != nil {
			return nil, err
		}
	}
	return out, nil
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
