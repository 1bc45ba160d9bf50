package cube

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// recorded releases the tables that fill makes, with forced answers.
func (c *Cube) recorded(t *testing.T, fill func(Tables), like *stattest.Recorder) *stattest.Recorder {
	r := &stattest.Recorder{Answer: func(_ int, v, _ *big.Int) *big.Int { return v }}
	if like != nil {
		r = like.Replay(t)
	}
	tables := c.Tables()
	fill(tables)
	c.Release(r, tables)
	return r
}

// worst is the largest loss between tables with one of the persons given, with none, and, under
// replace-one, with any other one. What is beside them does not matter: all is linear. It fails
// where the draws are not the same ones.
func (c *Cube) worst(t *testing.T, persons []func(Tables)) *big.Rat {
	t.Helper()
	crowd := func(tables Tables) {
		for i := range tables[0] {
			tables[0][i] = int64(i * i)
		}
	}
	none := c.recorded(t, crowd, nil)
	worst := new(big.Rat)
	var seen []*stattest.Recorder
	for _, p := range persons {
		with := c.recorded(t, func(tables Tables) { crowd(tables); p(tables) }, none)
		beside := []*stattest.Recorder{none}
		if c.p.Relation == estimator.ReplaceOne {
			beside = append(beside, seen...)
		}
		for _, other := range beside {
			if l := stattest.Loss(t, with, other); l.Cmp(worst) > 0 {
				worst = l
			}
		}
		seen = append(seen, with)
	}
	return worst
}

// everyone is one person in each cell.
func (c *Cube) everyone() []func(Tables) {
	var persons []func(Tables)
	for _, at := range c.points() {
		persons = append(persons, func(tables Tables) { c.Tally(tables, []Entry{{at, 1}}) })
	}
	return persons
}

// atMostRho checks that a loss is at most ρ, and near it.
func atMostRho(t *testing.T, name string, c *Cube, loss *big.Rat, least float64) {
	t.Helper()
	f, _ := loss.Float64()
	if loss.Cmp(new(big.Rat).SetFloat64(c.p.Rho)) > 0 || f < least*c.p.Rho {
		t.Errorf("%s: a person loses %v, of rho %v", name, f, c.p.Rho)
	}
}

// TestLossIsTheLargestOfAllMoves adds up what every move of one person costs in all draws together,
// in exact arithmetic: the most is ρ, but for variances that are rounded up to whole numbers.
func TestLossIsTheLargestOfAllMoves(t *testing.T) {
	for name, c := range small(t) {
		least := 0.95
		switch {
		case len(c.p.Workload) == 1:
			least = 0.9
		case c.long > 0 && c.p.Relation == estimator.ReplaceOne:
			least = 0.8 // the furthest cells are not the dearest ones
		}
		atMostRho(t, name, c, c.worst(t, c.everyone()), least)
		if c.Loss().Rho.Float() < c.p.Rho {
			t.Errorf("%s: a loss of %v is declared for rho %v", name, c.Loss().Rho.Float(), c.p.Rho)
		}
	}
}

// TestUnscaledNoiseIsFoundOut: with noise on one residual that is not scaled to Π n_i, or half as
// large on the total, a move costs more. Exchanges leave the total as it is.
func TestUnscaledNoiseIsFoundOut(t *testing.T) {
	for name, c := range small(t) {
		for i := range c.sets {
			broken := *c
			broken.noise = append([]*big.Int(nil), c.noise...)
			n := int64(c.Size(c.sets[i]))
			broken.noise[i] = new(big.Int).Quo(c.noise[i], big.NewInt(max(2, n*n)))
			if loss := broken.worst(t, c.everyone()); loss.Cmp(new(big.Rat).SetFloat64(c.p.Rho)) <= 0 && (i > 0 || c.p.Relation == estimator.AddRemove) {
				t.Errorf("%s: too little noise on %b is not found out", name, c.sets[i])
			}
		}
	}
}

// severalRows are cubes of persons with several rows.
func severalRows(t *testing.T) []*Cube {
	var cubes []*Cube
	for _, r := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		for _, rows := range []int64{1, 5, 1000} {
			for _, ways := range []int{1, 2, 3} {
				cubes = append(cubes, build(t, Params{Dims: dims(3, 2, 4), Workload: Ways(3, ways), Rho: 0.3, Relation: r, Rows: rows}),
					build(t, Params{Dims: ordered(Of(0, 2), 3, 2, 4), Workload: Ways(3, ways), Rho: 0.3, Relation: r, Rows: rows}))
			}
		}
	}
	return cubes
}

// TestPersonsOfManyRowsLoseNoMore tallies persons of random and of hostile rows: none moves the
// draws by more than ρ, against nobody or each other. A person of the declared number of rows in
// one cell is not shortened, and costs ρ where one may only come or go.
func TestPersonsOfManyRowsLoseNoMore(t *testing.T) {
	r := rand.New(stattest.Source(t, "rows"))
	for _, c := range severalRows(t) {
		points := c.points()
		one := []Entry{{points[5], float64(c.p.Rows)}}
		persons := []func(Tables){func(tables Tables) { c.Tally(tables, one) }}
		if got := c.shorten(one)[0]; got > c.p.Rows*c.Unit() || float64(got) < 0.9985*float64(c.p.Rows*c.Unit()) {
			t.Errorf("%d rows of %d are %d steps", c.p.Rows, c.p.Rows, got)
		}
		for range 30 {
			var person []Entry
			for _, at := range points {
				switch r.IntN(6) {
				case 0:
					person = append(person, Entry{at, float64(r.Int64N(3 * c.p.Rows))})
				case 1:
					person = append(person, Entry{at, 1})
				case 2:
					if r.IntN(20) == 0 {
						person = append(person, Entry{at, []float64{1 << 62, -1 << 62, 1 << 40}[r.IntN(3)]})
					}
				}
			}
			persons = append(persons, func(tables Tables) { c.Tally(tables, person) })
		}
		least := 0.99
		if c.p.Relation == estimator.ReplaceOne {
			least = 0.4 // two persons may be no further apart than a right angle, and mostly are less
		}
		atMostRho(t, "several rows", c, c.worst(t, persons), least)
	}
}

// TestPersonsOfSignedNumbersLoseNoMore does the same with sums of numbers that may be under 0, of
// which tables may hold nothing while cells hold much. Opposite numbers in one cell cost ρ where
// persons are exchanged. Vectors that are not shortened are found out.
func TestPersonsOfSignedNumbersLoseNoMore(t *testing.T) {
	r := rand.New(stattest.Source(t, "signed"))
	for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		for _, ways := range []int{1, 2, 3, -3} {
			d := dims(3, 2, 4)
			if ways < 0 {
				d, ways = ordered(Of(2), 3, 2, 4), -ways
			}
			c := build(t, Params{Dims: d, Workload: Ways(3, ways), Rho: 0.3, Relation: relation, Rows: 300, Signed: true})
			points := c.points()
			hostile := [][]Entry{{{points[5], 300}}, {{points[5], -300}}, {{points[0], 1 << 62}, {points[9], -1 << 62}}, {}}
			for i, at := range points { // its tables of fewer dimensions are 0, but for the first one
				hostile[3] = append(hostile[3], Entry{at, float64(1-2*(i%2)) * float64(1-2*(i/4%2)) * 1e15})
			}
			for range 20 {
				var person []Entry
				for _, at := range points {
					if r.IntN(3) == 0 {
						person = append(person, Entry{at, float64(r.Int64N(1000) - 500)})
					}
				}
				hostile = append(hostile, person)
			}
			var persons, whole []func(Tables)
			for _, person := range hostile {
				persons = append(persons, func(tables Tables) { c.Tally(tables, person) })
				whole = append(whole, func(tables Tables) {
					for _, e := range person {
						c.Add(tables, e.Values, int64(max(-1<<40, min(1<<40, e.Rows)))*c.Unit())
					}
				})
			}
			atMostRho(t, "signed", c, c.worst(t, persons), 0.99)
			if loss, _ := c.worst(t, whole).Float64(); loss < 2*c.p.Rho {
				t.Errorf("vectors that are not shortened lose %v, of rho %v", loss, c.p.Rho)
			}
		}
	}
}

// TestLengthsByTablesAreThoseByPairs compares both ways to a vector's cost.
func TestLengthsByTablesAreThoseByPairs(t *testing.T) {
	r := rand.New(stattest.Source(t, "lengths"))
	for _, c := range severalRows(t) {
		for range 20 {
			var person []Entry
			var y []float64
			for _, at := range c.points() {
				if r.IntN(2) == 0 {
					person, y = append(person, Entry{Values: at}), append(y, float64(r.IntN(2000)-1000))
				}
			}
			pairs, tables := c.byPairs(person, y), c.byTables(person, y)
			if _, slack := c.length2(person, y); pairs-tables > slack || tables-pairs > slack {
				t.Errorf("a cost of %v by pairs and %v by tables", pairs, tables)
			}
		}
	}
}

// TestNoiseIsAsDeclared compares the spread of cells, over releases, with the standard errors; with
// a third of the variance it is found out.
func TestNoiseIsAsDeclared(t *testing.T) {
	c := build(t, Params{Dims: dims(3, 2, 4), Workload: Ways(3, 2), Rho: 0.02})
	for _, s := range []Set{0, Of(0), Of(1, 2), Of(0, 2)} {
		var good, bad []float64
		n := stattest.Noiser(t, "declared")
		for range 600 {
			good = append(good, c.Release(n, c.Tables()).Marginal(s)[0]/c.StdErr(s))
			bad = append(bad, c.Release(stattest.Shrunk{Noiser: n, Factor: 3}, c.Tables()).Marginal(s)[0]/c.StdErr(s))
		}
		stattest.Accept(t, stattest.Variance("cell", good, 1, 3))
		stattest.Reject(t, stattest.Variance("shrunk", bad, 1, 3))
	}
}
