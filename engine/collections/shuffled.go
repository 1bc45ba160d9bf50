package collections

import (
	"context"
	"fmt"

	"scrim/engine/collect"
	"scrim/engine/collect/device"
	"scrim/engine/collect/exact"
	"scrim/engine/collect/issue"
	"scrim/engine/estimator/shuffle"
	"scrim/engine/store"
)

// outcomeShuffle evaluates the batches of a round of the shuffle model.
func (c *Collections) outcomeShuffle(ctx context.Context, r record, p *collect.Params) (outcome, error) {
	t, err := c.tallyShuffle(ctx, r, p)
	if err != nil {
		return outcome{}, err
	}
	before, err := c.beforeShuffle(ctx, r, p)
	if err != nil {
		return outcome{}, err
	}
	return evaluateShuffle(p, t, before...)
}

// beforeShuffle returns the second round of a stratum, where p is the third one and its estimate
// takes something from the second.
func (c *Collections) beforeShuffle(ctx context.Context, r record, p *collect.Params) ([]shuffle.Before, error) {
	if p.Round != 3 {
		return nil, nil
	}
	second, err := c.paramsOf(r, 2, p.Stratum)
	if err != nil {
		return nil, err
	}
	t, err := c.tallyShuffle(ctx, r, second)
	return []shuffle.Before{{Params: second, Tally: t}}, err
}

func evaluateShuffle(p *collect.Params, t *shuffle.Tally, before ...shuffle.Before) (outcome, error) {
	if p.Round < p.Rounds() {
		pub, info, err := shuffle.Preview(p, t)
		return outcome{arrived: info, published: pub}, err
	}
	o := outcome{arrived: shuffle.Arrived(p, t)}
	e, err := shuffle.Decode(p, t, before...)
	if err == nil {
		o.estimate = e
	}
	return o, err
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

// roundShuffle has contributors send their messages, one batch a cell, and evaluates them.
func (s Simulation) roundShuffle(ctx context.Context, p *collect.Params, seats []issue.Seat[place], order *[]int, r *exact.Rand, before *earlier) (outcome, error) {
	t, d := shuffle.NewTally(p), device.New(p)
	for _, at := range seats {
		b, err := t.Batch(at.Place.cell, at.Taken)
		if err != nil {
			return outcome{}, err
		}
		for range at.Taken {
			messages, err := d.Messages(r, at.Place.cell, s.next(order))
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return outcome{}, err
			}
			for _, m := range messages {
				b.Add(m)
			}
		}
	}
	o, err := evaluateShuffle(p, t, before.shuffled...)
	before.shuffled = append(before.shuffled, shuffle.Before{Params: p, Tally: t})
	return o, err
}
