package privacy

import (
	"math"
	"testing"
)

// TestCost checks the arithmetic of costs, and that nothing named ρ carries an ε.
func TestCost(t *testing.T) {
	rho, eps := CostWithin(RhoCost, 0.75), CostWithin(PureCost, 0.75)
	if rho.Rho() != 0.75 || rho.Epsilon() != 0 || eps.Epsilon() != 0.75 || eps.Rho() != 0 {
		t.Errorf("got %v and %v", rho, eps)
	}
	most := Cost{RhoCost, math.MaxUint64}
	for name, c := range map[string]struct{ got, want Cost }{
		"rounds down":      {CostWithin(RhoCost, 1.9*CostUnit), Cost{RhoCost, 1}},
		"sum":              {Cost{RhoCost, 3}.Add(Cost{RhoCost, 4}), Cost{RhoCost, 7}},
		"sum saturates":    {most.Add(Cost{RhoCost, 4}), most},
		"difference":       {Cost{PureCost, 7}.Less(Cost{PureCost, 4}), Cost{PureCost, 3}},
		"nothing is left":  {Cost{RhoCost, 4}.Less(Cost{RhoCost, 7}), Cost{RhoCost, 0}},
		"smaller":          {most.Min(Cost{RhoCost, 7}), Cost{RhoCost, 7}},
		"parts":            {Cost{PureCost, 7}.Over(3), Cost{PureCost, 2}},
		"multiple":         {Cost{PureCost, 7}.Times(3), Cost{PureCost, 21}},
		"saturates":        {most.Times(2), most},
		"of epsilon":       {CostFor(PureCost, 0.75, 1e-8), eps},
		"of epsilon, zCDP": {CostFor(RhoCost, 1, 1e-8), Cost{RhoCost, uint64(RhoFor(1, 1e-8))}},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %v, want %v", name, c.got, c.want)
		}
	}
	for name, f := range map[string]func(){
		"two kinds": func() { rho.Add(eps) },
		"NaN":       func() { CostWithin(RhoCost, math.NaN()) },
		"negative":  func() { CostWithin(RhoCost, -1) },
		"infinite":  func() { CostWithin(PureCost, math.Inf(1)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
