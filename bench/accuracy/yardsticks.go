package accuracy

import (
	"errors"
	"math"
	"slices"

	"scrim/bench/dataset"
	"scrim/bench/internal/named"
	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/engine/estimator/variance"
)

// yardsticks are methods that are not vector estimators of the core.
func yardsticks() []MethodKind {
	return []MethodKind{
		{"non-private", "", "the exact mean of the sample", openExact},
		{"mean-of-rows", "", "not private: the exact mean of all rows, where persons with many rows count more", openMeanOfRows},
		{"nothing", "", "0 for every group: what noise must stay under to tell anything", openNothing},
		{"fixed-clip", "quantile=0", "not private: clipped about 0 at a quantile of the exact norms, 0 for that of [HLY21, Theorem 2]; only the sum is noised", openFixedClip},
		{"covariance", "tcov=3, t=10, sigma-max=0", "COINPRESS's covariance of vectors with mean 0 in tcov rounds with half of ρ, then its mean in that metric in t; spreads are at most sigma-max, 0: radius/√d", openWhitened},
		{"covariance-matrix", "t=3, sigma-max=1", "that covariance itself; the error is the Frobenius norm", openCovariance},
		{"second-moment", "", "not private: the exact covariance of vectors with mean 0", openSecondMoment},
		{"variance", "", "the core's variance of one number a person", openVariance},
	}
}

func openExact(*named.Name) Method {
	return Method{build: func(*dataset.Set, Conditions) (runner, error) {
		return func(_ noise.Noiser, s dataset.Sample) Answer { return Answer{Values: s.Mean} }, nil
	}}
}

func openNothing(*named.Name) Method {
	return Method{Target: Totals, build: func(s *dataset.Set, _ Conditions) (runner, error) {
		if s.Groups == 0 {
			return nil, errGroups
		}
		return func(noise.Noiser, dataset.Sample) Answer { return Answer{Values: make([]float64, s.Groups)} }, nil
	}}
}

func openVariance(*named.Name) Method {
	return Method{Target: Variance, build: func(s *dataset.Set, c Conditions) (runner, error) {
		if s.Dim != 1 || s.Sparse {
			return nil, errors.New("works on dense sets of one dimension only")
		}
		p := s.Params()
		p.Rho, p.Relation, p.Sized = c.Rho, c.Relation, c.Relation == estimator.ReplaceOne
		e, err := variance.New(p, variance.Options{})
		if err != nil {
			return nil, err
		}
		return released(e, scalars), nil
	}}
}

// openFixedClip is the experiment behind [HLY21, Fig. 9]: how the error depends on the quantile of
// the norms at which vectors are clipped, with the search for that quantile left out. Three
// quarters of ρ are for the sum, as there.
func openFixedClip(n *named.Name) Method {
	q := n.Float("quantile", 0, 0, 1)
	return Method{build: func(s *dataset.Set, c Conditions) (runner, error) {
		if s.Sparse {
			return nil, errDense
		}
		rho, factor := 0.75*c.Rho, float64(c.Relation.Factor())
		beyond := factor * math.Sqrt(float64(s.Dim)/(2*rho))
		if q > 0 {
			beyond = (1 - q) * float64(s.Persons)
		}
		return func(n noise.Noiser, sample dataset.Sample) Answer {
			x := floats(sample.Block, s.Grid.Step)
			norms := norms(x)
			at := min(max(len(x)-int(math.Ceil(beyond)), 0), len(x)-1)
			radius := slices.Sorted(slices.Values(norms))[at]
			sum := make([]float64, s.Dim)
			for _, row := range x {
				addScaled(sum, min(1, radius/max(math.Sqrt(dot(row, row)), math.SmallestNonzeroFloat64)), row)
			}
			g := gaussian{n}
			for j := range sum {
				sum[j] = (sum[j] + factor*radius/math.Sqrt(2*rho)*g.next()) / float64(len(x))
			}
			return Answer{Values: sum}
		}, nil
	}}
}

// floats returns the vectors of a dense block in values.
func floats(b *estimator.Block, step float64) [][]float64 {
	var out [][]float64
	for _, ch := range b.Chunks {
		for i := range ch.Persons {
			row := make([]float64, b.Dim)
			for j, v := range ch.Dense[i*b.Dim : (i+1)*b.Dim] {
				row[j] = float64(v) * step
			}
			out = append(out, row)
		}
	}
	return out
}

func norms(x [][]float64) []float64 {
	out := make([]float64, len(x))
	for i, row := range x {
		out[i] = math.Sqrt(dot(row, row))
	}
	return out
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for j := range x {
		sum += x[j] * y[j]
	}
	return sum
}

func addScaled(dst []float64, a float64, x []float64) {
	for j, v := range x {
		dst[j] += a * v
	}
}

// gaussian draws standard normal numbers for yardsticks, by the polar form of uniform bits. It is
// no release.
type gaussian struct{ noise.Noiser }

func (g gaussian) next() float64 {
	u := (float64(g.Uniform()>>11) + 0.5) / (1 << 53)
	v := float64(g.Uniform()>>11) / (1 << 53)
	return math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*v)
}
