package collections

import (
	"context"
	"fmt"
	"sync"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/local"
	"scrim/engine/collections/shuffle"
	"scrim/engine/store"
	"scrim/internal/refuse"
)

// Estimate answers from the reports of a last round. Those of shuffle collections have Sum, too.
type Estimate interface{ local.Estimate }

// outcome is what the reports of a round of a stratum give: what the next round takes from it, or
// in the last round an estimate.
type outcome struct {
	arrived   local.Info // also where there is a refusal
	published collect.Published
	estimate  Estimate
}

// outcome evaluates a round as it is now.
func (c *Collections) outcome(ctx context.Context, r record, p *collect.Params) (outcome, error) {
	if r.model() == collect.Shuffle {
		return outcomeBy(c, r, p, evaluateShuffle, func(p *collect.Params) (*shuffle.Tally, error) { return c.tallyShuffle(ctx, r, p) })
	}
	return outcomeBy(c, r, p, evaluate, func(p *collect.Params) (*local.Tally, error) { return c.tallyLocal(ctx, r.ref(), p) })
}

// outcomeBy is outcome for one of the models. Some estimates take something from the round before.
func outcomeBy[T any](c *Collections, r record, p *collect.Params, evaluate evaluation[T], tally func(*collect.Params) (T, error)) (outcome, error) {
	t, err := tally(p)
	if err != nil {
		return outcome{}, err
	}
	var before []collect.Before[T]
	if p.Batch != nil && p.Round == 3 || p.Round == 2 && (p.Protocol == collect.LDPKV2 || p.Protocol == collect.LDPUV2) {
		earlier, err := c.paramsOf(r, p.Round-1, p.Stratum)
		if err != nil {
			return outcome{}, err
		}
		of, err := tally(earlier)
		if err != nil {
			return outcome{}, err
		}
		before = append(before, collect.Before[T]{Params: earlier, Tally: of})
	}
	return evaluate(p, t, before...)
}

// paramsOf returns the parameters of a round that has been open.
func (c *Collections) paramsOf(r record, round int, stratum string) (*collect.Params, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	col, err := c.same(r)
	if err != nil {
		return nil, err
	}
	return col.rounds[roundKey{round, stratum}].params, nil
}

// evaluation evaluates the reports, or the batches, of a round.
type evaluation[T any] func(p *collect.Params, t T, before ...collect.Before[T]) (outcome, error)

var (
	evaluate        = evaluationBy(local.Publish, local.Arrived, local.Decode)
	evaluateShuffle = evaluationBy(shuffle.Publish, shuffle.Arrived, shuffle.Decode)
)

func evaluationBy[T any, E Estimate](
	publish func(*collect.Params, T) (collect.Published, local.Info, error),
	arrived func(*collect.Params, T) local.Info,
	decode func(*collect.Params, T, ...collect.Before[T]) (E, error),
) evaluation[T] {
	return func(p *collect.Params, t T, before ...collect.Before[T]) (outcome, error) {
		if p.Round < p.Rounds() {
			pub, info, err := publish(p, t)
			return outcome{arrived: info, published: pub}, err
		}
		o := outcome{arrived: arrived(p, t)}
		e, err := decode(p, t, before...)
		if err == nil {
			o.estimate = e
		}
		return o, err
	}
}

// Estimate returns the estimate of a collection's last round, of one stratum ("" where there are
// none). While the round is open it is of the reports so far, if they are enough. It is kept for as
// long as no report comes.
//
// Refusals: CollectionRounds before the last round, TooFewReports, RoundInconclusive, BatchWindow,
// CollectionState of an aborted collection, CollectionFilter where a stratum has to be named.
func (c *Collections) Estimate(ctx context.Context, name, stratum string) (Estimate, error) {
	c.mu.RLock()
	col, err := c.find(name)
	if err != nil {
		c.mu.RUnlock()
		return nil, err
	}
	r, p, err := col.estimable(stratum)
	cache := &col.cache
	c.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	version, err := c.st.Versions(ctx, r.ref())
	if err != nil {
		return nil, err
	}
	return cache.get(p.Stratum, version[0], func() (Estimate, error) {
		o, err := c.outcome(ctx, r, p)
		return o.estimate, err
	})
}

// estimable returns what an estimate is made from, or says why there is none. c.mu is held.
func (c *collection) estimable(stratum string) (record, *collect.Params, error) {
	place, ok := c.stratum(stratum)
	switch {
	case !ok:
		return record{}, nil, c.noStratum(stratum)
	case c.State == Aborted:
		return record{}, nil, refuse.New(refuse.CollectionState, "The collection %s was aborted; it has no estimate.", c.Name)
	case c.Round < c.design.Rounds():
		return record{}, nil, refuse.New(refuse.CollectionRounds, "The collection %s is %s; its estimate is made from round %d.", c.Name, c.where(), c.design.Rounds())
	}
	return c.record, c.rounds[roundKey{c.Round, c.strata()[place]}].params, nil
}

// noStratum refuses a stratum that the collection has not, or none where it has some.
func (c *collection) noStratum(stratum string) error {
	if stratum == "" {
		return refuse.New(refuse.CollectionFilter, "The collection %s has strata, each with an estimate of its own.", c.Name).
			With("SELECT … FROM %s GROUP BY stratum, or WHERE stratum = '%s'.", c.ref(), c.strata()[0])
	}
	if len(c.Declaration.Strata) == 0 {
		return refuse.New(refuse.CollectionFilter, "The collection %s has no strata, and so none called %.80q.", c.Name, stratum).
			With("Leave the condition on stratum out.")
	}
	return refuse.New(refuse.CollectionFilter, "The collection %s has no stratum %.80q.", c.Name, stratum).
		With("Its strata are %s.", quotedList(c.Declaration.Strata))
}

// estimates are the last estimates of a collection's strata. An estimate holds for one version of
// the table.
type estimates struct {
	mu  sync.Mutex
	all map[string]*kept
}

// kept is an estimate, or the refusal of one.
type kept struct {
	mu       sync.Mutex // held while it is made: who comes meanwhile waits for it
	version  string
	estimate Estimate
	err      error
}

// get returns the estimate of a version, and makes it if it is of another one. A failure that is no
// refusal is not kept.
func (e *estimates) get(stratum, version string, estimate func() (Estimate, error)) (Estimate, error) {
	e.mu.Lock()
	if e.all == nil {
		e.all = map[string]*kept{}
	}
	k := e.all[stratum]
	if k == nil {
		k = &kept{}
		e.all[stratum] = k
	}
	e.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.version == version {
		return k.estimate, k.err
	}
	made, err := estimate()
	if err != nil && !refused(err) {
		return nil, err
	}
	k.version, k.estimate, k.err = version, made, err
	return made, err
}

// tallyShuffle adds up the batches of a round of a stratum.
func (c *Collections) tallyShuffle(ctx context.Context, r record, p *collect.Params) (*shuffle.Tally, error) {
	t := shuffle.NewTally(p)
	bags, err := c.bags(t, r, p)
	if err != nil {
		return nil, err
	}
	err = c.own.ScanBytes(ctx, "SELECT batch_id, msg FROM "+quoted(r.ref())+" WHERE round = $1 AND stratum = $2", []any{int64(p.Round), p.Stratum},
		func(b store.BytesChunk) error {
			for i, id := range b.Columns[0].Ints {
				bag := bags[id]
				if bag == nil {
					continue // loaded after the batches were listed
				}
				if bag.messages = append(bag.messages, b.Columns[1].Bytes[i]...); len(bag.messages) >= bulk {
					if err := bag.add(); err != nil {
						return err
					}
				}
			}
			return nil
		})
	for _, bag := range bags {
		if err == nil {
			err = bag.add()
		}
	}
	return t, err
}

// bagTally collects the messages of a batch.
type bagTally struct {
	batch    *shuffle.Batch
	messages []byte
}

func (b *bagTally) add() error {
	err := b.batch.AddAll(b.messages)
	b.messages = b.messages[:0]
	if err != nil {
		return fmt.Errorf("collections: a stored message is not one: %w", err)
	}
	return nil
}

// bags begins the batches of a round in a tally, by their ids.
func (c *Collections) bags(t *shuffle.Tally, r record, p *collect.Params) (map[int64]*bagTally, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	col, err := c.same(r)
	if err != nil {
		return nil, err
	}
	out := map[int64]*bagTally{}
	for _, b := range col.batches {
		if b.Round != p.Round || b.Stratum != p.Stratum || b.Bad != "" {
			continue
		}
		batch, err := t.Batch(b.Cell, b.Reports)
		if err != nil {
			return nil, err
		}
		out[b.ID] = &bagTally{batch: batch}
	}
	return out, nil
}

// checkBatch refuses a batch whose messages cannot be those of its reports.
func checkBatch(p *collect.Params, part Part, messages []collect.Message) error {
	b, err := shuffle.NewTally(p).Batch(part.Cell, part.Reports)
	if err != nil {
		return err
	}
	for _, m := range messages {
		b.Add(m)
	}
	return b.Check()
}
