package partition_test

import (
	"math"
	"math/big"
	"testing"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/partition"
	"scrim/internal/stattest"
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

func TestALonePersonIsShownWithProbabilityDeltaAtMost(t *testing.T) {
	for _, rho := range []float64{0.0005, 0.01, 0.1, 0.5, 3, 100} {
		for _, delta := range []float64{1e-3, 1e-6, 1e-9} {
			for _, groups := range []int{1, 3, 40, -1, -40} {
				p := partition.Params{Rho: rho, Delta: delta, MaxGroups: groups}
				sigma2 := math.Ceil(float64(groups) / (2 * rho))
				if groups < 0 { // the same under replace-one
					groups = -groups
					p.MaxGroups, p.Relation = groups, estimator.ReplaceOne
					sigma2 = math.Ceil(float64(groups) / rho)
				}
				s, err := partition.New(p)
				if err != nil {
					t.Fatal(err)
				}
				shown := func(threshold int64) float64 { return tail(sigma2, threshold-1) * float64(groups) }
				if p := shown(s.Threshold()); p > delta {
					t.Errorf("rho=%v delta=%v groups=%d: shown with %v", rho, delta, groups, p)
				}
				// Not much too high either; and two standard deviations less must be seen to be too
				// low.
				if slack := int64(2 + 0.2*math.Sqrt(sigma2)); shown(s.Threshold()-slack) <= delta {
					t.Errorf("rho=%v delta=%v groups=%d: threshold %d is higher than needed by %d", rho, delta, groups, s.Threshold(), slack)
				}
			}
		}
	}
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

// TestAnExchangeCostsTheLoss records what one person moves: with all keys of the person shared by
// others, and exchanged for as many others, the loss is ρ and not more; with the noise of
// add-remove it would be twice that.
func TestAnExchangeCostsTheLoss(t *testing.T) {
	const rho, groups = 0.1, 3
	loss := func(r estimator.Relation) *big.Rat {
		s, err := partition.New(partition.Params{Rho: rho, Delta: 1e-6, MaxGroups: groups, Relation: r})
		if err != nil {
			t.Fatal(err)
		}
		a := &stattest.Recorder{Answer: func(_ int, v, _ *big.Int) *big.Int { return v }}
		b := a.Replay(t)
		for k := range 2 * groups {
			// the person is in the keys with even numbers, or in the odd ones
			s.Keep(a, int64(5+(1-k%2)))
		}
		for k := range 2 * groups {
			s.Keep(b, int64(5+k%2))
		}
		return stattest.Loss(t, a, b)
	}
	declared := new(big.Rat).SetFloat64(rho)
	if l := loss(estimator.ReplaceOne); l.Cmp(declared) > 0 || l.Cmp(new(big.Rat).SetFloat64(0.95*rho)) < 0 {
		t.Errorf("an exchange costs %v, declared %v", l.FloatString(6), rho)
	}
	if l := loss(estimator.AddRemove); l.Cmp(declared) <= 0 {
		t.Error("the noise of add-remove passed under replace-one")
	}
	s, err := partition.New(partition.Params{Rho: rho, Delta: 1e-6, MaxGroups: groups, Relation: estimator.ReplaceOne})
	if err != nil || s.Steps()[0].Sensitivity != "l2=sqrt(6)" {
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
