package accuracy

import (
	"math"

	"scrim/bench/dataset"
	"scrim/bench/internal/named"
	"scrim/engine/estimator/noise"
)

// openWhitened is the yardstick of [HLY21, Fig. 4]: COINPRESS's covariance with half of ρ, then its
// mean in that metric.
func openWhitened(n *named.Name) Method {
	tcov, t, bound := n.Int("tcov", 3, 1, 64), n.Int("t", 10, 1, 64), n.Float("sigma-max", 0, 0, 1e9)
	return Method{build: func(s *dataset.Set, c Conditions) (runner, error) {
		most := bound
		if most == 0 {
			most = s.Radius / math.Sqrt(float64(s.Dim))
		}
		return whitened(s, c, tcov, t, most)
	}}
}

// openCovariance is COINPRESS's covariance itself. Its error to the truth is the Frobenius norm.
func openCovariance(n *named.Name) Method {
	t, bound := n.Int("t", 3, 1, 64), n.Float("sigma-max", 1, 0, 1e9)
	return Method{Target: Covariance, build: func(s *dataset.Set, c Conditions) (runner, error) {
		v, err := newCovariance(s, c, part(c.Rho, 1), t, bound)
		if err != nil {
			return nil, err
		}
		return func(n noise.Noiser, sample dataset.Sample) Answer {
			sigma, _, _, ok := v.release(n, floats(sample.Block, s.Grid.Step))
			if !ok {
				return Answer{Refused: true}
			}
			out := make([]float64, 0, s.Dim*s.Dim)
			for j := range s.Dim {
				for k := range s.Dim {
					out = append(out, sigma.At(j, k))
				}
			}
			return Answer{Values: out}
		}, nil
	}}
}

// openSecondMoment is the exact covariance of vectors with mean 0.
func openSecondMoment(*named.Name) Method {
	return Method{Target: Covariance, build: func(s *dataset.Set, _ Conditions) (runner, error) {
		if s.Sparse {
			return nil, errDense
		}
		return func(_ noise.Noiser, sample dataset.Sample) Answer {
			out := make([]float64, s.Dim*s.Dim)
			rows := floats(sample.Block, s.Grid.Step)
			for _, x := range rows {
				for i, v := range x {
					addScaled(out[i*s.Dim:(i+1)*s.Dim], v/float64(len(rows)), x)
				}
			}
			return Answer{Values: out}
		}, nil
	}}
}

// diagonal is the covariance of independent coordinates, row by row; nil where the variances are
// not known.
func diagonal(variances []float64) []float64 {
	d := len(variances)
	if d == 0 {
		return nil
	}
	out := make([]float64, d*d)
	for j, v := range variances {
		out[j*d+j] = v
	}
	return out
}
