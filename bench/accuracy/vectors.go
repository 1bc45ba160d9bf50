package accuracy

import (
	"errors"

	"scrim/bench/dataset"
	"scrim/bench/internal/named"
	"scrim/engine/estimator"
	"scrim/engine/estimator/vector"
)

// vectorMethods are the core's estimators of a vector's mean and variance.
func vectorMethods() []MethodKind {
	const common = "quantile=search|em, tail=optimal|sqrt_n, declare=0|1"
	return []MethodKind{
		{"auto", common, "the method that the product chooses", openVector(vector.Auto, nil)},
		{"clipped", common, "clipped mean about 0", openVector(vector.Clipped, nil)},
		{"shifted", common, "clipped mean about private medians (Shifted-CM, IOME) without rotation", openVector(vector.Shifted, nil)},
		{"shifted-rotated", common, "the same after a random rotation, as in [HLY21]", openVector(vector.Shifted, func(p *vector.Params) { p.Rotate = true })},
		{"plan", common + ", p=0, pairs=0", "PLAN [ALP24]; p=0: 2, or 1 for sparse sets; pairs=k finds the spreads from k secret pairs a group", openVector(vector.Plan, nil)},
		{"plan-unscaled", common, "PLAN without scaling", openVector(vector.Plan, func(p *vector.Params) { p.Scale = vector.Unscaled })},
		{"plan-pairs", common + ", p=0, pairs=1", "PLAN with the spreads of [ALP24, Algorithm 2]", openVector(vector.Plan, func(p *vector.Params) { p.Scale, p.Pairs = vector.Pairs, 1 })},
		{"coinpress", "t=4, sigma=0", "COINPRESS's mean, told the radius and the spreads of the set, or sigma for all", openCoinpress},
		{"vector-variance", "pairs=0", "variances of the coordinates", openVectorVariance},
	}
}

// params are the public facts of a set for the core's vector estimators.
func params(s *dataset.Set, c Conditions) vector.Params {
	p := vector.Params{Params: s.Params(), Dim: s.Dim, Sparse: s.Sparse}
	p.Rho, p.Relation, p.Sized = c.Rho, c.Relation, c.Relation == estimator.ReplaceOne
	return p
}

// declare tells the radius and the spreads of a set.
func declare(p *vector.Params, s *dataset.Set) {
	p.Radius, p.Sigma, p.SigmaMin = s.Radius, s.Sigma, s.SigmaMin
	for _, x := range s.Sigma {
		p.SigmaMax = max(p.SigmaMax, x)
	}
}

var errDense = errors.New("works on dense sets only")

func openVector(method vector.Method, adjust func(*vector.Params)) func(*named.Name) Method {
	return func(n *named.Name) Method {
		search := n.Word("quantile", "search", "search", "em")
		tail := n.Word("tail", "optimal", "optimal", "sqrt_n")
		declared := n.Int("declare", 0, 0, 1) == 1
		p, pairs := 0.0, 0
		if method == vector.Plan {
			p, pairs = n.Float("p", 0, 0, 64), n.Int("pairs", 0, 0, 1<<16)
		}
		return Method{build: func(s *dataset.Set, c Conditions) (runner, error) {
			q := params(s, c)
			q.Method, q.P = method, p
			if declared {
				declare(&q, s)
				q.Scale = vector.Declared
			}
			if s.Sparse && method == vector.Plan {
				q.Scale = vector.Binary
			}
			if adjust != nil {
				adjust(&q)
			}
			if pairs > 0 {
				q.Scale, q.Pairs = vector.Pairs, pairs
			}
			if search == "em" {
				q.Search = vector.Exponential
			}
			if tail == "sqrt_n" {
				q.Tail = vector.SqrtN
			}
			return meanOf(q)
		}}
	}
}

func meanOf(p vector.Params) (runner, error) {
	if p.Sparse && p.Rotate {
		return nil, errDense
	}
	return ofVectors(vector.NewMean(p))
}

func openCoinpress(n *named.Name) Method {
	t, sigma := n.Int("t", 4, 1, 64), n.Float("sigma", 0, 0, 1e9)
	return Method{build: func(s *dataset.Set, c Conditions) (runner, error) {
		p := params(s, c)
		declare(&p, s)
		p.Method, p.Rounds = vector.Coinpress, t
		if sigma > 0 {
			p.Sigma, p.SigmaMin, p.SigmaMax = []float64{sigma}, 0, 0
		}
		return meanOf(p)
	}}
}

func openVectorVariance(n *named.Name) Method {
	pairs := n.Int("pairs", 0, 0, 1<<16)
	return Method{Target: Variance, build: func(s *dataset.Set, c Conditions) (runner, error) {
		p := params(s, c)
		if pairs > 0 {
			p.Scale, p.Pairs = vector.Pairs, pairs
		}
		return ofVectors(vector.NewVariance(p, false, false))
	}}
}
