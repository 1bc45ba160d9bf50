package clipping

import (
	"math"
	"sync"
)

// perOctave is the number of radii that are tried in an octave.
const perOctave = 4

// law is a law of totals on the scale of logarithms, as masses of octaves. It may be moved by whole
// octaves: bucket i holds totals in (2^(first+i−1), 2^(first+i)], in units of the place it is moved
// to.
type law struct {
	first int
	mass  []float64
	mean  []float64 // of a total within the bucket
	mean2 []float64 // of its square
	// excess is E(x−C)⁺ for x within bucket i and C = 2^(first+i−1+j/perOctave), at i·perOctave+j.
	excess []float64
}

// spikes are the shares of persons that a law may have besides in the smallest bucket, as with
// tables in which most have one row.
var spikes = []float64{0, 0.3, 0.6, 0.85, 0.96}

// laws is the library: log-normal, log-normal cut above, gamma and Pareto laws, each at two places
// in an octave.
var laws = sync.OnceValue(func() []law {
	var all []law
	for _, at := range []float64{0, 0.5} {
		for _, sigma := range []float64{0.15, 0.35, 0.5, 0.75, 1, 1.4, 2, 2.6} {
			s := sigma / math.Ln2
			density := func(y float64) float64 { return math.Exp(-(y - at) * (y - at) / (2 * s * s)) }
			all = append(all, newLaw(density, at-5*s, at+5*s))
			if sigma < 0.75 {
				continue
			}
			for _, z := range []float64{0.7, 1.5} {
				all = append(all, newLaw(density, at-5*s, math.Ceil(at+z*s)))
			}
		}
		for _, k := range []float64{0.4, 1, 2, 4} {
			density := func(y float64) float64 {
				x := math.Exp2(y - at)
				return math.Pow(x, k) * math.Exp(-x)
			}
			all = append(all, newLaw(density, at-6/min(k, 2), at+5))
		}
		for _, a := range []float64{1.2, 1.5, 2, 3} {
			density := func(y float64) float64 {
				if y < at {
					return 0
				}
				return math.Exp2(-a * (y - at))
			}
			all = append(all, newLaw(density, at, at+16))
		}
	}
	return all
})

// newLaw returns the law with a density in y = log2 of a total, which is 0 outside of (from, to).
func newLaw(density func(y float64) float64, from, to float64) law {
	const steps = 32 // an octave
	low, high := int(math.Floor(from)), int(math.Ceil(to))
	n := high - low
	l := law{low + 1, make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n*perOctave)}
	all := 0.0
	for i := range n {
		for j := range steps {
			y := float64(low+i) + (float64(j)+0.5)/steps
			w, x := density(y), math.Exp2(y)
			all += w
			l.mass[i] += w
			l.mean[i] += w * x
			l.mean2[i] += w * x * x
			for r := range perOctave {
				l.excess[i*perOctave+r] += w * max(0, x-math.Exp2(float64(low+i)+float64(r)/perOctave))
			}
		}
	}
	for i, w := range l.mass {
		if w > 0 {
			l.mean[i] /= w
			l.mean2[i] /= w
			for r := range perOctave {
				l.excess[i*perOctave+r] /= w
			}
		}
		l.mass[i] = w / all
	}
	return l
}
