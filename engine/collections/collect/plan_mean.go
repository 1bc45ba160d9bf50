package collect

import (
	"math"

	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/geometry"
	"scrim/engine/collections/collect/internal/strict"
)

// bitMin, signMin and latticeMin are how many reports a mean needs, in units of A²: BITMEAN's error
// is then at most a tenth of the range; that of a debiased sign a tenth; and each of the four
// offsets of LDP_KV1 as good.
const (
	bitMin     = 25
	signMin    = 100
	latticeMin = 400
)

// deriveBit plans LDP_BIT: everybody sends one bit, whose debiased mean has at most
// (hi-lo)·A/(2·sqrt(n)).
func (g *Design) deriveBit(f factors) error {
	need := ceil(bitMin * square(f.a))
	if g.Declaration.Expected < need {
		return few("an error of a tenth of the range takes %d reports", need)
	}
	g.addRound(spread([]Cell{{Randomiser: BitMean, Domain: MeanSteps, Keep: exact.KeepBinary(g.Declaration.Epsilon), Min: need}}, g.Declaration.Expected), 0)
	return nil
}

// deriveKnown plans LDP_KV2 and LDP_KV1. Residues of floor(t/2^j) modulo 4 at levels j < L locate
// the mean: the coarsest repeats after 2^(L+1) >= R+12, so no two means within [lo,hi] look alike.
// A tenth of the contributors, k_min a level at least, do that; the others send on which side of it
// they are.
func (g *Design) deriveKnown(f factors) error {
	d := &g.Declaration
	r := (d.Hi - d.Lo) / d.Sigma
	if r > MaxRange {
		return bad("(hi-lo)/sigma is %g.", r).With("Declare a range of at most %d sigma.", MaxRange)
	}
	g.setResidues(r, r+12, 2, f)
	levels := uint64(g.Derived.Residues)
	each := max(g.Derived.LevelMin, d.Expected/(10*levels))
	if 2*each*levels > d.Expected {
		return few("%d levels of at least %d contributors are more than half", levels, g.Derived.LevelMin)
	}
	first := residueCells(d.Epsilon, each, g.Derived)
	rest := d.Expected - each*levels
	if g.Protocol == LDPKV2 {
		return g.addSides(first, rest, f)
	}
	return g.addLattice(first, rest, f)
}

// addSides adds the rounds of LDP_KV2: residues, then the side of round 1's centre.
func (g *Design) addSides(first []Cell, rest uint64, f factors) error {
	need := ceil(signMin * square(f.a))
	if rest < need {
		return few("round 2 takes %d reports", need)
	}
	g.addRound(first, 0)
	g.addRound([]Cell{{Randomiser: BRR, Domain: 2, Keep: exact.KeepBinary(g.Declaration.Epsilon), Quota: rest, Min: need}}, 0)
	return nil
}

// addLattice adds the one round of LDP_KV1: residues, and the sides of four lattices of spacing 8
// sigma, one sigma apart.
func (g *Design) addLattice(first []Cell, rest uint64, f factors) error {
	need := ceil(latticeMin * square(f.a))
	if rest < need {
		return few("the sides take %d reports", need)
	}
	sides := make([]Cell, 4)
	for o := range sides {
		sides[o] = Cell{Randomiser: BRR, Domain: 2, Keep: exact.KeepBinary(g.Declaration.Epsilon), Min: (need + 3) / 4, Offset: o}
	}
	g.addRound(append(first, spread(sides, rest)...), 0)
	return nil
}

// deriveUnknown plans LDP_UV2 and LDP_UV1, in units of sigma_min. Two unknowns need twice the
// reports a level; LDP_UV2 sets a fifth aside for them, and LDP_UV1 everybody.
func (g *Design) deriveUnknown(f factors) error {
	d := &g.Declaration
	r, scales := (d.Hi-d.Lo)/d.SigmaMin, d.SigmaMax/d.SigmaMin
	reach := r + float64(12*scales)
	if r > MaxRange || !(reach <= MaxReach) {
		return bad("(hi-lo)/sigma_min is %g and sigma_max/sigma_min is %g.", r, scales).
			With("Declare a range of at most %d sigma_min, and (hi-lo) + 12 sigma_max of at most %d sigma_min.", MaxRange, MaxReach)
	}
	g.setResidues(r, reach, 4, f)
	g.Derived.Scales = scales
	levels := uint64(g.Derived.Residues)
	if least := levels * g.Derived.LevelMin; d.Expected < least {
		return few("%d levels of at least %d contributors are %d", levels, g.Derived.LevelMin, least)
	}
	if g.Protocol == LDPUV1 {
		g.addRound(spread(residueCells(d.Epsilon, 0, g.Derived), d.Expected), levels*g.Derived.LevelMin)
		return nil
	}
	each := max(g.Derived.LevelMin, d.Expected/(5*levels))
	return g.addWindow(residueCells(d.Epsilon, each, g.Derived), d.Expected-each*levels, f)
}

// addWindow adds the rounds of LDP_UV2: residues, then the place within round 1's window.
func (g *Design) addWindow(first []Cell, rest uint64, f factors) error {
	need := ceil(signMin * square(f.a))
	if rest < need {
		return few("round 2 takes %d reports", need)
	}
	last := Cell{Randomiser: BitMean, Domain: MeanSteps, Keep: exact.KeepBinary(g.Declaration.Epsilon), Quota: rest, Min: need}
	if g.Declaration.Option == "laplace" {
		last = Cell{Randomiser: DLAP, Domain: LaplaceSteps, Quota: rest, Min: need}
	}
	g.addRound(first, 0)
	g.addRound([]Cell{last}, 0)
	return nil
}

// setResidues derives L = max(2, ceil(log2(reach))-1) and k_min = ceil(c·A4²·ln(L/β)). The c is
// measured: with 2 (sigma known) and 4 (unknown) a mean is missed in less than 5 % of the runs.
func (g *Design) setResidues(r, reach, c float64, f factors) {
	levels := 1
	for period := 4.0; period < reach; period *= 2 {
		levels++
	}
	levels = max(2, levels)
	g.Derived.Range, g.Derived.Residues = r, levels
	g.Derived.LevelMin = ceil(float64(float64(c*square(f.a4)) * strict.Log(float64(levels)/failure)))
}

// residueCells returns the cells of four-ary response on residues, level 0 first. Half of k_min
// must arrive.
func residueCells(eps exact.Epsilon, quota uint64, v Derived) []Cell {
	keep := exact.KeepKary(eps, 4)
	cells := make([]Cell, v.Residues)
	for j := range cells {
		cells[j] = Cell{Randomiser: KRR, Domain: 4, Keep: keep, Quota: quota, Min: (v.LevelMin + 1) / 2, Level: j}
	}
	return cells
}

// deriveHier plans LDP_HIER: everybody reports their node of one level of a tree of fan-out 4.
func (g *Design) deriveHier(f factors) error {
	d := &g.Declaration
	need := treeMin(f, d.Levels)
	if d.Expected < need {
		return few("a tree of %d levels takes %d reports", d.Levels, need)
	}
	g.addRound(spread(treeCells(d, f, d.Levels, need), d.Expected), need)
	return nil
}

// treeCells returns the cells of a tree of h levels: four-ary and larger k-ary response while its
// variance is the smaller, which is where 4^level <= 3e^ε+2, and unary encoding beyond. Declared as
// zCDP, every level is unary encoding, whose loss is ε²/4 and not ε²/2. A level must bring half of
// its even share of need.
func treeCells(d *Declaration, f factors, h int, need uint64) []Cell {
	flip := exact.FlipUnary(d.Epsilon)
	cells := make([]Cell, h)
	for i := range cells {
		nodes := geometry.Leaves(i + 1)
		cells[i] = Cell{Randomiser: OUE, Domain: nodes, Keep: flip, Level: i + 1, Min: half(need, h)}
		if d.Option != "zcdp" && float64(nodes) <= float64(3*f.e)+2 {
			cells[i].Randomiser, cells[i].Keep = KRR, exact.KeepKary(d.Epsilon, nodes)
		}
	}
	return cells
}

// half returns half of each of parts' even share of need, rounded up.
func half(need uint64, parts int) uint64 {
	d := 2 * uint64(parts)
	return (need + d - 1) / d
}

// deriveHaar plans LDP_HAAR: everybody reports one level's block and side, by one bit of a Hadamard
// transform.
func (g *Design) deriveHaar(f factors) error {
	d := &g.Declaration
	need := ceil(square(f.a*float64(d.Levels)) * 16 / 12) // a typical prefix has A·k/√(12N) of k levels
	if d.Expected < need {
		return few("%d levels take %d reports", d.Levels, need)
	}
	keep := exact.KeepBinary(d.Epsilon)
	cells := make([]Cell, d.Levels)
	for i := range cells {
		cells[i] = Cell{Randomiser: HRR, Domain: 1 << (d.Levels - i - 1), Keep: keep, Level: i + 1, Min: half(need, d.Levels)}
	}
	g.addRound(spread(cells, d.Expected), need)
	return nil
}

// boxFailure is β', the share of runs in which a coordinate of some rotated vector leaves the box
// or, for Gaussian data, a vector leaves the ball. Both only clip.
const boxFailure = 0.1

// ball returns R_p, the norm that vectors are clipped to: declared, or for Gaussian data with mean
// of norm at most centre_norm and covariance at most sigma_max², centre_norm + 2 sigma_max sqrt(d +
// ln(4n/0.1)) [HLY21].
func ball(d *Declaration) float64 {
	if d.Radius != 0 {
		return d.Radius
	}
	tail := float64(d.Dimension) + strict.Log(float64(4*d.Expected)/boxFailure)
	return d.Centre + float64(2*d.SigmaMax*math.Sqrt(tail))
}

// padded returns the least power of two that is at least d, or MaxRotated if that is less.
func padded(d int) int {
	n := 1
	for n < d && n < MaxRotated {
		n *= 2
	}
	return n
}

// setRotated derives what both *_SCM3 share: the padded dimension, the ball, the box that a rotated
// vector's coordinates stay in (R_p·sqrt(2 ln(4dn/0.1)/d) [HLY21, Lemma 6], never more than R_p),
// and the levels of round 1's trees over it, so that leaves are as wide as the declared resolution.
func (g *Design) setRotated(most int) {
	d, v := &g.Declaration, &g.Derived
	v.Padded, v.Ball = padded(d.Dimension), ball(d)
	n := float64(v.Padded)
	spreadOut := math.Sqrt(2 * strict.Log(float64(4*n*float64(d.Expected))/boxFailure) / n)
	v.Box = float64(v.Ball * min(1, spreadOut))
	v.BoxLevels = 1
	for v.BoxLevels < most && float64(float64(geometry.Leaves(v.BoxLevels))*d.Resolution) < 2*v.Box {
		v.BoxLevels++
	}
}

// deriveRotatedLocal plans LDP_SCM3: trees of every coordinate find a centre, a tree of norms about
// it finds how far to clip, and the rest send directions. A coordinate's tree needs its minimum of
// reports; at least 30 %, at most half of the contributors go there, and 10 % to the norms.
func (g *Design) deriveRotatedLocal(f factors) error {
	d, v := &g.Declaration, &g.Derived
	g.setRotated(MaxLeaves)
	dims := uint64(v.Padded)
	trees := dims * treeMin(f, v.BoxLevels)
	if 2*trees > d.Expected {
		return few("the trees of %d coordinates take %d reports, more than half", dims, trees)
	}
	n1 := max(trees, d.Expected*3/10)
	n2 := d.Expected / 10
	norms := treeMin(f, geometry.BucketLevels)
	if n2 < norms {
		return few("the tree of norms takes %d reports, a tenth", norms)
	}
	last, err := g.lastLocal(f, d.Expected-n1-n2)
	if err != nil {
		return err
	}
	g.addRound(spread(g.boxCells(f, trees/dims), n1), trees)
	g.addRound(spread(treeCells(d, f, geometry.BucketLevels, norms), n2), norms)
	g.addRound([]Cell{last}, 0)
	return nil
}

// boxCells returns the cells of round 1: for each coordinate the levels of its tree.
func (g *Design) boxCells(f factors, need uint64) []Cell {
	tree := treeCells(&g.Declaration, f, g.Derived.BoxLevels, need)
	cells := make([]Cell, 0, g.Derived.Padded*len(tree))
	for j := range g.Derived.Padded {
		for _, c := range tree {
			c.Coordinate = j
			cells = append(cells, c)
		}
	}
	return cells
}

// lastLocal returns the cell of round 3 with n contributors, and sets ClipTarget: beyond which
// share of norms clipping costs as much as it saves. It must not be more than a half.
func (g *Design) lastLocal(f factors, n uint64) (Cell, error) {
	d, v := &g.Declaration, &g.Derived
	c := Cell{Randomiser: Sphere, Domain: uint64(v.Padded), Keep: exact.KeepBinary(d.Epsilon), Quota: n}
	c.Min = ceil(square(2 * f.a / sphereMean(v.Padded)))
	v.ClipTarget = f.a / float64(sphereMean(v.Padded)*math.Sqrt(float64(n)))
	if d.Option != "" {
		v.Rho = rhoOf(d)
		c.Randomiser, c.Keep = DGAUSS, 0
		c.Min = ceil(8 * float64(v.Padded) / v.Rho)
		v.ClipTarget = math.Sqrt(2 * float64(v.Padded) / float64(v.Rho*float64(n)))
		if err := v.checkGauss(); err != nil {
			return c, err
		}
	}
	if n < c.Min {
		return c, few("round 3 takes %d reports", c.Min)
	}
	return c, nil
}

// rhoOf returns the zCDP loss of round 3 with the discrete Gaussian: ε²/4 if the collection is
// declared as zCDP, which is the loss of unary encoding at ε too; else the largest ρ with ρ +
// 2·sqrt(ρ·ln(1/δ)) <= ε [BS16, Proposition 1.3], which is (ε/(sqrt(ln(1/δ)+ε) + sqrt(ln(1/δ))))².
// Rounded down, by far more than floats err.
func rhoOf(d *Declaration) float64 {
	eps := d.Epsilon.Float()
	root := eps / 2
	if d.Option == "gauss" {
		l := -strict.Log(d.Delta)
		root = eps / (math.Sqrt(l+eps) + math.Sqrt(l))
	}
	return float64(square(root) * (1 - slack))
}

// slack is what floats that privacy rests on are moved by to the safe side, relatively.
const slack = 1e-12

// gaussBound returns S² = 65536²·d, the square of the bound of vectors on the grid of DGAUSS.
func (v *Derived) gaussBound() uint64 { return GridRoot * GridRoot * uint64(v.Padded) }

// gaussVariance returns the least integer σ² at which adding discrete Gaussians to vectors of norm
// S is ρ-zCDP: replacing a vector moves it by at most 2S, and (2S)²/(2σ²) <= ρ [CKS20, Theorem 14].
func (v *Derived) gaussVariance() uint64 {
	return ceil(float64(2*float64(v.gaussBound())/v.Rho) * (1 + slack))
}

// gaussLimit returns the largest size of a coordinate that is accepted: S + 12σ, beyond which noise
// is with a probability below 1e-32.
func (v *Derived) gaussLimit() uint64 {
	return rootUp(v.gaussBound()) + 12*rootUp(v.gaussVariance())
}

// checkGauss refuses noise that does not fit the four bytes of a coordinate.
func (v *Derived) checkGauss() error {
	if v.gaussLimit() > math.MaxInt32 {
		return bad("The Gaussian noise of round 3 does not fit a report: rho is %.3g in %d dimensions.", v.Rho, v.Padded).
			With("Declare a larger epsilon or delta, fewer dimensions, or leave the option out.")
	}
	return nil
}
