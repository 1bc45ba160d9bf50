package covariance

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/errorbar"
	"scrim/engine/estimator/internal/scalar"
	"scrim/test/stattest"
)

var all = []Statistic{Correlation, PopulationCovariance, SampleCovariance, Slope, Intercept, Determination, Mean, OtherMean}

// params are those of two whole numbers.
func params(rho float64, relation estimator.Relation, bounded bool) estimator.Params {
	grid := estimator.Grid{Step: 1, Decimal: true, Lo: -1 << 43, Hi: 1 << 43}
	p := estimator.Params{Rho: rho, Relation: relation, Grid: grid, Other: &estimator.Other{Grid: grid}}
	if bounded {
		lo, hi := int64(-60), int64(80)
		p.Lower, p.Upper, p.Other.Lower, p.Other.Upper = &lo, &hi, &lo, &hi
	}
	return p
}

// table is a group: the rows of each person.
type table [][][2]int64

// input computes the columns as the store does.
func (t table) input() estimator.Input {
	in := estimator.Input{Persons: int64(len(t)), Columns: make([][]int64, 9)}
	add := func(at int, x *big.Int) {
		low := new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64))
		in.Columns[at] = append(in.Columns[at], new(big.Int).Rsh(x, 64).Int64())
		in.Columns[at+1] = append(in.Columns[at+1], int64(low.Uint64()))
	}
	for _, rows := range t {
		var s [2]int64
		xx, yy, xy := new(big.Int), new(big.Int), new(big.Int)
		for _, r := range rows {
			x, y := big.NewInt(r[0]), big.NewInt(r[1])
			s[0], s[1] = s[0]+r[0], s[1]+r[1]
			xx.Add(xx, new(big.Int).Mul(x, x))
			yy.Add(yy, new(big.Int).Mul(y, y))
			xy.Add(xy, new(big.Int).Mul(x, y))
		}
		in.Columns[0] = append(in.Columns[0], int64(len(rows)))
		in.Columns[1] = append(in.Columns[1], s[0])
		in.Columns[4] = append(in.Columns[4], s[1])
		add(2, xx)
		add(5, yy)
		add(7, xy)
	}
	return in
}

// exact is what the statistics are.
func (t table) exact() map[Statistic]float64 {
	var n, sx, sy, xx, yy, xy float64
	for _, rows := range t {
		for _, r := range rows {
			n, sx, sy = n+1, sx+float64(r[0]), sy+float64(r[1])
		}
	}
	mx, my := sx/n, sy/n
	for _, rows := range t {
		for _, r := range rows {
			x, y := float64(r[0])-mx, float64(r[1])-my
			xx, yy, xy = xx+x*x, yy+y*y, xy+x*y
		}
	}
	c, slope := xy/math.Sqrt(xx*yy), xy/yy
	return map[Statistic]float64{
		Correlation: c, PopulationCovariance: xy / n, SampleCovariance: xy / (n - 1), Slope: slope, Intercept: mx - slope*my,
		Determination: c * c, Mean: mx, OtherMean: my,
	}
}

// drawn are persons whose rows follow a line with noise.
func drawn(r *rand.Rand, persons, rows int) table {
	t := make(table, persons)
	for i := range t {
		own := 4 * r.NormFloat64()
		for range 1 + r.IntN(rows) {
			y := 8 * r.NormFloat64()
			x := 0.7*y + own + 5*r.NormFloat64() + 11
			t[i] = append(t[i], [2]int64{int64(math.Round(x)), int64(math.Round(y - 3))})
		}
	}
	return t
}

func releases(t *testing.T, p estimator.Params, byRow bool) estimator.Estimator {
	t.Helper()
	e, err := New(p, all, byRow)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// columns are those that an estimator reads.
func columns(in estimator.Input, byRow bool) estimator.Input {
	if !byRow {
		in.Columns = [][]int64{in.Columns[0], in.Columns[1], in.Columns[4]}
	}
	return in
}

// TestAnswersAreTheStatistics: with much loss the answers are those of the rows, or of the persons'
// means where persons are weighed, up to what clips take.
func TestAnswersAreTheStatistics(t *testing.T) {
	r := rand.New(stattest.Source(t, "data"))
	for _, byRow := range []bool{true, false} {
		for _, bounded := range []bool{true, false} {
			for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
				rows := 3
				if !byRow {
					rows = 1
				}
				data := drawn(r, 20000, rows)
				a := releases(t, params(2, relation, bounded), byRow).Release(stattest.Noiser(t, "answers"), columns(data.input(), byRow))
				want := data.exact()
				for k, s := range all {
					scale := map[Statistic]float64{PopulationCovariance: 60, SampleCovariance: 60, Intercept: 11, Mean: 11, OtherMean: 3}[s]
					if got := a.Values[k]; math.Abs(got-want[s]) > 0.03*max(1, scale) {
						t.Errorf("rows %v, bounds %v, %v, statistic %d: got %v, want %v", byRow, bounded, relation, s, got, want[s])
					}
				}
			}
		}
	}
}

// signs are persons with one row each at the corners of a rectangle: a part alike has x and y on
// one side.
func signs(r *rand.Rand, persons int, alike float64) table {
	t := make(table, persons)
	for i := range t {
		x := 14*r.Int64N(2) - 7
		y := -x
		if r.Float64() < alike {
			y = x
		}
		t[i] = [][2]int64{{x, 2 * y}}
	}
	return t
}

// skewed are persons of whom some have many rows, with values that lean to one side.
func skewed(r *rand.Rand, persons int) table {
	t := make(table, persons)
	for i := range t {
		for range 1 + int(r.ExpFloat64()*r.ExpFloat64()*3) {
			y := math.Exp(3 + 0.7*r.NormFloat64())
			t[i] = append(t[i], [2]int64{int64(y * math.Exp(0.5*r.NormFloat64())), int64(y)})
		}
	}
	return t
}

// TestIntervalsCover: the intervals hold the exact statistics of the rows as often as they say,
// what clips take included, and a quarter of them about the answer does not.
func TestIntervalsCover(t *testing.T) {
	const times = 250
	levels := []float64{0.5, 0.9, 0.99}
	r := rand.New(stattest.Source(t, "tables"))
	for _, c := range []struct {
		name string
		data table
		rho  float64
	}{
		{"signs .5", signs(r, 600, 0.5), 0.2}, {"signs .8", signs(r, 600, 0.8), 0.2}, {"signs .95", signs(r, 3000, 0.95), 0.05},
		{"line", drawn(r, 1500, 6), 0.1}, {"skewed", skewed(r, 1500), 0.1},
	} {
		data := c.data
		want, in := data.exact(), data.input()
		for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
			e, n := releases(t, params(c.rho, relation, false), true), stattest.Noiser(t, fmt.Sprint("noise", c.name, relation))
			hits, half := map[Statistic][3]int{}, map[Statistic][3]int{}
			answers := 0
			for range times {
				a := e.Release(n, in)
				if a.Status != estimator.OK {
					continue
				}
				answers++
				for k, s := range all {
					x, y := hits[s], half[s]
					for l, level := range levels {
						lo, hi := errorbar.Interval(a, k, level)
						v := a.Values[k]
						if math.IsNaN(v) || !(want[s] < lo) && !(want[s] > hi) {
							x[l]++
						}
						if math.IsNaN(v) || math.Abs(want[s]-v) <= (hi-lo)/8 {
							y[l]++
						}
					}
					hits[s], half[s] = x, y
				}
			}
			if answers < times*9/10 {
				t.Errorf("%s, %v: only %d answers", c.name, relation, answers)
			}
			for _, s := range all {
				for l, level := range levels {
					name := fmt.Sprintf("%s, %v, statistic %d at %v", c.name, relation, s, level)
					stattest.Accept(t, stattest.Coverage(name, hits[s][l], answers, level))
					if level == 0.9 && c.data[0][0][0]*c.data[0][0][0] == 49 && s != Determination {
						stattest.Reject(t, stattest.Coverage(name+", a quarter", half[s][l], answers, level))
					}
				}
			}
			t.Logf("%s, %v: %v of %d", c.name, relation, hits, answers)
		}
	}
}

// TestNoSpreadIsNull: where an argument does not vary, what divides by its spread is not answered,
// and what does not is.
func TestNoSpreadIsNull(t *testing.T) {
	r := rand.New(stattest.Source(t, "flat"))
	data := make(table, 3000)
	for i := range data {
		data[i] = [][2]int64{{r.Int64N(20), 5}}
	}
	a := releases(t, params(0.1, estimator.AddRemove, false), true).Release(stattest.Noiser(t, "flat"), data.input())
	for k, s := range all {
		if null := len(s.divides()) > 0; a.Status != estimator.OK || math.IsNaN(a.Values[k]) != null {
			t.Errorf("statistic %d: got %v, status %d", s, a.Values[k], a.Status)
		}
	}
	if a.Needed <= 0 {
		t.Error("what would do is not told")
	}
	e, err := New(params(0.1, estimator.AddRemove, false), []Statistic{Slope}, true)
	if err != nil {
		t.Fatal(err)
	}
	if a = e.Release(stattest.Noiser(t, "flat"), data.input()); a.Status != estimator.TooFew {
		t.Errorf("a slope by what does not vary: %v", a.Values)
	}
}

// TestVectorsKeepToARightAngle: vectors of any persons, hostile columns and a clip of any size
// included, differ by at most √2 radiuses; of vectors that no rows have some differ by more.
func TestVectorsKeepToARightAngle(t *testing.T) {
	r := rand.New(stattest.Source(t, "angle"))
	limit := new(big.Int).Lsh(big.NewInt(2), 2*scalar.BallBits)
	for range 200 {
		p := params(0.1, estimator.ReplaceOne, r.IntN(2) == 0)
		made, err := New(p, all, r.IntN(4) > 0)
		if err != nil {
			t.Fatal(err)
		}
		e, data := made.(moments), table{}
		for range 20 {
			rows := make([][2]int64, 1+r.IntN(3))
			for j := range rows {
				rows[j] = [2]int64{r.Int64N(1<<(1+r.IntN(20))) - r.Int64N(1<<(1+r.IntN(20))), r.Int64N(1<<(1+r.IntN(20))) - r.Int64N(1<<(1+r.IntN(20)))}
			}
			data = append(data, rows)
		}
		// at right angles: rows on two lines through the centre
		data = append(data, [][2]int64{{1 << 20, 1 << 20}}, [][2]int64{{1 << 20, -1 << 20}})
		in := data.input()
		for range 20 {
			for c := range in.Columns {
				in.Columns[c] = append(in.Columns[c], int64(r.Uint64())>>r.IntN(64))
			}
			last := len(in.Columns[0]) - 1
			in.Columns[0][last] = 1 + r.Int64N(1<<r.IntN(60))
		}
		if !e.rows {
			in = columns(in, false)
		}
		var c, kappa [2]int64
		for j := range c {
			if c[j], kappa[j] = 0, 1+r.Int64N(1<<(1+r.IntN(50))); r.IntN(2) == 0 {
				c[j] = r.Int64N(1<<30) - 1<<29
			}
		}
		ball := scalar.NewBall(float64(1+r.Int64N(1<<(1+r.IntN(40)))) / normSteps)
		var short [][dim]int64
		for i := range in.Columns[0] {
			var y [dim]int64
			u := e.person(in, i, c, kappa)
			ball.ClipTo(y[:], u[:])
			acute(&y)
			short = append(short, y)
		}
		for i := range short {
			for k := range short {
				if distance(short[i], short[k]).Cmp(limit) > 0 {
					t.Fatalf("%v and %v are too far apart", short[i], short[k])
				}
			}
		}
	}
	var a, b [dim]int64
	ball := scalar.NewBall(1)
	ball.ClipTo(a[:], []float64{0.1, 0, 0, 0, 1, 0})
	ball.ClipTo(b[:], []float64{0.1, 0, 0, 0, -1, 0})
	acute(&a)
	acute(&b)
	if distance(a, b).Cmp(limit) <= 0 {
		t.Error("vectors that no rows have are not found out")
	}
}

// distance is the squared distance of two vectors.
func distance(a, b [dim]int64) *big.Int {
	sum := new(big.Int)
	for i := range a {
		sum.Add(sum, scalar.Square(a[i]-b[i]))
	}
	return sum
}
