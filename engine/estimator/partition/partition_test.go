package partition_test

import (
	"math"
	"math/big"
	"testing"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/partition"
	"scrim/test/stattest"
)

// tail returns P[N_Z(0,σ²) >= t] by summation in 200-bit floats, with enough terms for 1e-30.
func tail(sigma2 float64, t int64) float64 {
	top := int64(14*math.Sqrt(sigma2)) + 20
	z, s := new(big.Float).SetPrec(200), new(big.Float).SetPrec(200)
	for x := -top; x <= top; x++ {
		p := big.NewFloat(math.Exp(-float64(x) * float64(x) / (2 * sigma2)))
		z.Add(z, p)
		if x >= t {
			s.Add(s, p)
		}
	}
	f, _ := s.Quo(s, z).Float64()
	return f
}

func TestKeepFollowsTheThreshold(t *testing.T) {
	s, err := partition.New(partition.Params{Rho: 0.1, Delta: 1e-2, MaxGroups: 1})
	if err != nil {
		t.Fatal(err)
	}
	n := stattest.Noiser(t, "keep")
	for _, units := range []int64{1, s.Threshold() - 1, s.Threshold(), s.MinPersons(), 1 << 40} {
		p := tail(5, s.Threshold()-units)
		kept := int64(0)
		const runs = 100000
		for range runs {
			if s.Keep(n, units) {
				kept++
			}
		}
		if p > 1-1e-12 {
			if kept != runs {
				t.Errorf("%d units: kept %d of %d", units, kept, runs)
			}
			continue
		}
		stattest.Accept(t, stattest.ChiSquare("keep", []int64{kept, runs - kept}, []float64{p, 1 - p}))
		if units == s.MinPersons() && p < 0.95 {
			t.Errorf("MinPersons is shown with probability %v", p)
		}
		if units == 1 {
			q := tail(15, s.Threshold()-1)
			stattest.Reject(t, stattest.ChiSquare("under-noised", []int64{kept, runs - kept}, []float64{q, 1 - q}))
		}
	}
}

func TestMinimumRaisesTheThreshold(t *testing.T) {
	p := partition.Params{Rho: 0.1, Delta: 1e-6, MaxGroups: 2, Minimum: 500}
	s, err := partition.New(p)
	if err != nil {
		t.Fatal(err)
	}
	if s.Threshold() != 500 || s.Keep(stattest.Zero{}, 499) || !s.Keep(stattest.Zero{}, 500) {
		t.Errorf("threshold %d, want 500", s.Threshold())
	}
	if got, want := s.Loss(), (privacy.Loss{Rho: privacy.RhoOf(0.1), DeltaEvent: 1e-6}); got != want {
		t.Errorf("loss %+v, want %+v", got, want)
	}
	if len(s.Steps()) != 1 || s.Steps()[0].Rho != 0.1 {
		t.Errorf("steps %+v", s.Steps())
	}
}

// TestAPersonCostsTheLoss records what one person moves: with all keys of the person shared by
// others, coming or going costs the loss and not more, and so does an exchange for as many other
// keys; with the noise of add-remove an exchange would cost twice that.
func TestAPersonCostsTheLoss(t *testing.T) {
	const rho, most = 0.1, 4
	loss := func(r estimator.Relation, old, new int64, whole bool) *big.Rat {
		s, err := partition.New(partition.Params{Rho: rho, Delta: 1e-6, MaxGroups: most, Relation: r})
		if err != nil {
			t.Fatal(err)
		}
		weight := s.Weight
		if whole {
			weight = func(int64) int64 { return s.Weight(1) }
		}
		a := &stattest.Recorder{Answer: func(_ int, v, _ *big.Int) *big.Int { return v }}
		b := a.Replay(t)
		// the person is in the first old of them, or in the last new
		for k := range int64(2 * most) {
			before, after := 5*s.Weight(1), 5*s.Weight(1)
			if k < old {
				before += weight(old)
			}
			if k >= 2*most-new {
				after += weight(new)
			}
			s.Keep(a, before)
			s.Keep(b, after)
		}
		return stattest.Loss(t, a, b)
	}
	declared := new(big.Rat).SetFloat64(rho)
	nearly := new(big.Rat).SetFloat64(0.95 * rho)
	for held := range int64(most + 1) {
		for r, new := range map[estimator.Relation]int64{estimator.AddRemove: 0, estimator.ReplaceOne: held} {
			if l := loss(r, held, new, false); l.Cmp(declared) > 0 || held > 0 && l.Cmp(nearly) < 0 {
				t.Errorf("%v: a person of %d keys costs %v, declared %v", r, held, l.FloatString(6), rho)
			}
		}
	}
	if l := loss(estimator.AddRemove, most, most, false); l.Cmp(declared) <= 0 {
		t.Error("the noise of add-remove passed under replace-one")
	}
	if l := loss(estimator.AddRemove, most, 0, true); l.Cmp(declared) <= 0 {
		t.Error("whole weights in each key passed")
	}
	s, err := partition.New(partition.Params{Rho: rho, Delta: 1e-6, MaxGroups: most, Relation: estimator.ReplaceOne})
	if err != nil || s.Steps()[0].Sensitivity != "l2=sqrt(2)" {
		t.Errorf("steps %+v, %v", s.Steps(), err)
	}
}

func TestBadParametersAreRefused(t *testing.T) {
	good := partition.Params{Rho: 0.1, Delta: 1e-6, MaxGroups: 1}
	for name, change := range map[string]func(*partition.Params){
		"rho 0":     func(p *partition.Params) { p.Rho = 0 },
		"rho NaN":   func(p *partition.Params) { p.Rho = math.NaN() },
		"rho inf":   func(p *partition.Params) { p.Rho = math.Inf(1) },
		"rho tiny":  func(p *partition.Params) { p.Rho = 1e-300 },
		"delta 0":   func(p *partition.Params) { p.Delta = 0 },
		"delta 1":   func(p *partition.Params) { p.Delta = 1 },
		"delta NaN": func(p *partition.Params) { p.Delta = math.NaN() },
		"groups 0":  func(p *partition.Params) { p.MaxGroups = 0 },
		"groups":    func(p *partition.Params) { p.MaxGroups = 1 << 30 },
		"relation":  func(p *partition.Params) { p.Relation = 7 },
		"minimum":   func(p *partition.Params) { p.Minimum = -1 },
	} {
		p := good
		change(&p)
		if _, err := partition.New(p); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}
