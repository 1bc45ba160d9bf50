package accuracy

import (
	"errors"
	"math"

	"scrim/bench/dataset"
	"scrim/bench/internal/named"
	"scrim/engine/estimator"
	"scrim/engine/estimator/cover"
	"scrim/engine/estimator/noise"
	"scrim/engine/estimator/person"
	"scrim/engine/estimator/vector"
)

// personMethods are the estimators for persons with many rows, and what has to be done without
// them.
func personMethods() []MethodKind {
	return []MethodKind{
		{"person", "stages=full|threaded|single, split=loss|persons, declare=0|1, k=0, pure=0|1",
			"the person-level mean [AKM25]; declare=1 tells it the spread and the number of rows; k=0: the set's; pure=1: at ε = √(2ρ), which implies ρ", openPerson},
		{"cover", "alpha=0", "the pure person-level mean over a cover [AKM25], told the spread and the number of rows, at ε = √(2ρ)", openCover},
		{"rows-as-persons", "method=auto|shifted|clipped|coinpress, declare=0|1",
			"a mean of rows that protects rows: one person of m rows is m of its persons, so it runs at ρ/m² to keep ρ for a person", openRowsAsPersons},
	}
}

// pureEpsilon is the ε whose pure releases have the loss ρ in zCDP: ε²/2 = ρ [BS16].
func pureEpsilon(rho float64) float64 { return math.Sqrt(2*rho) * (1 - 1e-12) }

var errRows = errors.New("works on dense sets of persons with rows only")

func openPerson(n *named.Name) Method {
	stages := []person.Stages{person.Full, person.Threaded, person.Single}[n.Index("stages", "full", "threaded", "single")]
	split := []person.Split{person.Loss, person.Persons}[n.Index("split", "loss", "persons")]
	declared, pure, k := n.Int("declare", 0, 0, 1) == 1, n.Int("pure", 0, 0, 1) == 1, n.Float("k", 0, 0, 64)
	return Method{build: func(s *dataset.Set, c Conditions) (runner, error) {
		if s.Sparse {
			return nil, errRows
		}
		p := person.Params{Params: params(s, c).Params, Dim: s.Dim, Moment: k, Stages: stages, Split: split}
		if k == 0 {
			p.Moment = s.Moment
		}
		if declared {
			p.Sigma, p.Rows = s.RowSigma, float64(max(1, s.Rows))
		}
		if pure {
			p.Epsilon, p.Rho = pureEpsilon(c.Rho), 0
		}
		return ofVectors(person.NewMean(p))
	}}
}

func openCover(n *named.Name) Method {
	alpha := n.Float("alpha", 0, 0, 1e9)
	return Method{build: func(s *dataset.Set, c Conditions) (runner, error) {
		if s.Sparse || s.RowSigma == 0 {
			return nil, errRows
		}
		p := cover.Params{Params: params(s, c).Params, Dim: s.Dim, Persons: int64(s.Persons), Error: alpha,
			Moment: s.Moment, Sigma: s.RowSigma, Rows: float64(max(1, s.Rows))}
		p.Epsilon, p.Rho = pureEpsilon(c.Rho), 0
		return ofVectors(cover.NewMean(p))
	}}
}

// openRowsAsPersons is what a system that protects one row has to do for a person of m rows: by
// group privacy of zCDP m rows together lose m² times the loss of one [BS16, Proposition 27], so
// rows get ρ/m². With MostRows rows at most.
func openRowsAsPersons(n *named.Name) Method {
	method := []vector.Method{vector.Auto, vector.Shifted, vector.Clipped, vector.Coinpress}[n.Index("method", "auto", "shifted", "clipped", "coinpress")]
	declared := n.Int("declare", 0, 0, 1) == 1 || method == vector.Coinpress
	return Method{build: func(s *dataset.Set, c Conditions) (runner, error) {
		if s.MostRows < 1 {
			return nil, errRows
		}
		m := float64(s.MostRows)
		p := params(s, c)
		p.Method, p.MaxRows, p.Rho = method, 1, c.Rho/(m*m)
		if declared {
			declare(&p, s)
			p.Sigma, p.SigmaMin, p.SigmaMax = []float64{s.RowSigma}, 0, 0
		}
		e, err := vector.NewMean(p)
		if err != nil {
			return nil, err
		}
		return released(e, rows), nil
	}}
}

// rows is the sample with a vector a row.
func rows(s dataset.Sample) estimator.Input {
	b := s.Rows()
	return estimator.Input{Persons: b.Persons(), Vectors: b}
}

// openMeanOfRows is the exact mean of all rows: SQL's AVG, where every row counts the same and not
// every person.
func openMeanOfRows(*named.Name) Method {
	return Method{build: func(s *dataset.Set, _ Conditions) (runner, error) {
		if s.MostRows < 1 {
			return nil, errRows
		}
		return func(_ noise.Noiser, x dataset.Sample) Answer {
			return Answer{Values: dataset.MeanOf(x.Rows(), s.Grid.Step)}
		}, nil
	}}
}
