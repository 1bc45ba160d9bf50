package functions

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/estimator/covariance"
)

// pairs computes an exact statistic of two arguments over public rows that the store does not have:
// by means and central moments that each row moves, so that no digits are lost to large means.
type pairs struct {
	of         covariance.Statistic
	args       []sql.Expression
	n          float64
	mean       [2]float64
	xx, yy, xy float64 // sums of squares and products about the means
}

// Update implements sql.AggregationBuffer.
func (p *pairs) Update(ctx *sql.Context, row sql.Row) error {
	var v [2]float64
	for i, e := range p.args {
		x, err := e.Eval(ctx, row)
		if err != nil || x == nil {
			return err
		}
		f, ok := number(ctx, x)
		if !ok {
			return nil
		}
		v[i] = f
	}
	p.n++
	dx, dy := v[0]-p.mean[0], v[1]-p.mean[1]
	p.mean[0] += dx / p.n
	p.mean[1] += dy / p.n
	p.xx += dx * (v[0] - p.mean[0])
	p.yy += dy * (v[1] - p.mean[1])
	p.xy += dx * (v[1] - p.mean[1])
	return nil
}

// Eval implements sql.AggregationBuffer: NULL where the statistic of the rows is not defined.
func (p *pairs) Eval(*sql.Context) (any, error) {
	v := math.NaN()
	switch slope := p.xy / p.yy; p.of {
	case covariance.Correlation:
		v = p.xy / math.Sqrt(p.xx*p.yy)
	case covariance.PopulationCovariance:
		v = p.xy / p.n
	case covariance.SampleCovariance:
		v = p.xy / (p.n - 1)
	case covariance.Slope:
		v = slope
	case covariance.Intercept:
		v = p.mean[0] - slope*p.mean[1]
	case covariance.Determination:
		if v = p.xy / p.xx * slope; p.xx == 0 && p.yy > 0 {
			v = 1
		}
	}
	if _, ok := finite(v); !ok {
		return nil, nil
	}
	return v, nil
}

// Dispose implements sql.AggregationBuffer.
func (*pairs) Dispose(*sql.Context) {}
