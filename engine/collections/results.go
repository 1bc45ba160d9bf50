package collections

import (
	"math"

	"scrim/engine/estimator/local"
)

// Result is what is kept of an estimate at FINAL. What a protocol has no answer for is absent.
type Result struct {
	Mean      *float64  `json:"mean,omitempty"`
	StdErr    *float64  `json:"stderr,omitempty"`
	Low       *float64  `json:"low,omitempty"` // of the interval that covers the mean with 95 %
	High      *float64  `json:"high,omitempty"`
	SD        *float64  `json:"sd,omitempty"`
	SDStdErr  *float64  `json:"sd_stderr,omitempty"`
	Sum       *float64  `json:"sum,omitempty"`
	SumStdErr *float64  `json:"sum_stderr,omitempty"`
	Vector    []float64 `json:"vector,omitempty"`
	VectorErr *float64  `json:"vector_stderr,omitempty"`
	// pairs of a share and the value that it lies below
	Quantiles [][]float64 `json:"quantiles,omitempty"`
	Info      local.Info  `json:"info"`
}

// shares are those of the quantiles in results.
var shares = []float64{0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99}

// summarise asks an estimate everything.
func summarise(e Estimate) Result {
	r := Result{Info: e.Info()}
	for _, x := range []**float64{&r.Info.Outside, &r.Info.FitP, &r.Info.ShapeP, &r.Info.Clip, &r.Info.Cut} {
		if *x != nil {
			*x = finite(**x)
		}
	}
	r.Mean, r.StdErr = answered(e.Mean())
	r.Low, r.High = answered(e.Interval(0.95))
	r.SD, r.SDStdErr = answered(e.SD())
	if s, ok := e.(interface {
		Sum() (float64, float64, error)
	}); ok {
		r.Sum, r.SumStdErr = answered(s.Sum())
	}
	if v, stderr, err := e.Vector(); err == nil {
		r.Vector, r.VectorErr = v, finite(stderr)
	}
	for _, q := range shares {
		if v, err := e.Quantile(q); err == nil {
			r.Quantiles = append(r.Quantiles, []float64{q, v})
		}
	}
	return r
}

// answered returns what was answered, or nothing.
func answered(value, stderr float64, err error) (*float64, *float64) {
	if err != nil {
		return nil, nil
	}
	return finite(value), finite(stderr)
}

// finite leaves out what JSON has no number for.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
