package everyday

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"scrim/engine/estimator"
)

// radii are the clips that hindsight tries, from the longest person down, each this much shorter.
const (
	radii   = 64
	shorter = 0.87
)

// hindsight returns the squared error of each group under the best clip, known for nothing, at a
// loss ρ for all groups of a level, and the share that this clip takes of all answers.
//
// Each person is a vector over groups, brought to length R where it is longer. The error of a group
// is √(cut² + noise²): what the clip takes away there, and noise of ρ-zCDP for a change of R, of
// √2·R in several groups where one person is exchanged. R is the one of least error over all
// groups. A person adds to a mean their sum less the exact mean times their values, clipped on both
// sides, whose cuts add up; an exchange moves such a vector by 2R. Groups are weighed by N^-a, N
// their values, with the best a of 0, ½ and 1, and no group's error counts for more than the mean
// itself.
func (t *truth) hindsight(st Statement, aggregate int, rho float64, relation estimator.Relation) (squares []float64, cut float64) {
	squares = make([]float64, len(t.keys))
	size := 0.0
	levels := 1
	if st.Rollup {
		levels += len(st.Keys)
	}
	for l := range levels {
		at := place{aggregate, l}
		c, known := t.clipped[at]
		if !known {
			c = t.clips(st.Aggregates[aggregate], aggregate, l)
			t.clipped[at] = c
		}
		taken, of := c.best(rho, c.exchange(relation), squares)
		cut, size = cut+taken, size+of
	}
	return squares, cut / size
}

// clips are the cuts of each group at each radius and weighing, for the groups of a level.
type clips struct {
	mean   bool
	groups []int // of truth
	exact  []float64
	tried  []clip
}

type clip struct {
	radius float64
	cut    []float64 // of each group, in the answer's unit
	noise  []float64 // of each group for a noise of 1 in the vector
}

// exchange is how far a vector moves, over R, when a person is exchanged or comes.
func (c clips) exchange(r estimator.Relation) float64 {
	switch {
	case r == estimator.AddRemove:
		return 1
	case c.mean:
		return 2
	case len(c.groups) > 1:
		return math.Sqrt2
	}
	return 1
}

// best writes the squared errors under the best clip, and returns what the clip takes of all
// answers, and their size.
func (c clips) best(rho, exchange float64, out []float64) (cut, of float64) {
	least := math.Inf(1)
	var chosen []float64
	for _, k := range c.tried {
		noise := k.radius * exchange / math.Sqrt(2*rho)
		sum, list := 0.0, make([]float64, len(c.groups))
		for i := range list {
			list[i] = k.cut[i]*k.cut[i] + noise*noise*k.noise[i]*k.noise[i]
			if c.mean {
				list[i] = min(list[i], c.exact[i]*c.exact[i])
			}
			sum += list[i]
		}
		if sum < least {
			least, chosen, cut = sum, list, floats.Sum(k.cut)
		}
	}
	size := 0.0
	for _, x := range c.exact {
		size, of = size+x*x, of+math.Abs(x)
	}
	if least > size {
		cut = of // an answer of nothing
	}
	for i, g := range c.groups {
		switch {
		case chosen == nil:
		case least > size:
			out[g] = c.exact[i] * c.exact[i]
		default:
			out[g] = chosen[i]
		}
	}
	return cut, of
}

// clips tries all radii.
func (t *truth) clips(a Aggregate, aggregate, level int) clips {
	c := clips{mean: a.kind == mean}
	place := make([]int, len(t.keys))
	for g := range t.keys {
		place[g] = -1
		if x := t.exact[aggregate][g]; t.level[g] == level && !math.IsNaN(x) {
			place[g] = len(c.groups)
			c.groups, c.exact = append(c.groups, g), append(c.exact, x)
		}
	}
	values := make([]float64, len(c.groups))
	for _, list := range t.entries {
		for _, e := range list {
			if i := place[e.group]; i >= 0 {
				values[i] += e.values[aggregate].count
			}
		}
	}
	exponents := []float64{0}
	if c.mean && len(c.groups) > 1 {
		exponents = []float64{0, 0.5, 1}
	}
	for _, exponent := range exponents {
		weight, unit := make([]float64, len(values)), make([]float64, len(values))
		for i, n := range values {
			weight[i], unit[i] = 1, 1
			if c.mean {
				weight[i], unit[i] = math.Pow(n, -exponent), math.Pow(n, exponent-1)
			}
		}
		c.try(t.vectors(a, aggregate, place, weight), unit)
	}
	return c
}

// element is one coordinate of a person's vector, its size.
type element struct {
	place int
	size  float64
}

// vectors are the persons' vectors over groups.
func (t *truth) vectors(a Aggregate, aggregate int, place []int, weight []float64) [][]element {
	out := make([][]element, 0, len(t.entries))
	for _, list := range t.entries {
		var v []element
		for _, e := range list {
			i := place[e.group]
			if i < 0 {
				continue
			}
			x := a.of(e, aggregate)
			if a.kind == mean {
				x -= t.exact[aggregate][e.group] * e.values[aggregate].count
			}
			v = append(v, element{i, math.Abs(x) * weight[i]})
		}
		out = append(out, v)
	}
	return out
}

// try adds the clips of all radii; unit brings a number of the vector to the answer's.
func (c *clips) try(persons [][]element, unit []float64) {
	lengths := make([]float64, len(persons))
	longest := 0.0
	for p, v := range persons {
		for _, e := range v {
			lengths[p] += e.size * e.size
		}
		lengths[p] = math.Sqrt(lengths[p])
		longest = max(longest, lengths[p])
	}
	for radius, i := longest, 0; i < radii; radius, i = radius*shorter, i+1 {
		k := clip{radius, make([]float64, len(unit)), unit}
		for p, v := range persons {
			if lengths[p] > radius {
				for _, e := range v {
					k.cut[e.place] += e.size * (1 - radius/lengths[p]) * unit[e.place]
				}
			}
		}
		c.tried = append(c.tried, k)
	}
}
