package exec

import (
	"context"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/planner/plan"
)

// together fills in the estimates of the aggregates that are answered in all groups at once: one
// release of their vector over the groups that are answered, cut into one estimate a group.
func (x *Executor) together(ctx context.Context, r *plan.Release, scans []*intake, groups []answerGroup, drawn func() noise.Noiser) error {
	if len(groups) == 0 {
		return nil
	}
	for j, agg := range r.Aggregates {
		if agg.Groups == nil {
			continue
		}
		e, err := agg.AllGroups(len(groups))
		if err != nil {
			return err
		}
		in := estimator.Input{}
		if in.Vectors, err = scans[agg.Scan].grouped.block(ctx, len(groups)); err != nil {
			return err
		}
		noiser := drawn()
		if err := guarded(func() { cut(groups, j, e.Release(noiser, in)) }); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// cut divides the estimate of all groups.
func cut(groups []answerGroup, aggregate int, all estimator.Estimate) {
	n := len(all.Values) / len(groups)
	for i := range groups {
		groups[i].Estimates[aggregate] = all.Part(i*n, (i+1)*n)
	}
}
