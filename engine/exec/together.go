package exec

import (
	"context"

	"scrim/engine/estimator"
	"scrim/planner"
)

// together fills in the estimates of the aggregates that are answered in all groups at once: one release of their vector over the
// groups that are answered, cut into one estimate a group. scanned is the number of groups of the scans.
func (x *Executor) together(ctx context.Context, r *planner.Release, scans []*intake, groups []answerGroup, scanned int) error {
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
		if in.Vectors, err = scans[agg.Scan].grouped.block(ctx, numbered(groups, scanned), len(groups)); err != nil {
			return err
		}
		noiser := x.Noise()
		if err := guarded(func() { cut(groups, j, e.Release(noiser, in)) }); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// numbered gives each group of the scans its place among those that are answered, -1 where it is not.
func numbered(groups []answerGroup, scanned int) []int32 {
	numbers := make([]int32, scanned)
	for i := range numbers {
		numbers[i] = -1
	}
	for i, g := range groups {
		numbers[g.Number] = int32(i)
	}
	return numbers
}

// cut divides the estimate of all groups.
func cut(groups []answerGroup, aggregate int, all estimator.Estimate) {
	n := len(all.Values) / len(groups)
	for i := range groups {
		groups[i].Estimates[aggregate] = all.Part(i*n, (i+1)*n)
	}
}
