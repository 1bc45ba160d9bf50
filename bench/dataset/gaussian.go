package dataset

import (
	"math"
	"math/rand/v2"

	"scrim/bench/internal/named"
	"scrim/engine/estimator"
)

var gaussians = []Kind{
	{"gaussian", "n=4000,d=128,mu=0,sd=1,r=50,range=r√d", "N(mu, sd²·I); the norm of the mean is declared to be at most r√d [HLY21, Fig. 1, 2]", openGaussian},
	{"gaussian-kappa", "n=4000,d=128,mu=0,kappa=10,r=100,range=r√d", "N(mu, Σ), Σ a random rotation of variances uniform in [1, kappa] [HLY21, Fig. 3, 4, 6]", openKappa},
	{"gaussian-a", "n=4000,d=128,range=25√d", "N(0, I) [ALP24, Table 1, Gaussian A]", openA},
	{"gaussian-b", "n=10000,d=512,alpha=1,range=50d√σ_max", "N(10, diag((d/j)^alpha)) [ALP24, Table 1, Gaussian B]", openSkewed(512, 1, false)},
	{"gaussian-c", "n=10000,d=128,alpha=2,range=50d√σ_max", "the same, with alpha 2 [ALP24, Table 1, Gaussian C]", openSkewed(128, 2, false)},
	{"gaussian-a2", "n=4000,d=128,range=25√d", "N(0, ΛΛᵀ+I), Λ strictly upper triangular, uniform in (0, 1/√d) [ALP24, App. E, Gaussian A′]", openA2},
	{"gaussian-c2", "n=10000,d=128,alpha=2,range=50d√σ_max", "Gaussian C with correlation 1/2 between all coordinates [ALP24, App. E, Gaussian C′]", openSkewed(128, 2, true)},
	{"ladder", "n=500,d=128,power=1", "person i has i^power in every coordinate [HLY21, Fig. 9]", openLadder},
}

// dense set of n persons in d dimensions.
func denseSet(n *named.Name, persons, dim int) *Set {
	s := &Set{Persons: n.Int("n", persons, 0, 1<<24), Dim: n.Int("d", dim, 1, 1<<17), P: 2}
	s.Entries = s.Persons * s.Dim
	return s
}

// symmetric declares the range ±range, 0 for none.
func (s *Set) symmetric(n *named.Name, preset float64) {
	half := n.Float("range", preset, 0, 1e12)
	s.setRange(-half, half)
}

// normal makes s draw coordinate j independently from N(mu, sd(j)²), sd of length Dim or 1.
func (s *Set) normal(mu float64, sd []float64) {
	truth := constant(s.Dim, mu)
	for j := range s.Dim {
		s.Variances = append(s.Variances, sd[j%len(sd)]*sd[j%len(sd)])
	}
	s.draw = func(r rng) (*estimator.Block, []float64, error) {
		return s.dense(r, func(part int, r rng, _ int, x []float64) {
			g := r.part(part)
			for i := range x {
				x[i] = mu + sd[i%s.Dim%len(sd)]*g.NormFloat64()
			}
		}), truth, nil
	}
}

func openGaussian(n *named.Name, _ string) (*Set, error) {
	s := denseSet(n, 4000, 128)
	mu, sd := n.Float("mu", 0, -1e9, 1e9), n.Float("sd", 1, 0, 1e9)
	s.Radius = n.Float("r", 50, 0, 1e9) * math.Sqrt(float64(s.Dim))
	s.Sigma, s.SigmaMin = []float64{sd}, sd
	s.symmetric(n, s.Radius)
	s.normal(mu, []float64{sd})
	return s, nil
}

func openA(n *named.Name, _ string) (*Set, error) {
	s := denseSet(n, 4000, 128)
	s.Sigma, s.SigmaMin, s.Radius = []float64{1}, 1, 25*math.Sqrt(float64(s.Dim))
	s.symmetric(n, s.Radius)
	s.normal(0, []float64{1})
	return s, nil
}

// openSkewed returns Gaussian B, C and C′: mean 10, variances (d/j)^alpha, j = 1 … d, the smallest
// first.
func openSkewed(dim int, alpha float64, correlated bool) func(*named.Name, string) (*Set, error) {
	return func(n *named.Name, _ string) (*Set, error) {
		s := denseSet(n, 10000, dim)
		alpha := n.Float("alpha", alpha, 0, 4)
		d := float64(s.Dim)
		for j := s.Dim; j >= 1; j-- {
			s.Sigma = append(s.Sigma, math.Pow(d/float64(j), alpha/2))
		}
		s.SigmaMin, s.Radius = 1, 10*math.Sqrt(d)
		// The width that the published code uses; Table 1 of the paper gives the same for alpha = 2
		// only.
		s.symmetric(n, 50*d*math.Sqrt(s.Sigma[s.Dim-1]))
		s.normal(10, s.Sigma)
		if correlated {
			s.draw = s.equicorrelated(10)
		}
		return s, nil
	}
}

// equicorrelated draws N(mu, Σ) with Σ_jj = σ_j², Σ_jk = σ_jσ_k/2.
func (s *Set) equicorrelated(mu float64) func(rng) (*estimator.Block, []float64, error) {
	truth := constant(s.Dim, mu)
	return func(r rng) (*estimator.Block, []float64, error) {
		return s.dense(r, func(part int, r rng, _ int, x []float64) {
			g := r.part(part)
			for i := 0; i < len(x); i += s.Dim {
				common := g.NormFloat64()
				for j, sd := range s.Sigma {
					x[i+j] = mu + sd*math.Sqrt(0.5)*(common+g.NormFloat64())
				}
			}
		}), truth, nil
	}
}

func openLadder(n *named.Name, _ string) (*Set, error) {
	s := denseSet(n, 500, 128)
	power := n.Float("power", 1, 0, 4)
	s.setRange(0, math.Exp2(math.Ceil(math.Log2(math.Pow(float64(max(1, s.Persons)), power)))))
	s.Fixed, s.Observed = true, true
	s.draw = func(r rng) (*estimator.Block, []float64, error) {
		return s.dense(r, func(_ int, _ rng, from int, x []float64) {
			for i := range x {
				x[i] = math.Pow(float64(from+i/s.Dim+1), power)
			}
		}), nil, nil
	}
	return s, nil
}

func constant(d int, x float64) []float64 {
	out := make([]float64, d)
	for j := range out {
		out[j] = x
	}
	return out
}

func normals(g *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = g.NormFloat64()
	}
	return out
}
