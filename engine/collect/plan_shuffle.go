package collect

import (
	"errors"

	"scrim/engine/collect/blanket"
	"scrim/engine/collect/geometry"
	"scrim/engine/collect/mix"
)

// leastBatch is how many contributors a batch must be planned for: 72 honest ones are left of 100,
// and the bounds of package mix begin at 64.
const leastBatch = 100

// maxNoise bounds the expected noise messages of a contributor, maxNodes the levels of a shuffled
// tree: 65536 leaves.
const (
	maxNoise = 1000
	maxNodes = 8
)

// batchOf returns a batch of n expected contributors: a fifth of them may stay away, a tenth of the
// rest may be dishonest, and it closes at twice the honest ones.
func batchOf(n uint64) (Batch, error) {
	if n < leastBatch {
		return Batch{}, few("a batch takes %d contributors", leastBatch)
	}
	b := mix.Margin(n)
	return Batch{Expected: b.Expected, Min: b.Min, Honest: b.Honest, Max: b.Max}, nil
}

func (b Batch) margin() mix.Batch {
	return mix.Batch{Expected: b.Expected, Min: b.Min, Honest: b.Honest, Max: b.Max}
}

// addBatches appends a round of the shuffle model: each cell is filled by batches of its own.
func (g *Design) addBatches(cells []Cell, b Batch) {
	for i := range cells {
		cells[i].Randomiser, cells[i].Quota, cells[i].Min = Bundle, b.Expected, b.Min
	}
	g.addRound(cells, 0)
	g.rounds[len(g.rounds)-1].batch = &b
}

// accountant turns the error of an accountant into one of a declaration. All arguments are in range
// but for the number of contributors.
func accountant(err error) error {
	if errors.Is(err, mix.ErrParameter) || errors.Is(err, blanket.ErrTooFew) {
		return &tooFew{err.Error()}
	}
	return err
}

// deriveSum plans SHUF_SUM.
func (g *Design) deriveSum() error {
	b, err := sumBatch(&g.Declaration, g.Declaration.Expected)
	if err != nil {
		return err
	}
	g.addBatches([]Cell{{Domain: 1}}, b)
	return nil
}

// sumBatch sizes a shuffled sum: values on a grid of Grid steps, discrete Laplace noise of ratio
// e^(-ε/Grid) from the honest contributors together, which is beyond Tail with probability below
// 1e-23, and shares modulo 2^Bits, so many that mixing them costs δ.
func sumBatch(d *Declaration, n uint64) (Batch, error) {
	b, err := batchOf(n)
	if err != nil {
		return b, err
	}
	eps := uint32(d.Epsilon)
	ring, err := mix.RingOf(eps, b.margin())
	if err != nil {
		return b, accountant(err)
	}
	b.Grid, b.Tail, b.Bits = ring.Delta, ring.Tail, ring.Bits
	b.Shares, err = mix.Shares(eps, d.Delta, b.Honest, b.Bits, 1)
	return b, accountant(err)
}

// deriveNodes plans SHUF_HIER.
func (g *Design) deriveNodes() error {
	d := &g.Declaration
	b, err := treeBatch(d, d.Levels, d.Expected)
	if err != nil {
		return err
	}
	g.addBatches([]Cell{{Domain: geometry.Leaves(d.Levels)}}, b)
	return nil
}

// treeBatch sizes a shuffled tree of h levels: a message a level and noise messages at every node
// with probability Flip/2^32, at most 1/4 and at most maxNoise expected. Prefixes are then known to
// a quarter of the reports at least, as 0.72·sqrt(h·N·p) is below N/4 for every batch of
// leastBatch.
func treeBatch(d *Declaration, h int, n uint64) (Batch, error) {
	b, err := batchOf(n)
	if err != nil {
		return b, err
	}
	b.Levels = h
	_, b.Flip, err = blanket.Noise(uint32(d.Epsilon), d.Delta, b.Honest, h)
	if err != nil {
		return b, accountant(err)
	}
	nodes := geometry.Nodes(h)
	if nodes*b.Flip > maxNoise*noiseUnit {
		return b, few("everybody would send %d noise messages, for %d buckets", nodes*b.Flip/noiseUnit, geometry.Leaves(h))
	}
	b.Cap = blanket.Cap(nodes, h, b.Flip)
	return b, nil
}
