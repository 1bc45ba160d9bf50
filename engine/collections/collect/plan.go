package collect

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"scrim/engine/collections/collect/blanket"
	"scrim/engine/collections/collect/geometry"
	"scrim/engine/collections/collect/mix"
	"scrim/engine/collections/collect/skellam"
	"scrim/internal/lists"
)

// Design is a planned collection: what was declared, completed, and all that follows from it.
type Design struct {
	Collection  string
	UUID        string
	Protocol    Protocol
	Declaration Declaration // complete: defaults are filled in
	Derived     Derived

	rounds []roundPlan
	claim  claim
}

// roundPlan is what follows from the declaration for one round.
type roundPlan struct {
	cells []Cell
	min   uint64 // reports of all cells together
	batch *Batch
}

// tooFew says that a declaration is right but for the number of contributors.
type tooFew struct {
	need string // what for
}

func (e *tooFew) Error() string { return e.need }

func few(format string, args ...any) error { return &tooFew{fmt.Sprintf(format, args...)} }

// Plan checks a declaration, fills in its defaults and derives the sizes of every round. uuid is
// the collection's own, in lower case. Refusals say what is wrong and what would do; where only the
// number of contributors is too small, the least that would do is named.
func Plan(name, uuid string, p Protocol, d Declaration) (*Design, error) {
	g, err := plan(name, uuid, p, d)
	if err == nil {
		err = g.prove(math.MaxUint64)
	}
	if err == nil {
		return g, nil
	}
	var short *tooFew
	if !errors.As(err, &short) {
		return nil, err
	}
	refusal := bad("%d contributors are too few for %s: %s.", d.Expected, p, short.need)
	if least, ok := leastExpected(p, d); ok {
		return nil, refusal.With("Declare n_expected of %d or more, or a larger epsilon.", least)
	}
	return nil, refusal.With("Declare fewer buckets or coordinates, a narrower range, or a larger epsilon.")
}

// plan is Plan with *tooFew as it is. A device that verifies parameters has no use for the search.
func plan(name, uuid string, p Protocol, d Declaration) (*Design, error) {
	if err := cmp.Or(checkName(name), checkUUID(uuid)); err != nil {
		return nil, err
	}
	d, err := complete(p, d)
	if err != nil {
		return nil, err
	}
	g := &Design{Collection: name, UUID: uuid, Protocol: p, Declaration: d}
	if err := g.derive(); err != nil {
		return nil, err
	}
	return g, g.checkTime()
}

// derive fills in Derived and rounds from a complete declaration.
func (g *Design) derive() error {
	f := factorsOf(g.Declaration.Epsilon)
	switch g.Protocol {
	case LDPBit:
		return g.deriveBit(f)
	case LDPKV2, LDPKV1:
		return g.deriveKnown(f)
	case LDPUV2, LDPUV1:
		return g.deriveUnknown(f)
	case LDPHier:
		return g.deriveHier(f)
	case LDPHaar:
		return g.deriveHaar(f)
	case LDPSCM3:
		return g.deriveRotatedLocal(f)
	case ShufSum:
		return g.deriveSum()
	case ShufVec:
		return g.deriveVec()
	case ShufHier:
		return g.deriveNodes()
	case ShufSCM3:
		return g.deriveRotatedShuffle()
	}
	panic("collect: protocol without a plan") // complete refuses names that are none
}

// addRound appends a round of the local model. Its minimum is the sum of those of its cells, or
// least if that is more.
func (g *Design) addRound(cells []Cell, least uint64) {
	total, own := uint64(0), uint64(0)
	for i := range cells {
		cells[i].Cell = uint32(i)
		total += cells[i].Quota
		own += cells[i].Min
	}
	g.rounds = append(g.rounds, roundPlan{cells: cells, min: max(least, own)})
	g.Derived.Groups = append(g.Derived.Groups, total)
}

// spread divides n contributors over cells as evenly as possible.
func spread(cells []Cell, n uint64) []Cell {
	k := uint64(len(cells))
	for i := range cells {
		cells[i].Quota = n / k
		if uint64(i) < n%k {
			cells[i].Quota++
		}
	}
	return cells
}

// leastExpected returns the least n_expected for which the declaration can be planned; ok is false
// if even the greatest will not do. That more contributors never make a plan impossible holds but
// for roundings; what is returned has been planned.
func leastExpected(p Protocol, d Declaration) (least uint64, ok bool) {
	fits := func(n uint64) bool {
		d.Expected = n
		_, err := plan("x", "00000000-0000-0000-0000-000000000000", p, d)
		return err == nil
	}
	lo, hi := uint64(0), uint64(1)
	for !fits(hi) {
		if hi == MaxExpected {
			return 0, false
		}
		lo, hi = hi, min(2*hi, MaxExpected)
	}
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; fits(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, true
}

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
	ring, err := mix.RingOf(eps, mix.Batch{Expected: b.Expected, Min: b.Min, Honest: b.Honest, Max: b.Max})
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
	cells := lists.Make(v.Padded, func(j int) Cell { return Cell{Domain: geometry.Leaves(v.BoxLevels), Coordinate: j} })
	v.ClipTarget = 2 * relativeNoise(last) * math.Sqrt(float64(v.Padded)) / float64(last.Honest)
	g.addBatches(cells, boxes)
	g.addBatches([]Cell{{Domain: geometry.BucketCount}}, norms)
	g.addBatches([]Cell{{Domain: uint64(v.Padded)}}, last)
	return nil
}

// relativeNoise returns σ_r, the standard deviation of a sum's noise a coordinate in units of its
// sensitivity.
func relativeNoise(b Batch) float64 { return math.Sqrt(b.Mu) / float64(2*b.Bound) }
