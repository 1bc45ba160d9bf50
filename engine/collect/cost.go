package collect

import (
	"math"

	"scrim/engine/collect/exact"
	"scrim/engine/collect/internal/strict"
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
