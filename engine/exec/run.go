package exec

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/engine/store"
	"scrim/planner"
)

// answer scans for one release and runs its estimators on every group. The caller has paid.
func (x *Executor) answer(ctx context.Context, snap store.Snapshot, r *planner.Release) (*answer, error) {
	tables, keys, err := x.scan(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	a := &answer{}
	if r.Selection == nil {
		for g := range keys.groups() {
			a.Groups = append(a.Groups, answerGroup{Number: g})
		}
	} else {
		noiser := x.Noise()
		for _, g := range keys.order() {
			if r.Selection.Keep(noiser, int64(tables[0].size(g))) {
				a.Groups = append(a.Groups, answerGroup{Number: g, Key: keys.keys[g]})
			}
		}
	}
	return a, x.estimate(ctx, r, tables, keys.leading(), a.Groups)
}

// scan runs the release's scans on the snapshot. Group numbers are shared between them.
func (x *Executor) scan(ctx context.Context, snap store.Snapshot, r *planner.Release) ([]*table, *assigner, error) {
	space := &room{x.Memory}
	keys := newAssigner(r, space)
	secrets := secrets{noise: x.Noise(), drawn: map[int]int64{}}
	raw := make([]*gathered, len(r.Scans))
	for i, s := range r.Scans {
		var err error
		if raw[i], err = gather(ctx, snap, s, secrets.fill(s.Args), keys.leading(), keys.assign, space); err != nil {
			return nil, nil, err
		}
	}
	tables := make([]*table, len(raw))
	for i, g := range raw {
		var err error
		if tables[i], err = g.sorted(keys.groups()); err != nil {
			return nil, nil, err
		}
	}
	return tables, keys, nil
}

// secrets are the random numbers that choose which groups and rows of a person are kept: fresh for
// each execution, the same for all scans of a release, and never shown.
type secrets struct {
	noise noise.Noiser
	drawn map[int]int64
}

// fill returns args with a drawn number in the place of every SecretArg.
func (s secrets) fill(args []any) []any {
	out := make([]any, len(args))
	for i, v := range args {
		if a, ok := v.(planner.SecretArg); ok {
			if _, ok := s.drawn[a.Index]; !ok {
				s.drawn[a.Index] = int64(s.noise.Uniform() >> 1)
			}
			v = s.drawn[a.Index]
		}
		out[i] = v
	}
	return out
}

// estimate fills in the estimates of the groups, on all cores. Groups are independent: each
// estimator's loss holds for one group, and the plan has divided the loss by the number of groups
// that one person may be in.
func (x *Executor) estimate(ctx context.Context, r *planner.Release, tables []*table, leading int, groups []answerGroup) error {
	var eg errgroup.Group
	eg.SetLimit(runtime.GOMAXPROCS(0))
	for i := range groups {
		g := &groups[i]
		g.Estimates = make([]estimator.Estimate, len(r.Aggregates))
		for j, agg := range r.Aggregates {
			if err := ctx.Err(); err != nil {
				_ = eg.Wait()
				return err
			}
			noiser := x.Noise()
			in := estimator.Input{Columns: tables[agg.Scan].group(g.Number, leading, agg.Columns)}
			eg.Go(func() error { return release(agg.Estimator, noiser, in, &g.Estimates[j]) })
		}
	}
	return eg.Wait()
}

// release runs one estimator. A panic in a goroutine would end the server, so it becomes an error.
func release(e estimator.Estimator, n noise.Noiser, in estimator.Input, dst *estimator.Estimate) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("exec: estimator panicked: %v", p)
		}
	}()
	*dst = e.Release(n, in)
	return nil
}
