package exponential

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

// Many chooses several quantiles of the same values by the recursion of [KSS22]: the middle one
// splits the values, and each side is searched for the quantiles on that side, as fractions of that
// side.
//
// Ties: a fraction of one side means what it should only if the split leaves the right share of the
// values there, and a value that many persons have would go to one side as a whole. So every value
// gets tieBits secret uniform random bits below its cell, and the search runs on cells so divided:
// the split falls inside a frequent value. This is a random map of one value at a time, which
// changes nothing in the argument below: neighbours are compared with the same bits for the values
// that they share, and mixing over the bits increases no divergence. Two values tie on cell and
// bits in a share 2^-tieBits of the pairs at most; they go left together.
//
// Loss: the tree has H = ⌊log2 m⌋+1 levels, each at ρ/H, and given the choices above it every value
// lies in one node of a level. Write D for max(num, den−num) of a node, in values (divided by den):
// ½ ≤ D < 1. A person with one value
//
//   - comes or goes: one node of a level changes, its distance by at most D: rate = √(2ρ_H)/D;
//   - is replaced: one node changes by at most 1, or two nodes by at most their D each. rate =
//     √(2ρ_H)/max(1, √2·D) costs at most ρ_H in both cases (ρ_H/2 for each of the two).
//
// A person with up to M values: divide by M. One who comes or goes moves node i by at most m_i·D
// with Σ m_i ≤ M, and Σ m_i² ≤ M². In a replacement node i loses r_i values and gains a_i; its
// distance moves by at most min(r_i, a_i) + |r_i − a_i|·D, over max(1, √2·D) at most f_i =
// (r_i+a_i)/2 + (1/√2 − ½)·|r_i−a_i|. f_i² is convex, so Σ f_i² over Σ r_i ≤ M, Σ a_i ≤ M is
// largest where all r and all a are in one node each: M² if it is the same node, and M²/2 + M²/2 if
// not.
//
// The answers ascend with their fractions.
type Many struct {
	cells uint64
	root  *node
	slots []int  // slots[i]: place of fraction i among the distinct ones in ascending order
	each  []loss // of the levels
}

// node is the choice of one quantile among the values of its part.
type node struct {
	q           Quantile
	slot        int
	left, right *node
}

// tieBits is the number of random bits under a cell: a rank inside one value is met to 1 part in
// 2^16 of its frequency.
const tieBits = 16

// NewMany returns the choice of the quantiles num/den, two integers each with 0 < num < den <=
// 2^20, on cells cells at most 2^32, at loss rho. A person has at most values numbers.
func NewMany(fractions [][2]int64, cells uint64, values int64, rho float64, relation estimator.Relation) *Many {
	m, err := newMany(fractions, cells, values, loss{rho: rho}, relation)
	if err != nil {
		panic(err) // only a pure choice has errors
	}
	return m
}

// NewPureMany is NewMany at ε = eps, δ = 0: each of the H levels has ε/H. The argument is that of
// Many with sums in the place of squares. In one level, divided by the M values of a person, the
// distances of node i move by m_i·D with Σ m_i ≤ 1 where the person comes or goes: rate = ε_H/(2D).
// In a replacement they move by min(r_i, a_i) + |r_i − a_i|·D, and the sum over the nodes is at
// most max(1, 2D) = 2D, with the old values in one node and the new ones in another: rate =
// ε_H/(4D); in the root, where all values are, it is at most 1 and rate = ε_H/2. It returns an
// error where eps is too small to be divided so.
func NewPureMany(fractions [][2]int64, cells uint64, values int64, eps float64, relation estimator.Relation) (*Many, error) {
	return newMany(fractions, cells, values, loss{epsilon: eps}, relation)
}

func newMany(fractions [][2]int64, cells uint64, values int64, total loss, relation estimator.Relation) (*Many, error) {
	if len(fractions) == 0 || cells < 1 || cells > 1<<32 {
		panic(fmt.Sprintf("exponential: %d quantiles among %d cells", len(fractions), cells))
	}
	distinct := make([]*big.Rat, len(fractions))
	for i, f := range fractions {
		distinct[i] = big.NewRat(f[0], f[1])
	}
	all := slices.Clone(distinct)
	slices.SortFunc(distinct, (*big.Rat).Cmp)
	distinct = slices.CompactFunc(distinct, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
	m := &Many{cells: cells, slots: make([]int, len(all))}
	for i, f := range all {
		m.slots[i], _ = slices.BinarySearchFunc(distinct, f, (*big.Rat).Cmp)
	}
	levels := bits.Len(uint(len(distinct)))
	part := (1 - 1e-12) / float64(levels)
	for range levels {
		m.each = append(m.each, loss{total.rho * part, total.epsilon * part})
	}
	b := builder{fractions: distinct, values: values, loss: m.each[0], relation: relation}
	m.root = b.build(0, len(distinct), new(big.Rat), big.NewRat(1, 1), true)
	return m, b.err
}

// builder makes the tree of distinct ascending fractions.
type builder struct {
	fractions []*big.Rat
	values    int64
	loss      loss
	relation  estimator.Relation
	err       error // the first
}

// build returns the node of the fractions from to to−1 in the part between the fractions lo and hi
// of all values.
func (b *builder) build(from, to int, lo, hi *big.Rat, top bool) *node {
	if from == to {
		return nil
	}
	mid := from + (to-from)/2
	f := b.fractions[mid]
	num, den := within(f, lo, hi)
	return &node{
		q:     b.choice(num, den, top),
		slot:  mid,
		left:  b.build(from, mid, lo, f, false),
		right: b.build(mid+1, to, f, hi, false),
	}
}

// choice returns the choice of a node.
func (b *builder) choice(num, den int64, top bool) Quantile {
	change, shown := b.change(num, den, top), b.values*den
	if b.loss.epsilon == 0 {
		return newQuantile(num, den, b.loss.rho, change, shown)
	}
	q, err := newPureQuantile(num, den, b.loss.epsilon, change, shown)
	if b.err == nil {
		b.err = err
	}
	return q
}

// change returns what a node's rate is divided by, in units of 1/den, rounded up.
func (b *builder) change(num, den int64, top bool) float64 {
	d, whole := float64(b.values)*float64(max(num, den-num)), float64(b.values)*float64(den)
	switch {
	case b.relation == estimator.AddRemove:
		return d
	case top:
		return whole // all values are in this node
	case b.loss.epsilon > 0:
		return 2 * d
	}
	return max(whole, math.Sqrt2*d*(1+0x1p-50))
}

// within returns f as a fraction of the part from lo to hi: exactly, or to the nearest multiple of
// 2^-20 where its denominator is larger.
func within(f, lo, hi *big.Rat) (num, den int64) {
	r := new(big.Rat).Sub(f, lo)
	r.Quo(r, new(big.Rat).Sub(hi, lo))
	if r.Denom().IsInt64() && r.Denom().Int64() <= 1<<20 {
		return r.Num().Int64(), r.Denom().Int64()
	}
	x, _ := r.Float64()
	return min(max(int64(math.Round(x*(1<<20))), 1), 1<<20-1), 1 << 20
}

// Draws is the number of choices, each with Slack.
func (m *Many) Draws() int { return m.root.size() }

func (n *node) size() int {
	if n == nil {
		return 0
	}
	return 1 + n.left.size() + n.right.size()
}

// Levels is the number of levels: the choices of one are independent given those above them, and
// share a loss.
func (m *Many) Levels() int { return len(m.each) }

// RankError is, for each fraction, the number of values by which the answer's rank is off at most
// with probability 1−beta: the errors of the choices on the way to it add up.
func (m *Many) RankError(beta float64) []float64 {
	slots := make([]float64, m.Draws())
	m.root.rankErrors(slots, 0, math.Ldexp(float64(m.cells), tieBits), beta/float64(len(m.each)))
	out := make([]float64, len(m.slots))
	for i, s := range m.slots {
		out[i] = slots[s]
	}
	return out
}

func (n *node) rankErrors(out []float64, above, points, beta float64) {
	if n != nil {
		e := above + n.q.RankError(points, beta)
		out[n.slot] = e
		n.left.rankErrors(out, e, points, beta)
		n.right.rankErrors(out, e, points, beta)
	}
}

// Persons is the number of values with which no choice leaves its part, with probability 95 %.
func (m *Many) Persons() int64 {
	return int64(math.Ceil(min(m.root.persons(math.Ldexp(float64(m.cells), tieBits), 1), 1<<62)))
}

// persons returns the number of all values that a node and those under it need, where its part
// holds the given share.
func (n *node) persons(points, share float64) float64 {
	if n == nil {
		return 0
	}
	f := float64(n.q.num) / float64(n.q.den)
	need := n.q.RankError(points, 0.05) / min(f, 1-f) / share
	return max(need, n.left.persons(points, share*f), n.right.persons(points, share*(1-f)))
}

// Steps describes the levels.
func (m *Many) Steps(name string) []estimator.Step {
	steps := make([]estimator.Step, len(m.each))
	for level, each := range m.each {
		steps[level] = each.of(1, estimator.Step{
			Name: fmt.Sprintf("%s, level %d", name, level+1), Mechanism: estimator.Exponential, Sensitivity: fmt.Sprintf("rank=%d", m.root.q.change/m.root.q.den),
		})
		steps[level].Queries = m.root.at(level)
	}
	return steps
}

// at returns the number of nodes that many levels further down.
func (n *node) at(level int) int {
	switch {
	case n == nil:
		return 0
	case level == 0:
		return 1
	}
	return n.left.at(level-1) + n.right.at(level-1)
}

// Search returns the cell of each quantile in the order of the fractions. cells holds the cell of
// each value; space is for what it makes of them.
func (m *Many) Search(n noise.Noiser, space estimator.Memory, cells []uint32) []uint32 {
	fine := estimator.Make[uint64](space, len(cells))
	defer estimator.Free(space, fine)
	for i, c := range cells {
		fine[i] = uint64(c)<<tieBits | n.Uniform()>>(64-tieBits)
	}
	slices.Sort(fine)
	found := make([]uint64, m.Draws())
	data, w := runs(space, nil, fine), &wheel{memory: space}
	defer estimator.Free(space, data)
	defer w.done()
	m.root.search(n, w, data, 0, m.cells<<tieBits-1, found)
	out := make([]uint32, len(m.slots))
	for i, s := range m.slots {
		out[i] = uint32(found[s] >> tieBits)
	}
	return out
}

// search fills found for a node and those under it, given the runs of the values of its part, which
// lies from lo to hi. The values up to the answer go left.
func (n *node) search(noiser noise.Noiser, w *wheel, data []run, lo, hi uint64, found []uint64) {
	v := n.q.pick(noiser, w, data, lo, hi)
	found[n.slot] = v
	split, _ := slices.BinarySearchFunc(data, v+1, byCell)
	if n.left != nil {
		n.left.search(noiser, w, data[:split], lo, v, found)
	}
	if n.right != nil {
		n.right.search(noiser, w, data[split:], min(v+1, hi), hi, found)
	}
}
