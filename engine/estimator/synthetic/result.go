package synthetic

import (
	"math"
	"math/big"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
)

// Result is a synthetic table as it was released: everything in it may be shown.
type Result struct {
	Total  float64 // noisy number of persons
	Rows   [][]uint16
	Rounds []Round
	Pairs  []Pair
}

// Pair is how far the rows are off in the table of two columns.
type Pair struct {
	Columns [2]int
	// Variation is the noisy total variation distance between the shares of the rows and of the
	// persons, StdErr the standard deviation of its noise.
	Variation, StdErr float64
}

// answer measures how far the rows are off in each pair of columns, and puts all that is released
// into an estimate.
//
// The distance ‖exact − made‖₁ of a pair moves by 1 at most where one person comes or goes, by 2
// where one is exchanged; all of them are one vector with Gaussian noise.
func (r *run) answer() estimator.Estimate {
	v := []float64{r.total.persons(), float64(r.fit.count()), float64(len(r.done)), float64(len(r.pairs))}
	for _, d := range r.done {
		v = append(v, float64(len(d.Columns)))
		for _, i := range d.Columns {
			v = append(v, float64(i))
		}
		v = append(v, d.Rho, d.StdErr)
	}
	if len(r.pairs) > 0 {
		x := r.reportNoise()
		for i, d := range r.distances() {
			share := 1 / (2 * r.total.persons())
			v = append(v, float64(r.pairs[i].columns[0]), float64(r.pairs[i].columns[1]), share*float64(x.Add(r.n, d)), share*x.Sigma())
		}
	}
	for _, code := range r.fit.rows {
		v = append(v, float64(code))
	}
	return estimator.Estimate{Values: v}
}

// reportNoise is that of the distances of all pairs together.
func (s synthetic) reportNoise() scalar.Noise {
	delta := s.p.Relation.Factor()
	l2 := new(big.Int).Mul(big.NewInt(delta*delta), big.NewInt(int64(len(s.pairs))))
	return scalar.NewNoise(estimator.Params{Rho: s.p.Rho}, l2, 1, reportShare*s.p.Rho)
}

// distances are those of all pairs.
func (r *run) distances() []int64 {
	out := make([]int64, len(r.pairs))
	for i := range r.pairs {
		out[i] = distance(r.exact[len(r.sizes)+i], r.made(&r.pairs[i]))
	}
	return out
}

// ResultOf reads an answer of an estimator of so many columns.
func ResultOf(e estimator.Estimate, columns int) Result {
	v := e.Values
	next := func() float64 {
		x := v[0]
		v = v[1:]
		return x
	}
	r := Result{Total: next()}
	rows, rounds, pairs := int(next()), int(next()), int(next())
	for range rounds {
		d := Round{Columns: make([]int, int(next()))}
		for k := range d.Columns {
			d.Columns[k] = int(next())
		}
		d.Rho, d.StdErr = next(), next()
		r.Rounds = append(r.Rounds, d)
	}
	for range pairs {
		r.Pairs = append(r.Pairs, Pair{Columns: [2]int{int(next()), int(next())}, Variation: math.Max(0, next()), StdErr: next()})
	}
	for range rows {
		row := make([]uint16, columns)
		for k := range row {
			row[k] = uint16(next())
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}
