package privacy

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func (s Slack) big() *big.Float {
	hi := new(big.Float).SetMantExp(new(big.Float).SetPrec(1200).SetUint64(s.hi), 64-slackBits)
	lo := new(big.Float).SetMantExp(new(big.Float).SetPrec(1200).SetUint64(s.lo), -slackBits)
	return hi.Add(hi, lo)
}

func TestSlackRoundsUpAndAddsExactly(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	unit := math.Ldexp(1, -slackBits)
	values := []float64{0, math.SmallestNonzeroFloat64, 1e-300, unit / 2, unit, unit * 1.5, 0x1p-100, 1e-9, 0.1, 0.5, 1, 2, 3.999}
	for range 5000 {
		values = append(values, math.Ldexp(r.Float64(), r.IntN(200)-198))
	}
	var all Slack
	exact := new(big.Float).SetPrec(1200)
	for i, d := range values {
		s := slackOf(d)
		if s.big().Cmp(big.NewFloat(d)) < 0 {
			t.Fatalf("%v became less: %v", d, s)
		}
		if over := s.big(); over.Sub(over, big.NewFloat(d)).Cmp(big.NewFloat(unit)) >= 0 {
			t.Fatalf("%v became more by a unit: %v", d, s)
		}
		if f := s.Float(); big.NewFloat(f).Cmp(s.big()) < 0 || d >= unit*0x1p53 && f != d {
			t.Fatalf("%v came back as %v", d, f)
		}
		if d < 0.5 && i%20 == 0 && exact.Cmp(big.NewFloat(3)) < 0 {
			all, exact = all.add(s), exact.Add(exact, s.big())
			if all.big().Cmp(exact) != 0 {
				t.Fatalf("sum is %v, want %v", all.big(), exact)
			}
			if f := all.Float(); big.NewFloat(f).Cmp(exact) < 0 || big.NewFloat(math.Nextafter(f, 0)).Cmp(exact) > 0 {
				t.Fatalf("sum %v came back as %v", exact, f)
			}
		}
	}
	if maxSlack.add(slackOf(1)) != maxSlack || slackOf(17) != maxSlack || maxSlack.Float() < 4 {
		t.Error("no saturation")
	}
}

func TestLossArithmetic(t *testing.T) {
	l := Loss{Rho: RhoOf(0.3), DeltaEvent: 0.1, DeltaTV: 1e-30}
	n := l.Times(7)
	if n.Rho != 7*l.Rho || n.DeltaEvent < 0.7 || n.DeltaEvent > 0.7000001 {
		t.Errorf("times 7: %+v", n)
	}
	if got := (Loss{Rho: MaxRho}).Times(1 << 40).Rho; got != math.MaxUint64 {
		t.Errorf("no saturation: %v", got)
	}
	if l.Times(0) != (Loss{}) {
		t.Error("times 0 is not nothing")
	}
	if got := l.Add(l); got != l.Times(2) {
		t.Errorf("twice: %+v and %+v", got, l.Times(2))
	}
}
