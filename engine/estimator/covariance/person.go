package covariance

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
)

// A person's vector has six coordinates. With m rows (1 where persons are weighed alike), a and b
// the sums of the deviations x − c of the two arguments from their centres in units of their
// radiuses, A and B those of their squares, C that of their products,
//
//	u = (m/2, a/2, b/2, A, √2·C, B)
const dim = 6

// Weights of the number of rows, the sums and the products. That of the products makes the length
// of a row's vector the same in every direction of the plane; the first two are as those of a
// variance.
const (
	rowsWeight = 0.5
	sumWeight  = 0.5
	math2      = math.Sqrt2
)

// shrink is the part of a clipped vector that is left off, as a power of two: see acute.
const shrink = 18

// person returns the vector of person i.
func (e moments) person(in estimator.Input, i int, c, kappa [2]int64) [dim]float64 {
	x, y := e.one(in, i, 0, c[0]), e.one(in, i, 1, c[1])
	m := 1.0
	between := 0.0
	if e.rows {
		rows := in.Columns[0][i]
		m = float64(rows)
		t, u := clamp(in.Columns[1][i]), clamp(in.Columns[4][i])
		between = scalar.Between(rows, t, u, in.Columns[7][i], uint64(in.Columns[8][i]))
		between = math.Ldexp(between, int(e.centred[0].Shift)+int(e.centred[1].Shift))
		if most := math.Sqrt(x.within) * math.Sqrt(y.within); !(math.Abs(between) <= most) {
			between = math.Copysign(most, between) // saturated columns
		}
	}
	k, l := float64(kappa[0]), float64(kappa[1])
	return [dim]float64{
		rowsWeight * m, sumWeight * x.sum / k, sumWeight * y.sum / l,
		x.squares(m) / k / k, math2 * (between + x.sum*(y.sum/m)) / k / l, y.squares(m) / l / l,
	}
}

// one is a person's sum of deviations from a centre and the sum of squares about the person's own
// mean, in units of the person means.
type one struct{ sum, within float64 }

// squares is the sum of squares about the centre.
func (o one) squares(m float64) float64 { return o.within + o.sum*(o.sum/m) }

// one returns the deviations of argument j of a person from c.
func (e moments) one(in estimator.Input, i, j int, c int64) one {
	centred, m := e.centred[j], in.Columns[0][i]
	at := 1 + j // of the sums
	if !e.rows {
		return one{sum: float64(centred.Of(m, in.Columns[at][i]) - c)}
	}
	at = 1 + 3*j
	total := clamp(in.Columns[at][i])
	within := scalar.Within(m, total, in.Columns[at+1][i], uint64(in.Columns[at+2][i]))
	return one{scalar.Deviation(m, total, c, centred.Shift), math.Ldexp(within, 2*int(centred.Shift))}
}

func clamp(x int64) int64 { return min(max(x, -estimator.MaxUnits), estimator.MaxUnits) }

// acute makes a clipped vector shorter by 2^-18: then two of them are at most √2 radiuses apart, as
// those before the rounding are: see New.
func acute(y *[dim]int64) {
	for j := range y {
		y[j] -= y[j] / (1 << shrink)
	}
}
