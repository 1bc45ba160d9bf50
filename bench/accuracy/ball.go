package accuracy

import (
	"math"
	"sync"

	"scrim/bench/dataset"
	"scrim/bench/internal/named"
	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

// openBall is one vector a person with the best radius in hindsight: what the search for a radius
// costs `groups` is the difference. Each person's vector is shortened to the radius, the noise is
// the same in all groups.
func openBall(*named.Name) Method {
	return Method{Target: Totals, build: func(s *dataset.Set, c Conditions) (runner, error) {
		if s.Groups == 0 {
			return nil, errGroups
		}
		best := func(b *estimator.Block) ball { return bestBall(b, s.Groups, c) }
		if s.Fixed {
			var once sync.Once
			var kept ball
			best = func(b *estimator.Block) ball {
				once.Do(func() { kept = bestBall(b, s.Groups, c) })
				return kept
			}
		}
		return func(n noise.Noiser, x dataset.Sample) Answer {
			b := best(x.Block)
			return Answer{Values: noisy(n, b.sums, ballDeviation(b.radius, c), s.Grid.Step)}
		}, nil
	}}
}

// ball is a radius, in steps, with the sums of the vectors that are shortened to it.
type ball struct {
	radius float64
	sums   []float64
}

func noisy(n noise.Noiser, sums []float64, sd, step float64) []float64 {
	out, z := make([]float64, len(sums)), gaussian{n}
	for g := range out {
		out[g] = (sums[g] + sd*z.next()) * step
	}
	return out
}

// ballDeviation is the standard deviation of the noise of a group, in steps.
func ballDeviation(radius float64, c Conditions) float64 {
	return float64(c.Relation.Factor()) * radius / math.Sqrt(2*c.Rho)
}

// bestBall returns the ball with the least expected squared error, by sixteenths of a doubling.
func bestBall(b *estimator.Block, size int, c Conditions) (best ball) {
	exact := shortened(b, size, math.Inf(1))
	least, largest := math.Inf(1), 1.0
	for _, ch := range b.Chunks {
		for i := range ch.Persons {
			largest = max(largest, norm(ch, i))
		}
	}
	for r := largest; r > 0.5; r *= math.Pow(2, -1./16) {
		sd, s := ballDeviation(r, c), shortened(b, size, r)
		off := l2(s, exact)
		if e := off*off + float64(size)*sd*sd; e < least {
			best, least = ball{r, s}, e
		}
	}
	return best
}

// norm is the length of person i's vector, in steps.
func norm(ch estimator.Chunk, i int) float64 {
	sum := 0.0
	for e := ch.Starts[i]; e < ch.Starts[i+1]; e++ {
		v := float64(valueAt(ch, e))
		sum += v * v
	}
	return math.Sqrt(sum)
}

// shortened is the sum of the persons' vectors, each with a norm of at most the radius.
func shortened(b *estimator.Block, size int, radius float64) []float64 {
	out := make([]float64, size)
	for _, ch := range b.Chunks {
		for i := range ch.Persons {
			factor := min(1, radius/max(norm(ch, i), math.SmallestNonzeroFloat64))
			for e := ch.Starts[i]; e < ch.Starts[i+1]; e++ {
				out[ch.Index[e]] += factor * float64(valueAt(ch, e))
			}
		}
	}
	return out
}
