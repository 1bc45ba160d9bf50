package exec

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"scrim/accounting"
	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/engine/store"
	"scrim/internal/panics"
	"scrim/internal/processors"
	"scrim/internal/spill"
	"scrim/planner/plan"
)

// drawn makes the noise of one estimator on one group: Gaussian noise as the receipt says that it
// was charged.
func (x *Executor) drawn(receipt accounting.Receipt) func() noise.Noiser {
	return func() noise.Noiser { return x.NoiseAs(receipt.Rounded) }
}

// draws are the sources of noise of a release until its scans have ended. A release that begins
// again gets the same ones in the same order, each at its beginning. Those of its estimators, which
// may be millions, are not kept: when they draw, nothing can fail any more that begins again.
type draws struct {
	fresh func() noise.Noiser
	given []noise.Noiser
	next  int
	ended bool // estimators have begun
}

// draw returns the next one.
func (d *draws) draw() noise.Noiser {
	if d.ended {
		panic("exec: a release whose estimators have drawn begins again")
	}
	if d.next++; d.next > len(d.given) {
		d.given = append(d.given, d.fresh())
	} else {
		d.given[d.next-1] = noise.Again(d.given[d.next-1])
	}
	return d.given[d.next-1]
}

// NoiseAs makes the noise of one estimator: rounded normal noise where that was charged.
func (x *Executor) NoiseAs(rounded bool) noise.Noiser {
	if !rounded {
		return x.Noise()
	}
	return noise.Rounded(x.Noise())
}

// answer scans for one release and runs its estimators on every group, with the noise that it is
// given. The caller has paid. When the estimators begin the store is asked nothing more.
func (x *Executor) answer(ctx context.Context, snap store.Snapshot, r *plan.Release, progress *progress, drawn *draws) (*answer, error) {
	memory := x.Spill.Area()
	defer memory.Close()
	secrets := secrets{noise: drawn.draw(), drawn: map[int]int64{}}
	keys, a := publicKeys(r), &answer{}
	var chosen *selection
	if r.Selection != nil {
		progress.begin("key selection")
		var err error
		if chosen, err = x.selects(ctx, snap, r, secrets, drawn.draw()); err != nil || len(chosen.keys) == 0 && !r.Other {
			return a, err
		}
		if keys = selectedKeys(r, len(chosen.keys)); r.Other {
			keys = numberedKeys(r, len(chosen.keys)+1)
		}
	}
	for g := range keys.groups {
		a.Groups = append(a.Groups, answerGroup{Number: g})
		switch group := &a.Groups[g]; {
		case chosen == nil:
		case g < len(chosen.keys):
			group.Key = chosen.keys[g]
		default:
			group.Other = true
		}
	}
	if size := answerSize(r, keys.groups); size > x.Memory {
		return nil, &Limit{"bytes of an answer in the groups that were selected", size, x.Memory}
	}
	scans, err := x.scan(ctx, snap, r, keys, chosen, memory, secrets, progress)
	if err != nil {
		return nil, err
	}
	persons, err := x.publicPersons(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	progress.begin("estimates")
	drawn.ended = true
	if err := blocks(ctx, scans, keys.groups); err != nil {
		return nil, err
	}
	if err := x.estimate(ctx, r, scans, a.Groups, persons, drawn.fresh); err != nil {
		return nil, err
	}
	return a, x.together(ctx, r, scans, a.Groups, drawn.fresh)
}

// scan runs the release's scans on the snapshot. Group numbers are shared between them.
func (x *Executor) scan(ctx context.Context, snap store.Snapshot, r *plan.Release, keys groupKeys, chosen *selection, memory *spill.Area, secrets secrets, progress *progress) ([]*intake, error) {
	scans := make([]*intake, len(r.Scans))
	for i, s := range r.Scans {
		in, err := newIntake(r, i, keys, memory, secrets)
		if err != nil {
			return nil, err
		}
		scans[i] = in
		progress.begin("scan %d of %d", i+1, len(r.Scans))
		if chosen != nil && !in.read() {
			continue // it was counted
		}
		sql, args := s.SQL, s.Args
		if chosen != nil {
			var own bool
			if sql, own = chosen.scanSQL(i); !own {
				args = nil
			}
		}
		if err := in.run(ctx, snap, sql, secrets.fill(args)); err != nil {
			return nil, err
		}
		if in.table, err = in.kept.sorted(keys.groups); err != nil {
			return nil, err
		}
	}
	return scans, nil
}

// blocks makes the blocks of the groups that are answered, on all cores.
func blocks(ctx context.Context, scans []*intake, groups int) error {
	var eg errgroup.Group
	eg.SetLimit(processors.Count())
	for _, in := range scans {
		for _, v := range in.vectors {
			v.blocks = make([]*estimator.Block, groups)
			for g := range groups {
				if ctx.Err() != nil {
					break
				}
				eg.Go(func() error {
					return tried(func() (err error) {
						v.blocks[g], err = v.block(g)
						return err
					})
				})
			}
			if err := errors.Join(eg.Wait(), ctx.Err()); err != nil {
				return err
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
		if a, ok := v.(plan.SecretArg); ok {
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
// that one person may be in. persons is their public number, where there is one: then there is one
// group.
func (x *Executor) estimate(ctx context.Context, r *plan.Release, scans []*intake, groups []answerGroup, persons int64, drawn func() noise.Noiser) error {
	var eg errgroup.Group
	eg.SetLimit(processors.Count())
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
			noiser := drawn()
			eg.Go(func() error {
				return tried(func() error {
					return scans[agg.Scan].input(agg, g.Number, func(in estimator.Input) {
						if in.Persons = persons; in.Pairs != nil {
							in.Pairs.Context = ctx
						}
						g.Estimates[j] = agg.Rounded(agg.Estimator.Release(noiser, in))
					})
				})
			})
		}
	}
	return eg.Wait()
}

// panicked is the error that a panic becomes. A full disk comes so from the estimators
// (estimator.Make), as does the end of a statement (estimator.Pairs).
func panicked(p any) error {
	err, ok := p.(error)
	ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if full := new(spill.Full); !ended && !errors.As(err, &full) {
		panics.Recovered()
	}
	if ok {
		return fmt.Errorf("exec: panic: %w", err)
	}
	return fmt.Errorf("exec: panic: %v", p)
}

// tried is guarded for work that may fail.
func tried(f func() error) error {
	var own error
	fault := guarded(func() { own = f() })
	return errors.Join(fault, own)
}

// guarded runs a piece of work. A panic in a goroutine would end the server, so it becomes an
// error.
func guarded(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	f()
	return nil
}

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
		if err := guarded(func() { cut(groups, j, agg.Rounded(e.Release(noiser, in))) }); err != nil {
			return err
		}
	}
	return nil
}

// cut divides the estimate of all groups.
func cut(groups []answerGroup, aggregate int, all estimator.Estimate) {
	n := len(all.Values) / len(groups)
	for i := range groups {
		groups[i].Estimates[aggregate] = all.Part(i*n, (i+1)*n)
	}
}

// publicPersons returns the public number of persons of a release, in the state that its scans
// read; 0 where none of its aggregates takes it as public. It is counted once for each version of
// the table.
func (x *Executor) publicPersons(ctx context.Context, snap store.Snapshot, r *plan.Release) (int64, error) {
	if r.Persons == "" {
		return 0, nil
	}
	versions, err := snap.Versions(ctx, r.Reads...)
	if err != nil {
		return 0, err
	}
	version := strings.Join(versions, " ")
	if n, ok := x.counts.find(r.Persons, version); ok {
		return n, nil
	}
	n, rows := int64(0), 0
	err = snap.Scan(ctx, r.Persons, nil, []store.ScanType{store.ScanInt64}, func(ch store.Chunk) error {
		for _, v := range ch.Columns[0].Ints[:ch.Len] {
			n, rows = v, rows+1
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if rows != 1 || n < 0 {
		return 0, fmt.Errorf("exec: %d rows count %d persons", rows, n)
	}
	x.counts.keep(r.Persons, version, n)
	return n, nil
}

// personCounts keeps how many persons tables have, by the SELECT that counts them, for their newest
// version that was asked for. The zero value is ready.
type personCounts struct {
	mu  sync.Mutex
	now map[string]personCount
}

type personCount struct {
	version string
	n       int64
}

// mostCounts bounds the tables that are remembered. A table that is forgotten is counted again.
const mostCounts = 1 << 10

func (c *personCounts) find(sql, version string) (int64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.now[sql]
	return k.n, ok && k.version == version
}

func (c *personCounts) keep(sql, version string, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == nil || len(c.now) >= mostCounts {
		c.now = map[string]personCount{}
	}
	c.now[sql] = personCount{version, n}
}
