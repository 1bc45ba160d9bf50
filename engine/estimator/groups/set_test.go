package groups

import (
	"math"
	"math/rand/v2"
	"slices"

	"scrim/engine/estimator"
)

// set is a data set of one number for each person and group: an experiment's truth.
type set struct {
	name    string
	groups  int
	measure Measure
	persons []map[int]int64
}

// params are the public facts of a set.
func (s set) params(rho float64, r estimator.Relation) Params {
	grid := estimator.Grid{Step: 1, Decimal: true, Hi: estimator.MaxUnits}
	return Params{Rho: rho, Relation: r, Groups: s.groups, Aggregates: []Aggregate{{Measure: s.measure, Grid: grid}}}
}

// block lays persons' columns out: entry g·width + c.
func layOut(dim int, persons []map[int]int64) *estimator.Block {
	b := &estimator.Block{Dim: dim, Sparse: true}
	for from := 0; from < len(persons); from += 10000 {
		ch := estimator.Chunk{Starts: []int{0}}
		for _, p := range persons[from:min(from+10000, len(persons))] {
			var index []int32
			for j := range p {
				index = append(index, int32(j))
			}
			slices.Sort(index)
			for _, j := range index {
				ch.Index, ch.Values = append(ch.Index, j), append(ch.Values, p[int(j)])
			}
			ch.Persons, ch.Starts = ch.Persons+1, append(ch.Starts, len(ch.Index))
		}
		b.Chunks = append(b.Chunks, ch)
	}
	return b
}

func (s set) truth() []float64 {
	t := make([]float64, s.groups)
	for _, p := range s.persons {
		for g, v := range p {
			t[g] += float64(v)
		}
	}
	return t
}

func norm(x []float64) float64 {
	q := 0.0
	for _, v := range x {
		q += v * v
	}
	return math.Sqrt(q)
}

// box is a mechanism for each group with the whole loss ρ and bounds chosen with the data in hand:
// a person is kept in most random groups, with numbers within ±limit.
type box struct {
	most  int
	limit float64
	error float64 // root mean square over the noise, ℓ2 over groups
}

// boxes returns the errors of all boxes of a grid: 1, 2, 3, 5, … groups and quantiles of the
// numbers.
func (s set) boxes(rho float64, r *rand.Rand) []box {
	var sizes []float64
	for _, p := range s.persons {
		for _, v := range p {
			sizes = append(sizes, math.Abs(float64(v)))
		}
	}
	slices.Sort(sizes)
	var limits []float64
	for _, q := range []float64{0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1} {
		limits = append(limits, sizes[min(len(sizes)-1, int(q*float64(len(sizes))))])
	}
	in := s.shuffled(r)
	var out []box
	for _, limit := range slices.Compact(limits) {
		lost, from := s.truth(), 0
		for _, most := range []int{1, 2, 3, 5, 7, 10, 14, 20, 30, 50, 70, 100, 140, 200, 300} {
			for _, p := range in { // the groups that a larger box keeps besides
				for k := from; k < min(most, len(p)); k++ {
					lost[p[k].group] -= min(max(p[k].value, -limit), limit)
				}
			}
			from = most
			bias := norm(lost)
			out = append(out, box{most, limit, math.Sqrt(bias*bias + float64(s.groups*most)*limit*limit/(2*rho))})
		}
	}
	return out
}

// entry is what a person has in a group.
type entry struct {
	group int
	value float64
}

// shuffled lists each person's entries in random order.
func (s set) shuffled(r *rand.Rand) [][]entry {
	out := make([][]entry, len(s.persons))
	for i, p := range s.persons {
		for g, v := range p {
			out[i] = append(out[i], entry{g, float64(v)})
		}
		// the order of a map is not seeded
		slices.SortFunc(out[i], func(a, b entry) int { return a.group - b.group })
		r.Shuffle(len(out[i]), func(a, b int) { out[i][a], out[i][b] = out[i][b], out[i][a] })
	}
	return out
}

// best returns the box of the least error, and the best of one group a person.
func best(boxes []box) (all, one box) {
	all.error, one.error = math.Inf(1), math.Inf(1)
	for _, b := range boxes {
		if b.error < all.error {
			all = b
		}
		if b.most == 1 && b.error < one.error {
			one = b
		}
	}
	return all, one
}
