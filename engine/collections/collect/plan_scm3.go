package collect

import (
	"math"

	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/geometry"
	"scrim/engine/collections/collect/internal/strict"
)

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
