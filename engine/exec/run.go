package exec

import (
	"context"
	"errors"
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
	space := &room{x.Memory}
	scans, keys, err := x.scan(ctx, snap, r, space)
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
			// The first scan returns every person of every group, once or with all rows.
			if n := scans[0].persons.counts[g]; n > 0 && r.Selection.Keep(noiser, n) {
				a.Groups = append(a.Groups, answerGroup{Number: g, Key: keys.keys[g]})
			}
		}
	}
	if err := blocks(ctx, scans, a.Groups); err != nil {
		return nil, err
	}
	if err := x.estimate(ctx, r, scans, a.Groups, space); err != nil {
		return nil, err
	}
	return a, x.together(ctx, r, scans, a.Groups, keys.groups())
}

// scan runs the release's scans on the snapshot. Group numbers are shared between them.
func (x *Executor) scan(ctx context.Context, snap store.Snapshot, r *planner.Release, space *room) ([]*intake, *assigner, error) {
	keys := newAssigner(r, space)
	secrets := secrets{noise: x.Noise(), drawn: map[int]int64{}}
	scans := make([]*intake, len(r.Scans))
	for i, s := range r.Scans {
		var err error
		if scans[i], err = newIntake(r, i, keys.leading(), space, secrets); err != nil {
			return nil, nil, err
		}
		if err := scans[i].run(ctx, snap, secrets.fill(s.Args), keys); err != nil {
			return nil, nil, err
		}
	}
	for _, in := range scans {
		in.resize(keys.groups())
		var err error
		if in.table, err = in.kept.sorted(keys.groups()); err != nil {
			return nil, nil, err
		}
	}
	return scans, keys, nil
}

// blocks makes the blocks of the groups that are answered, on all cores.
func blocks(ctx context.Context, scans []*intake, groups []answerGroup) error {
	var eg errgroup.Group
	eg.SetLimit(runtime.GOMAXPROCS(0))
	for _, in := range scans {
		for _, v := range in.vectors {
			made := make([]*estimator.Block, len(groups))
			for i := range groups {
				if ctx.Err() != nil {
					break
				}
				eg.Go(func() error {
					return guarded(func() { made[i] = v.block(groups[i].Number) })
				})
			}
			if err := errors.Join(eg.Wait(), ctx.Err()); err != nil {
				return err
			}
			for i := range groups {
				v.blocks[groups[i].Number] = made[i]
			}
		}
	}
	return nil
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
func (x *Executor) estimate(ctx context.Context, r *planner.Release, scans []*intake, groups []answerGroup, space *room) error {
	if err := space.take(answerSize(r, len(groups))); err != nil {
		return err
	}
	var eg errgroup.Group
	eg.SetLimit(runtime.GOMAXPROCS(0))
	for i := range groups {
		g := &groups[i]
		g.Estimates = make([]estimator.Estimate, len(r.Aggregates))
		for j, agg := range r.Aggregates {
			if agg.Groups != nil {
				continue // see together
			}
			if err := ctx.Err(); err != nil {
				_ = eg.Wait()
				return err
			}
			noiser := x.Noise()
			in := scans[agg.Scan].input(agg, g.Number)
			eg.Go(func() error {
				return guarded(func() { g.Estimates[j] = agg.Estimator.Release(noiser, in) })
			})
		}
	}
	return eg.Wait()
}

// guarded runs a piece of work. A panic in a goroutine would end the server, so it becomes an error.
func guarded(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("exec: panic: %v", p)
		}
	}()
	f()
	return nil
}
