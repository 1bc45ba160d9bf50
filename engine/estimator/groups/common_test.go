package groups

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/test/stattest"
)

// meansLaw draws the means of n groups about a centre from which rows are 1 away.
type meansLaw struct {
	name   string
	differ bool
	draw   func(r *rand.Rand, n int) []float64
}

func each(draw func(r *rand.Rand) float64) func(*rand.Rand, int) []float64 {
	return func(r *rand.Rand, n int) []float64 {
		out := make([]float64, n)
		for g := range out {
			out[g] = draw(r)
		}
		return out
	}
}

func meansLaws() []meansLaw {
	normal := func(mean, spread float64) func(*rand.Rand, int) []float64 {
		return each(func(r *rand.Rand) float64 { return mean + spread*r.NormFloat64() })
	}
	return []meansLaw{
		{"alike", false, normal(0.4, 0)},
		{"a little", false, normal(0.1, 0.1)},
		{"much", true, normal(0.2, 0.5)},
		{"far", true, normal(0, 1)},
		{"skewed", true, each(func(r *rand.Rand) float64 { return 0.3*math.Exp(0.7*r.NormFloat64()) - 0.3 })},
		{"two kinds", true, each(func(r *rand.Rand) float64 { return 0.6*float64(r.IntN(2)) - 0.3 })},
		{"a tenth elsewhere", false, each(func(r *rand.Rand) float64 {
			if r.IntN(10) == 0 {
				return 0.8
			}
			return 0.05 * r.NormFloat64()
		})},
	}
}

// sumsOf draws the released sums of groups whose rows, in standard deviations of noise, fall by
// a Zipf law from most.
func sumsOf(r *rand.Rand, means []float64, most float64) []groupSum {
	const sigma = 10
	sums := make([]groupSum, len(means))
	for g, m := range means {
		rows := max(1, math.Round(most*sigma/float64(1+g)))
		sums[g] = groupSum{m*rows + sigma*r.NormFloat64(), rows + sigma*r.NormFloat64(), sigma, sigma}
	}
	return sums
}

// zipf are numbers of groups, with the rows of the largest in standard deviations of their noise.
var zipf = []struct {
	groups int
	most   float64
}{{3, 8}, {6, 12}, {20, 30}, {50, 60}}

// tally counts the means shown by a law of the groups, which have no interval of their own, and how
// many of them an interval holds, by level.
type tally struct {
	weak int
	hits map[float64]int
}

func (y *tally) count(m groupMean, exact float64) {
	if !m.common {
		return
	}
	y.weak++
	for level := range leastHeld {
		if math.Abs(m.value-exact) <= math.Sqrt2*math.Erfinv(level)*m.noise {
			y.hits[level]++
		}
	}
}

// leastHeld is how often the intervals of groups of few rows hold at least, by their level.
var leastHeld = map[float64]float64{0.5: 0.5, 0.9: 0.9, 0.95: 0.94, 0.99: 0.965}

// TestCommonLawCovers counts how often the intervals of means of groups hold that have too few rows
// for one of their own, over laws of the groups' means: on average over groups, which is what is
// promised of these. Where all groups are taken for nearly alike, they do not hold.
func TestCommonLawCovers(t *testing.T) {
	for _, law := range meansLaws() {
		for _, z := range zipf {
			name := fmt.Sprint(law.name, " ", z.groups)
			r := rand.New(stattest.Source(t, name))
			held, alike := tally{hits: map[float64]int{}}, tally{hits: map[float64]int{}}
			for range 4000 / z.groups {
				means := law.draw(r, z.groups)
				sums := sumsOf(r, means, z.most)
				c := commonOf(sums, 1)
				for g, s := range sums {
					if m := c.mean(s, 0); m.known {
						held.count(m, means[g])
					}
					if c == nil {
						continue
					}
					least := c[spreads-1]
					least.weight = 1
					if m := (common{least}).mean(s, 0); m.known {
						alike.count(m, means[g])
					}
				}
			}
			for level, least := range leastHeld {
				stattest.Accept(t, stattest.Coverage(fmt.Sprintf("%s at %v", name, level), held.hits[level], held.weak, least))
				if law.differ {
					stattest.Reject(t, stattest.Coverage(fmt.Sprintf("%s at %v, alike", name, level), alike.hits[level], alike.weak, least))
				}
			}
			t.Logf("%-20s %d of few rows, held %v", name, held.weak, held.hits)
		}
	}
}

// TestGroupsAlone: where all groups together have too few rows, and of one group, a mean is shown
// by its own rows alone, and one that no other is like is not shown.
func TestGroupsAlone(t *testing.T) {
	few := []groupSum{{20, 20, 10, 10}, {20, 34, 10, 10}}
	c := commonOf(few, 1)
	if a, b := c.mean(few[0], meanZ), c.mean(few[1], meanZ); a.known || !b.known || b.common || b.value != 20./34 {
		t.Errorf("%+v, %+v", a, b)
	}
	few[0].rows = 30 // all together have rows enough
	c = commonOf(few, 1)
	if a, b := c.mean(few[0], 0), c.mean(few[1], 0); !a.common || !b.common || math.Abs(a.value-b.value) > a.noise/4 {
		t.Errorf("together: %+v, %+v", a, b)
	}
	one := []groupSum{{200, 400, 10, 10}}
	if m := commonOf(one, 1).mean(one[0], 0); !m.known || m.value != 0.5 {
		t.Errorf("one group: %+v", m)
	}
	empty := groupSum{0, 0, 10, 10}
	if m := commonOf(one, 1).mean(empty, 0); m.known {
		t.Errorf("no rows: %+v", m)
	}
}
