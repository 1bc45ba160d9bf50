package dataset

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"scrim/bench/internal/named"
	"scrim/engine/estimator"
)

// factored is a Gaussian x = mu + Lz + e, with z standard normal and, where noisy, e too. The
// factor L is drawn anew for every sample.
func (s *Set) factored(mu float64, noisy bool, factor func(r rng) *mat.Dense) {
	truth := constant(s.Dim, mu)
	s.draw = func(r rng) (*estimator.Block, []float64, error) {
		l := factor(r)
		return s.dense(r, func(part int, r rng, _ int, x []float64) {
			g := r.part(part)
			persons := len(x) / s.Dim
			out := mat.NewDense(persons, s.Dim, x)
			out.Mul(mat.NewDense(persons, s.Dim, normals(g, len(x))), l.T())
			for i := range x {
				x[i] += mu
				if noisy {
					x[i] += g.NormFloat64()
				}
			}
		}), truth, nil
	}
}

// factorPart numbers the generator of a factor, apart from those of the chunks.
const factorPart = 1 << 30

func openKappa(n *named.Name, _ string) (*Set, error) {
	s := denseSet(n, 4000, 128)
	mu, kappa := n.Float("mu", 0, -1e9, 1e9), n.Float("kappa", 10, 1, 1e9)
	s.Radius = n.Float("r", 100, 0, 1e9) * math.Sqrt(float64(s.Dim))
	s.Sigma, s.SigmaMin = []float64{math.Sqrt(kappa)}, 1
	s.symmetric(n, s.Radius)
	s.factored(mu, false, func(r rng) *mat.Dense { return s.rotated(r, kappa) })
	return s, nil
}

// rotated returns A·diag(σ) with A a uniformly random rotation and σ_j² uniform in [1, kappa].
func (s *Set) rotated(r rng, kappa float64) *mat.Dense {
	g := r.part(factorPart)
	var qr mat.QR
	qr.Factorize(mat.NewDense(s.Dim, s.Dim, normals(g, s.Dim*s.Dim)))
	var q, upper mat.Dense
	qr.QTo(&q)
	qr.RTo(&upper)
	for j := range s.Dim {
		// The sign of R's diagonal makes Q uniform; then the scale.
		scale := math.Copysign(math.Sqrt(1+(kappa-1)*g.Float64()), upper.At(j, j))
		for i := range s.Dim {
			q.Set(i, j, q.At(i, j)*scale)
		}
	}
	return &q
}

func openA2(n *named.Name, _ string) (*Set, error) {
	s := denseSet(n, 4000, 128)
	// ΛΛᵀ + I has diagonal at most 1 + (d−1)/d.
	s.Sigma, s.SigmaMin, s.Radius = []float64{math.Sqrt2}, 1, 25*math.Sqrt(float64(s.Dim))
	s.symmetric(n, s.Radius)
	s.factored(0, true, func(r rng) *mat.Dense {
		g := r.part(factorPart)
		l := mat.NewDense(s.Dim, s.Dim, nil)
		for i := range s.Dim {
			for j := i + 1; j < s.Dim; j++ {
				l.Set(i, j, g.Float64()/math.Sqrt(float64(s.Dim)))
			}
		}
		return l
	})
	return s, nil
}
