package accuracy

import (
	"errors"
	"math"

	"scrim/bench/dataset"
	"scrim/bench/internal/named"
	"scrim/engine/estimator"
	"scrim/engine/estimator/count"
	"scrim/engine/estimator/groups"
	scalarmean "scrim/engine/estimator/mean"
	"scrim/engine/estimator/noise"
)

func groupMethods() []MethodKind {
	return []MethodKind{
		{"groups", "", "all groups as one vector of each person", openGroups},
		{"box", "groups=0, bound=0", "bounds that are the same for all: at most so many groups of a person, chosen at random, and at most so much in each, with Gaussian noise for that; " +
			"0: the best in hindsight, chosen by the exact expected error on the data, which no private system can do", openBox},
		{"ball", "", "one vector a person, shortened to the radius that is best in hindsight, with the same Gaussian noise in all groups: not private", openBall},
		{"per-group", "groups=0", "each group by itself with its own private bound, after at most so many groups of each person are kept at random; 0: the product's choice without groups as a vector", openPerGroup},
	}
}

var errGroups = errors.New("works on sets of groups only")

func openGroups(*named.Name) Method {
	return Method{Target: Totals, build: func(s *dataset.Set, c Conditions) (runner, error) {
		if s.Groups == 0 {
			return nil, errGroups
		}
		return ofVectors(groups.New(groups.Params{Rho: c.Rho, Relation: c.Relation, Groups: s.Groups,
			Aggregates: []groups.Aggregate{{Measure: s.Measure, Grid: s.Grid}}}))
	}}
}

// The product's bounds on the groups of a person, from the planner: all where they are few.
const (
	allGroups     = 24
	defaultGroups = 8
)

// openPerGroup is GROUP BY with an estimator for each group. Of a person at most L groups are kept;
// one person's groups lose together L times what one loses, twice that under replace-one, where old
// and new rows may be in different groups. A group without an answer counts as 0.
func openPerGroup(n *named.Name) Method {
	kept := n.Int("groups", 0, 0, 1<<20)
	return Method{Target: Totals, build: func(s *dataset.Set, c Conditions) (runner, error) {
		if s.Groups == 0 {
			return nil, errGroups
		}
		most := kept
		if most == 0 {
			most = defaultGroups
			if s.Groups <= allGroups {
				most = s.Groups
			}
		}
		most = min(most, s.Groups)
		p := estimator.Params{Rho: c.Rho / float64(most*int(c.Relation.Factor())) * (1 - 1e-12), Relation: c.Relation, Grid: s.Grid}
		e, err := ofGroup(s.Measure, p)
		if err != nil {
			return nil, err
		}
		return func(n noise.Noiser, x dataset.Sample) Answer {
			in := byGroup(x.Block, s.Groups, func(c int) []int { return choose(n, c, most) })
			out := make([]float64, s.Groups)
			for g := range out {
				columns := [][]int64{ones(len(in[g])), in[g]}
				if s.Measure != groups.Sum {
					columns = [][]int64{in[g]}
				}
				if a := e.Release(n, estimator.Input{Columns: columns, Groups: s.Groups}); a.Status == estimator.OK {
					out[g] = a.Values[0]
				}
			}
			return Answer{Values: out}
		}, nil
	}}
}

// ofGroup is the estimator of one group.
func ofGroup(m groups.Measure, p estimator.Params) (estimator.Estimator, error) {
	switch m {
	case groups.Persons:
		return count.NewUnits(p, false)
	case groups.Rows:
		return count.NewRows(p, false)
	}
	return scalarmean.NewSum(p)
}

func ones(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// byGroup returns each group's values of the persons that keep it; kept chooses among a person's c
// groups.
func byGroup(b *estimator.Block, size int, kept func(c int) []int) [][]int64 {
	out := make([][]int64, size)
	for _, ch := range b.Chunks {
		for i := range ch.Persons {
			from, to := ch.Starts[i], ch.Starts[i+1]
			for _, k := range kept(to - from) {
				g := ch.Index[from+k]
				out[g] = append(out[g], valueAt(ch, from+k))
			}
		}
	}
	return out
}

// choose draws at most k of 0 … c−1, without order.
func choose(n noise.Noiser, c, k int) []int {
	all := make([]int, c)
	for i := range all {
		all[i] = i
	}
	if c <= k {
		return all
	}
	for i := range k {
		j := i + int(n.Uniform()%uint64(c-i)) // off by 2^-40 at most: this is a yardstick
		all[i], all[j] = all[j], all[i]
	}
	return all[:k]
}

func valueAt(ch estimator.Chunk, e int) int64 {
	if ch.Values == nil {
		return 1
	}
	return ch.Values[e]
}

// box is a pair of fixed bounds: a person is in at most groups groups with at most bound in each.
type box struct {
	groups int
	bound  int64
}

// deviation is the standard deviation of the noise of one group, in steps. Add-remove: one person
// adds at most bound to each of so many groups. Replace-one: the old groups and the new ones; of
// values of both signs a group's two may be 2·bound apart.
func (b box) deviation(c Conditions, signed bool) float64 {
	l2 := float64(b.bound) * math.Sqrt(float64(b.groups))
	switch {
	case c.Relation == estimator.ReplaceOne && signed:
		l2 *= 2
	case c.Relation == estimator.ReplaceOne:
		l2 *= math.Sqrt2
	}
	return l2 / math.Sqrt(2*c.Rho)
}

// clip is a value within the bound.
func (b box) clip(v int64) int64 { return min(max(v, -b.bound), b.bound) }

func openBox(n *named.Name) Method {
	fixed := box{n.Int("groups", 0, 0, 1<<20), int64(n.Int("bound", 0, 0, 1<<40))}
	return Method{Target: Totals, build: func(s *dataset.Set, c Conditions) (runner, error) {
		if s.Groups == 0 {
			return nil, errGroups
		}
		best := bestOf(fixed, s, c)
		return func(n noise.Noiser, x dataset.Sample) Answer {
			b := best(x.Block)
			sums := make([]float64, s.Groups)
			for g, values := range byGroup(x.Block, s.Groups, func(c int) []int { return choose(n, c, b.groups) }) {
				for _, v := range values {
					sums[g] += float64(b.clip(v))
				}
			}
			sd, z := b.deviation(c, s.Grid.Lo < 0), gaussian{n}
			for g := range sums {
				sums[g] = (sums[g] + sd*z.next()) * s.Grid.Step
			}
			return Answer{Values: sums}
		}, nil
	}}
}
