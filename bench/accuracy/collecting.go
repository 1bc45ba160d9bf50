package accuracy

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"scrim/bench/dataset"
	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/device"
	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/geometry"
	"scrim/engine/collections/local"
	"scrim/engine/collections/shuffle"
	"scrim/engine/estimator/noise"
	"scrim/internal/refuse"
)

// collecting runs a planned collection: persons contribute in the order of the sample, whose
// vectors are independent draws.
type collecting struct {
	collected
	design *collect.Design
	set    *dataset.Set
}

// words are the words that a Noiser draws from.
type words struct{ noise.Noiser }

// Uint64 implements noise.Bits and rand.Source.
func (w words) Uint64() uint64 { return w.Uniform() }

// run is a runner. A collection that the product would refuse to end has no answer.
func (c collecting) run(n noise.Noiser, x dataset.Sample) Answer {
	e, err := c.rounds(words{n}, x)
	if err == nil {
		return c.ask.answer(c.set, e, x)
	}
	if _, ok := refuse.As(err); !ok {
		panic(err) // devices refuse nothing that was planned
	}
	return Answer{Refused: true}
}

// rounds runs all rounds and returns the last one's estimate.
func (c collecting) rounds(w words, x dataset.Sample) (local.Estimate, error) {
	r, next := exact.New(w), eachValue(x, c.set.Grid.Step)
	signs := make([]byte, 32)
	for i := range signs {
		signs[i] = byte(w.Uint64()) | 1
	}
	var pub collect.Published
	var before []local.Before
	for round := 1; ; round++ {
		p, err := c.params(round, pub, signs)
		if err != nil {
			return nil, err
		}
		var e local.Estimate
		if p.Batch == nil {
			e, pub, err = c.local(p, r, next, &before)
		} else {
			e, pub, err = c.shuffled(p, r, w, next)
		}
		if err != nil || round == c.design.Rounds() {
			return e, err
		}
	}
}

// params are those of a round. Nothing is sealed: any key will do.
func (c collecting) params(round int, pub collect.Published, signs []byte) (*collect.Params, error) {
	var key []byte
	if info, _ := c.protocol.Info(); info.Model == collect.Shuffle {
		key = append(make([]byte, 31), 9)
	}
	if c.protocol != collect.LDPSCM3 && c.protocol != collect.ShufSCM3 {
		signs = nil
	}
	return c.design.Params(round, "", pub, key, signs)
}

// eachValue returns one person's values after the other's.
func eachValue(x dataset.Sample, step float64) func() collect.Value {
	rows := floats(x.Block, step)
	return func() collect.Value {
		v := rows[0]
		rows = rows[1:]
		return v
	}
}

// local has the quotas of a round filled and evaluates it; before are the rounds so far.
func (c collecting) local(p *collect.Params, r *exact.Rand, next func() collect.Value, before *[]local.Before) (e local.Estimate, pub collect.Published, err error) {
	t, d := local.NewTally(p), device.New(p)
	var residues []residueCounts
	for _, cell := range p.Cells {
		if cell.Randomiser == collect.KRR {
			residues = append(residues, residueCounts{})
		}
		for range cell.Quota {
			report, err := d.Report(r, cell.Cell, next())
			if err == nil {
				err = t.Add(cell.Cell, report[collect.HeaderSize:], 1)
			}
			if err != nil {
				return nil, pub, err
			}
			if cell.Randomiser == collect.KRR {
				residues[len(residues)-1].add(report[collect.HeaderSize:])
			}
		}
	}
	switch {
	case p.Round == c.design.Rounds():
		e, err = local.Decode(p, t, *before...)
	case c.paper:
		pub, err = publishPaper(p, residues)
	default:
		pub, _, err = local.Publish(p, t)
	}
	*before = append(*before, local.Before{Params: p, Tally: t})
	return e, pub, err
}

// shuffled has the batches of a round filled and evaluates it.
func (c collecting) shuffled(p *collect.Params, r *exact.Rand, w words, next func() collect.Value) (e local.Estimate, pub collect.Published, err error) {
	t, d := shuffle.NewTally(p), device.New(p)
	if c.atOnce {
		d = device.New(quiet(p))
		if p.Tree() {
			r = exact.New(&silence{}) // nothing is left that is drawn
		}
	}
	for _, cell := range p.Cells {
		b, err := t.Batch(cell.Cell, cell.Quota)
		for i := uint64(0); i < cell.Quota && err == nil; i++ {
			var messages []collect.Message
			messages, err = d.Messages(r, cell.Cell, next())
			if c.atOnce && i == 0 {
				drown(w, p, cell, b, messages)
			}
			for _, m := range messages {
				b.Add(m)
			}
		}
		if err != nil {
			return nil, pub, err
		}
	}
	if p.Round == c.design.Rounds() {
		e, err = shuffle.Decode(p, t)
	} else {
		pub, _, err = shuffle.Publish(p, t)
	}
	return e, pub, err
}

// quiet are parameters of devices that add no noise.
func quiet(p *collect.Params) *collect.Params {
	q := p.Clone()
	q.Batch.Flip, q.Batch.Rate = 0, 0
	return q
}

// silence is a source for draws whose outcome is certain.
type silence struct{ n uint64 }

// Uint64 implements noise.Bits. Words differ, so that no rejection goes on forever.
func (s *silence) Uint64() uint64 {
	s.n += 0x9e3779b97f4a7c15
	return s.n
}

// drown adds the noise of all devices of a batch: to a tree's counts, and to the messages of one
// device's vector. It has the law of their sum, but for trees' noise that devices draw anew when it
// does not fit their bundle, less than once in 10^30 bundles. It comes from floating point: it
// releases nothing.
func drown(w words, p *collect.Params, c collect.Cell, b *shuffle.Batch, messages []collect.Message) {
	n := float64(c.Quota)
	if p.Tree() {
		count := distuv.Binomial{N: n, P: math.Ldexp(float64(p.Batch.Flip), -32), Src: w}
		for node := range geometry.Nodes(p.Batch.Levels) {
			m := collect.NewMessage(p.Protocol, uint16(c.Coordinate), uint32(node), 0)
			for range int(count.Rand()) {
				b.Add(m)
			}
		}
		return
	}
	half := distuv.Poisson{Lambda: n * math.Ldexp(float64(p.Batch.Rate), -exact.RateBits), Src: w}
	for i := 0; i < len(messages); i += p.Batch.Shares {
		m := messages[i]
		value := m.Value() + uint64(int64(half.Rand())) - uint64(int64(half.Rand()))
		messages[i] = collect.NewMessage(p.Protocol, m.Coordinate(), 0, value&(1<<p.Batch.Bits-1))
	}
}
