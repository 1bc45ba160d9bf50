package dataset

import (
	"math"
	"math/rand/v2"
)

// law draws numbers of mean 0 and variance 1.
type law func(g *rand.Rand) float64

// laws are the distributions of a row's coordinate, by name. The heavy-tailed ones have the moments
// up to k and, with the tail exponent k + 1/2, none from k + 1/2 on.
var laws = map[string]func(k float64) law{
	"gaussian": func(float64) law { return (*rand.Rand).NormFloat64 },
	"student":  student,
	"pareto":   pareto,
}

// student is Student's t with ν = k + 1/2 degrees of freedom, by Bailey's polar method: for (u, v)
// uniform in the unit disc and w = u² + v², u·√(ν(w^(−2/ν) − 1)/w) has the distribution.
func student(k float64) law {
	nu := k + 0.5
	scale := math.Sqrt((nu - 2) / nu)
	return func(g *rand.Rand) float64 {
		for {
			u, v := 2*g.Float64()-1, 2*g.Float64()-1
			if w := u*u + v*v; w > 0 && w <= 1 {
				return scale * u * math.Sqrt(nu*(math.Pow(w, -2/nu)-1)/w)
			}
		}
	}
}

// pareto has the density a/x^(a+1) from 1 on with a = k + 1/2, moved and scaled: all of its tail is
// on one side.
func pareto(k float64) law {
	a := k + 0.5
	mean, sd := a/(a-1), math.Sqrt(a/(a-2))/(a-1)
	return func(g *rand.Rand) float64 {
		return (math.Pow(1-g.Float64(), -1/a) - mean) / sd
	}
}
