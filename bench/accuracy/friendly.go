package accuracy

import (
	"scrim/bench/dataset"
	"scrim/bench/internal/named"
	"scrim/engine/estimator/friendly"
)

func friendlyMethods() []MethodKind {
	return []MethodKind{
		{"friendly", "declare=1|0, delta=1e-6, top=0", "the mean of persons who are near most others, with noise shaped like the spreads [DJY24, TCK22]; declare=0: the spreads are learnt", openFriendly},
	}
}

func openFriendly(n *named.Name) Method {
	declared, delta, top := n.Int("declare", 1, 0, 1) == 1, n.Float("delta", 1e-6, 1e-15, 0.5), n.Int("top", 0, 0, 1<<20)
	return Method{build: func(s *dataset.Set, c Conditions) (runner, error) {
		if s.Sparse {
			return nil, errDense
		}
		p := friendly.Params{Params: params(s, c).Params, Dim: s.Dim, Delta: delta, Top: top}
		if declared {
			p.Sigma = s.Sigma
		} else {
			p.SigmaMin = s.SigmaMin
			for _, x := range s.Sigma {
				p.SigmaMax = max(p.SigmaMax, x)
			}
		}
		return ofVectors(friendly.NewMean(p))
	}}
}
