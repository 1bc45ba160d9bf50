package collect

import (
	"math"
	"math/bits"

	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/internal/strict"
)

// Loss is what a contributor pays for one report: their value is exchanged for another, everything
// else stays. It is (Epsilon, Delta)-DP and Rho-zCDP at once. A person in several collections pays
// the sums.
type Loss struct {
	// ten-thousandths; a loss that is declared as zCDP may be beyond exact.MaxEpsilon
	Epsilon exact.Epsilon
	Delta   float64 // 0 for pure ε
	Rho     float64 // +Inf where there is none: shuffle collections
}

// Cost returns what a contributor of the collection pays. Each is in one round, so this is the
// largest loss of any round, in each of its numbers.
func (g *Design) Cost() Loss {
	worst := Loss{}
	for round := range g.rounds {
		l := lossOf(g.Protocol, &g.Declaration, round+1)
		worst = Loss{max(worst.Epsilon, l.Epsilon), max(worst.Delta, l.Delta), max(worst.Rho, l.Rho)}
	}
	return worst
}

// CheckNamed refuses a design of which contributors pay more than the declared epsilon, unless the
// declaration names what they pay. It is not part of Plan: a collection that was declared before
// loads, and devices refuse its parameters.
func (g *Design) CheckNamed() error { return checkNamed(g.Cost(), &g.Declaration) }

func checkNamed(paid Loss, d *Declaration) error {
	if paid.Epsilon <= d.Epsilon || d.Pays == paid.Epsilon.Float() {
		return nil
	}
	return bad("Each contributor pays epsilon %v with delta %v, more than the declared %v.", paid.Epsilon, paid.Delta, d.Epsilon).
		With(`Name it in the declaration, "pays_epsilon": %v, declare a smaller epsilon, or leave the option out.`, paid.Epsilon)
}

// checkPays refuses a name of what contributors pay that is another number.
func checkPays(p Protocol, d *Declaration) error {
	paid := lossOf(p, d, 3).Epsilon
	switch {
	case d.Pays == 0 || paid > d.Epsilon && d.Pays == paid.Float():
		return nil
	case paid <= d.Epsilon:
		return bad("pays_epsilon is %v, and contributors pay the declared epsilon.", d.Pays).With("Leave pays_epsilon out.")
	}
	return bad("pays_epsilon is %v, and contributors pay %v.", d.Pays, paid).With("Declare pays_epsilon of %v, with delta %v.", paid, WalletDelta)
}

// Cost returns what a report of this round costs.
func (p *Params) Cost() Loss { return lossOf(p.Protocol, &p.Declaration, p.Round) }

// lossOf returns the loss of a round.
//
//   - Shuffle: (ε,δ) as declared.
//   - DGAUSS by the option gauss: ρ such that it is (ε,δ) as declared, see rhoOf.
//   - DGAUSS by the option zcdp: ρ = ε²/4, stated as (ρ + 2·sqrt(ρ·ln(1/δ)), δ) with δ =
//     WalletDelta [BS16, Proposition 1.3].
//   - Everything else is ε-DP, and ε²/2-zCDP [BS16, Proposition 1.4]; with the option zcdp all of
//     it is unary encoding and ε²/4-zCDP.
func lossOf(p Protocol, d *Declaration, round int) Loss {
	info, _ := p.Info()
	eps := d.Epsilon.Float()
	switch {
	case info.Model == Shuffle:
		return Loss{d.Epsilon, d.Delta, math.Inf(1)}
	case p == LDPSCM3 && round == 3 && d.Option == "gauss":
		return Loss{d.Epsilon, d.Delta, up(rhoOf(d))}
	case p == LDPSCM3 && round == 3 && d.Option == "zcdp":
		rho := up(square(eps) / 4)
		total := rho + float64(2*math.Sqrt(-rho*strict.Log(WalletDelta)))
		return Loss{exact.Epsilon(math.Ceil(10_000 * total * (1 + slack))), WalletDelta, rho}
	case d.Option == "zcdp":
		return Loss{d.Epsilon, 0, up(square(eps) / 4)}
	}
	return Loss{d.Epsilon, 0, up(square(eps) / 2)}
}

// up returns a float above x, for x that floats were rounded to a few times.
func up(x float64) float64 { return x * (1 + slack) }

// factors are the constants of one ε that sizes and errors are made of. They have the same bits on
// every machine, since integers that devices compare follow from them.
type factors struct {
	e  float64 // e^ε
	a  float64 // A = (e^ε+1)/(e^ε-1): a debiased bit of randomised response varies by up to A/2
	a4 float64 // (e^ε+3)/(e^ε-1), the same of four-ary response
	v1 float64 // 4e^ε/(e^ε-1)²: variance of a debiased bit of unary encoding
}

func factorsOf(eps exact.Epsilon) factors {
	e := strict.Exp(eps.Float())
	return factors{e: e, a: (e + 1) / (e - 1), a4: (e + 3) / (e - 1), v1: 4 * e / float64((e-1)*(e-1))}
}

// ceil returns the least integer not below x. x is nonnegative and below 2^62.
func ceil(x float64) uint64 { return uint64(math.Ceil(x)) }

// square returns x², rounded once.
func square(x float64) float64 { return float64(x * x) }

// rootUp returns the least integer whose square is at least n.
func rootUp(n uint64) uint64 {
	r := uint64(math.Sqrt(float64(n)))
	for r > 0 && float64(r)*float64(r) > float64(n) {
		r--
	}
	for hi, lo := bits.Mul64(r, r); hi == 0 && lo < n; hi, lo = bits.Mul64(r, r) {
		r++
	}
	return r
}

// treeMin returns how many reports a tree of fan-out 4 and h levels needs for a standard error of a
// prefix of a quarter: 0.72·h·sqrt(V1/N) <= 1/4. The 0.72 is of the consistent tree, measured; see
// Forecast.
func treeMin(f factors, h int) uint64 { return ceil(float64(square(treeError*4*float64(h)) * f.v1)) }

// treeError is the standard error of a prefix of a consistent tree of fan-out 4, in units of
// h·sqrt(variance of a debiased node / reports).
const treeError = 0.72

// sphereMean returns c_d, the mean length of a uniform direction of d coordinates, a power of two,
// along a vector on whose side it lies: c_1 = 1, c_2 = 2/π, c_{d+2} = c_d·d/(d+1).
func sphereMean(d int) float64 {
	if d == 1 {
		return 1
	}
	c := 2 / math.Pi
	for k := 2; k < d; k += 2 {
		c = float64(c*float64(k)) / float64(k+1)
	}
	return c
}
