package dataset

import (
	"math"

	"scrim/bench/internal/named"
)

var anisotropics = []Kind{
	{"anisotropic", "n=2000,d=4096,ratio=0.9,a=0,mu=10,r=50,floor=1e-4,range=r√d", "N(mu, diag(σ²)), σ_j = ratio^j·j^(−a), j = 1 … d: most of the spread is in a few coordinates; " +
		"spreads are declared as at least floor, which is about what the grid can tell apart [DJY24]", openAnisotropic},
}

func openAnisotropic(n *named.Name, _ string) (*Set, error) {
	s := denseSet(n, 2000, 4096)
	ratio, a, mu := n.Float("ratio", 0.9, 1e-3, 1), n.Float("a", 0, 0, 8), n.Float("mu", 10, -1e9, 1e9)
	least := n.Float("floor", 1e-4, 1e-9, 1)
	sd := make([]float64, s.Dim)
	for j := range sd {
		x := float64(j + 1)
		sd[j] = math.Pow(ratio, x) * math.Pow(x, -a)
		s.Sigma = append(s.Sigma, max(sd[j], least))
	}
	s.SigmaMin, s.Radius = s.Sigma[s.Dim-1], n.Float("r", 50, 0, 1e9)*math.Sqrt(float64(s.Dim))
	s.symmetric(n, s.Radius)
	s.normal(mu, sd)
	return s, nil
}
