package collect

import (
	"errors"
	"math"

	"scrim/engine/collect/geometry"
	"scrim/engine/collect/mix"
	"scrim/engine/collect/skellam"
)

// deriveVec plans SHUF_VEC.
func (g *Design) deriveVec() error {
	d := &g.Declaration
	b, err := g.vecBatch(d.Dimension, d.Expected)
	if err != nil {
		return err
	}
	b.Clip = d.Radius
	g.addBatches([]Cell{{Domain: uint64(d.Dimension)}}, b)
	return nil
}

// vecBatch sizes a shuffled sum of vectors of dim coordinates: vectors of norm Clip are Grid steps
// long, rounded to integers none is longer than Bound, Skellam noise of variance Mu a coordinate
// from the honest contributors together hides an exchange at nine tenths of δ, and the shares of
// all coordinates mix at the cost of the rest.
func (g *Design) vecBatch(dim int, n uint64) (Batch, error) {
	d := &g.Declaration
	b, err := batchOf(n)
	if err != nil {
		return b, err
	}
	eps := uint32(d.Epsilon)
	grid, err := skellam.GridOf(eps, d.Delta, n, dim)
	if err != nil {
		return b, tooFine(dim)
	}
	noise, mixing := skellam.Split(d.Delta)
	b.Grid, b.Bound = grid.Clip, grid.Norm
	var order int
	if b.Mu, order, err = skellam.Variance(eps, noise, grid.Delta2, grid.Delta1); errors.Is(err, skellam.ErrNone) {
		return b, bad("The noise for vectors cannot be shown to give epsilon %v at delta %v.", d.Epsilon, d.Delta).With("Declare a larger epsilon or delta.")
	} else if err != nil {
		return b, tooFine(dim)
	}
	g.claim = claim{b.Mu, order, grid.Delta2}
	b.Rate = skellam.Rate(b.Mu, b.Honest)
	b.Tail = skellam.Window(b.Mu, 0, 0)
	if b.Bits = skellam.Bits(b.Mu, b.Max, b.Bound); b.Bits > mix.MaxBits {
		return b, tooFine(dim)
	}
	if b.Shares, err = mix.Shares(eps, mixing, b.Honest, b.Bits, dim); err != nil {
		return b, accountant(err)
	}
	if messages := b.Shares * dim; messages > MaxBundle {
		return b, bad("Everybody would send %d messages.", messages).With("Declare fewer coordinates: a contributor's messages are at most %d.", MaxBundle)
	}
	return b, nil
}

// claim is what a vector's noise rests on: Skellam noise of variance mu hides shifts of norm up to
// delta2 at a Rényi order as the bound from the literature has it.
type claim struct {
	mu     float64
	order  int
	delta2 uint64
}

// quick is the largest sensitivity for which a device computes the divergences: some 50 ms. The
// largest of all takes seconds, which a server spends once.
const quick = 1 << 13

// prove computes the divergences that the claim is of, so that nothing hangs on the literature, for
// sensitivities up to most.
func (g *Design) prove(most uint64) error {
	if c := g.claim; c.delta2 > 0 && c.delta2 <= most {
		if err := skellam.Verify(c.mu, c.order, c.delta2); err != nil {
			return tooFine(max(g.Derived.Padded, g.Declaration.Dimension))
		}
	}
	return nil
}

// tooFine refuses a grid whose sums or noise do not fit.
func tooFine(dim int) error {
	return bad("The noise for vectors of %d coordinates cannot be accounted for.", dim).
		With("Declare fewer coordinates, fewer contributors, or a larger epsilon or delta.")
}

// deriveRotatedShuffle plans SHUF_SCM3: a batch for the tree of each coordinate (30 % of the
// contributors together), one for the tree of norms (10 %), and one for the sum of vectors.
func (g *Design) deriveRotatedShuffle() error {
	const boxLevels = 5 // at most: every level costs noise
	d, v := &g.Declaration, &g.Derived
	g.setRotated(boxLevels)
	dims := uint64(v.Padded)
	each, n2 := d.Expected*3/10/dims, d.Expected/10
	n3 := d.Expected - each*dims - n2
	boxes, err := treeBatch(d, v.BoxLevels, each)
	if err != nil {
		return err
	}
	norms, err := treeBatch(d, geometry.BucketLevels, n2)
	if err != nil {
		return err
	}
	last, err := g.vecBatch(v.Padded, n3)
	if err != nil {
		return err
	}
	cells := make([]Cell, v.Padded)
	for j := range cells {
		cells[j] = Cell{Domain: geometry.Leaves(v.BoxLevels), Coordinate: j}
	}
	v.ClipTarget = 2 * relativeNoise(last) * math.Sqrt(float64(v.Padded)) / float64(last.Honest)
	g.addBatches(cells, boxes)
	g.addBatches([]Cell{{Domain: geometry.BucketCount}}, norms)
	g.addBatches([]Cell{{Domain: uint64(v.Padded)}}, last)
	return nil
}

// relativeNoise returns σ_r, the standard deviation of a sum's noise a coordinate in units of its
// sensitivity.
func relativeNoise(b Batch) float64 { return math.Sqrt(b.Mu) / float64(2*b.Bound) }
