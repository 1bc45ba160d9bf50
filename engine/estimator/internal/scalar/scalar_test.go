package scalar

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

func TestSplitNeverExceedsRho(t *testing.T) {
	r := rand.New(stattest.Source(t, "split"))
	for range 20000 {
		rho := math.Ldexp(r.Float64()+0.5, r.IntN(60)-40)
		sum := new(big.Rat)
		for _, part := range Split(rho, 8, 23, 17, 52) {
			sum.Add(sum, new(big.Rat).SetFloat64(part))
		}
		if sum.Cmp(new(big.Rat).SetFloat64(rho)) > 0 {
			t.Fatalf("parts of %v sum to more", rho)
		}
	}
}

func TestSigma2RoundsUp(t *testing.T) {
	r := rand.New(stattest.Source(t, "sigma"))
	for range 20000 {
		s, q, rho := 1+r.Int64N(1<<50), 1+r.Int64N(100), math.Ldexp(r.Float64()+0.5, r.IntN(50)-40)
		v := Sigma2(Square(s), q, rho)
		spent := new(big.Rat).SetFrac(new(big.Int).Mul(Square(s), big.NewInt(q)), new(big.Int).Lsh(v, 1))
		if want := new(big.Rat).SetFloat64(rho); spent.Cmp(want) > 0 {
			t.Fatalf("%d queries of %d with %v cost more than %v", q, s, v, rho)
		}
		less := new(big.Int).Sub(v, big.NewInt(1))
		if less.Sign() > 0 {
			spent.SetFrac(new(big.Int).Mul(Square(s), big.NewInt(q)), new(big.Int).Lsh(less, 1))
			if spent.Cmp(new(big.Rat).SetFloat64(rho)) <= 0 {
				t.Fatalf("%v is not the least variance", v)
			}
		}
	}
}

func TestSumIsExact(t *testing.T) {
	r := rand.New(stattest.Source(t, "sum"))
	var s Sum
	want := new(big.Int)
	for range 100000 {
		v := int64(r.Uint64())
		if r.IntN(10) == 0 {
			v = []int64{math.MaxInt64, math.MinInt64, 0, -1}[r.IntN(4)]
		}
		s.Add(v)
		want.Add(want, big.NewInt(v))
	}
	if s.Big().Cmp(want) != 0 {
		t.Errorf("got %v, want %v", s.Big(), want)
	}
	s, want = Sum{}, new(big.Int)
	for range 1000 {
		s.Add(math.MinInt64)
		want.Add(want, big.NewInt(math.MinInt64))
	}
	if s.Big().Cmp(want) != 0 {
		t.Errorf("got %v, want %v", s.Big(), want)
	}
}

func TestBucketsHoldTheirEdges(t *testing.T) {
	for i := 1; i < 125; i++ {
		lo, hi := Edge(i-1), Edge(i)
		if hi <= lo {
			t.Fatalf("edge %d is %d after %d", i, hi, lo)
		}
		if a, b := bucket(uint64(lo)+1), bucket(uint64(hi)); a != i || b != i {
			t.Errorf("bucket %d holds (%d,%d] as %d and %d", i, lo, hi, a, b)
		}
	}
	if b := bucket(math.MaxUint64); b != 127 {
		t.Errorf("the largest number is in bucket %d", b)
	}
}

func TestRadiusFindsTheDataAndDoesNotOvershoot(t *testing.T) {
	r, n := NewRadius(estimator.AddRemove, 0.01, 1<<50), stattest.Noiser(t, "radius")
	far := 0
	const runs = 5000
	for range runs {
		var h Histogram
		for v := range uint64(400) {
			h.Add(v)
		}
		c, _ := r.Choose(n, &h)
		if c < 256 {
			t.Fatalf("radius %d for numbers up to 400", c)
		}
		if c > 12*512 {
			far++
		}
	}
	if far > 20 { // 3e-4 of the runs are expected at most: 1.5
		t.Errorf("%d of %d radii are far above the data", far, runs)
	}
}

func TestRadiusOfEqualNumbersIsTheirBucket(t *testing.T) {
	for _, v := range []uint64{0, 1, 2, 5, 1 << 40} {
		var h Histogram
		for range 1000 {
			h.Add(v)
		}
		c, ok := NewRadius(estimator.AddRemove, 0.1, 1<<50).Choose(stattest.Zero{}, &h)
		if want := max(1, Edge(bucket(v))); c != want || !ok {
			t.Errorf("radius %d for %d, want %d", c, v, want)
		}
	}
	var none Histogram
	if _, ok := NewRadius(estimator.AddRemove, 0.1, 1<<50).Choose(stattest.Zero{}, &none); ok {
		t.Error("a radius was found without persons")
	}
}

// TestSharesCoverTheNumberOfPersons adds up, for random shares, what a person exchanged costs: one
// in the group on both sides, and one on one side only, whose change of the number of persons is
// paid for by the rest.
func TestSharesCoverTheNumberOfPersons(t *testing.T) {
	r := rand.New(stattest.Source(t, "shares"))
	for range 2000 {
		rho := math.Ldexp(r.Float64()+0.5, r.IntN(30)-20)
		s := Shares{AddRemove: []float64{1}}
		for range 1 + r.IntN(4) {
			w := r.Float64() + 0.01
			s.AddRemove, s.ReplaceOne, s.Joining = append(s.AddRemove, w), append(s.ReplaceOne, w), append(s.Joining, r.Float64())
		}
		p, power := estimator.Params{Rho: rho}, 1.0
		if r.IntN(2) == 0 {
			p, power = estimator.Params{Epsilon: rho}, 0.5
		}
		n, parts := s.Of(p, 1)
		if total := total(append(parts, n.noise.loss)); total.Cmp(new(big.Rat).SetFloat64(rho)) > 0 || len(parts) != len(s.ReplaceOne) || n.Step().Rho+n.Step().Epsilon != n.noise.loss {
			t.Fatalf("add-remove: %v and %+v of %v", parts, n, rho)
		}
		p.Relation = estimator.ReplaceOne
		n, parts = s.Of(p, 1)
		joined := new(big.Rat).SetFloat64(n.noise.loss)
		for k, part := range parts {
			joined.Add(joined, new(big.Rat).Mul(new(big.Rat).SetFloat64(part), new(big.Rat).SetFloat64(math.Pow(s.Joining[k], power))))
		}
		exact := new(big.Rat).SetFloat64(rho)
		if total(parts).Cmp(exact) > 0 || joined.Cmp(exact) > 0 || n.Step().Rho+n.Step().Epsilon != 0 {
			t.Fatalf("replace-one: %v, joining %v, and %+v of %v", parts, s.Joining, n, rho)
		}
		if used, _ := joined.Quo(joined, exact).Float64(); used < 1-1e-9 {
			t.Fatalf("only %v of the loss is used", used)
		}
		p.Sized = true
		n, parts = s.Of(p, 1)
		if total(parts).Cmp(exact) > 0 || len(n.Steps()) != 0 || n.Enough() != 0 || n.Sigma() != 0 || n.Release(nil, 7) != 7 || n.Of(estimator.Input{Persons: 5, Columns: [][]int64{{0, 1}}}) != 5 {
			t.Fatalf("public: %v and %+v of %v", parts, n, rho)
		}
	}
}

func total(parts []float64) *big.Rat {
	sum := new(big.Rat)
	for _, part := range parts {
		sum.Add(sum, new(big.Rat).SetFloat64(part))
	}
	return sum
}

// TestWidths: the noise of a ball's sum is that of its sensitivity, rounded up.
func TestWidths(t *testing.T) {
	for _, c := range []struct {
		w    Width
		want string
		size float64
	}{
		{BallWidth(estimator.AddRemove), "l2=clip", 1},
		{BallWidth(estimator.ReplaceOne), "l2=2*clip", 4},
		{NewWidth(estimator.AddRemove, 16, 5), "l2=clip", 1},
		{NewWidth(estimator.ReplaceOne, 16, 5), "l2=sqrt(16/5)*clip", 3.2},
		{NewWidth(estimator.ReplaceOne, 2, 1), "l2=sqrt(2)*clip", 2},
	} {
		v, _ := new(big.Float).SetInt(BallSigma2(c.w, 0.5)).Float64()
		if got := v / (1 << (2 * BallBits)); c.w.String() != c.want || got < c.size || got > c.size*(1+1e-15) || math.Abs(c.w.Joining()*c.size-1) > 1e-15 {
			t.Errorf("%v has variance %v and joining share %v", c.w, got, c.w.Joining())
		}
	}
}

func TestAxisIsMonotoneAndFine(t *testing.T) {
	const m = estimator.MaxUnits
	r := rand.New(stattest.Source(t, "axis"))
	for _, c := range []struct {
		lo, hi int64
		rounds int
	}{{-m, m, 24}, {-m, m, 20}, {-m, m, 7}, {0, 120, 24}, {-5, 5, 24}, {700000, 800000, 24}, {m - 10, m, 24}, {-1 << 31, 1 << 31, 24}, {3, 4, 24}} {
		a := NewAxis(c.lo, c.hi, c.rounds)
		if a.cells < 2 || a.cells > 1<<c.rounds || a.rounds > c.rounds {
			t.Errorf("%+v: %d cells, %d rounds", c, a.cells, a.rounds)
		}
		if a.Cell(math.MinInt64) != 0 || int64(a.Cell(math.MaxInt64)) != a.cells-1 {
			t.Errorf("%+v: the ends are cells %d and %d", c, a.Cell(math.MinInt64), a.Cell(math.MaxInt64))
		}
		for range 20000 {
			x := c.lo + r.Int64N(c.hi-c.lo+1)
			if r.IntN(2) == 0 {
				x = min(max(int64(r.Uint64())>>(13+r.IntN(50)), c.lo), c.hi)
			}
			cell := a.Cell(x)
			if y := min(x+1, c.hi); a.Cell(y) < cell || a.Cell(y) > cell+1 {
				t.Fatalf("%+v: cells of %d and %d are %d and %d", c, x, y, cell, a.Cell(y))
			}
			v := a.Value(cell)
			if a.Cell(v) != cell {
				t.Fatalf("%+v: cell %d of %d has the middle %d of cell %d", c, cell, x, v, a.Cell(v))
			}
			width := math.Ldexp(math.Abs(float64(x)), -a.bits)
			if math.Abs(float64(v-x)) > max(width, 0.5) {
				t.Fatalf("%+v: %d is shown as %d", c, x, v)
			}
		}
	}
}

func TestBisectionFindsTheQuantileWithoutNoise(t *testing.T) {
	r := rand.New(stattest.Source(t, "bisect"))
	for range 300 {
		n := 1 + r.IntN(200)
		x := make([]int64, n)
		for i := range x {
			x[i] = r.Int64N(100) - 50
		}
		den := 1 + r.Int64N(20)
		num := 1 + r.Int64N(den)
		if num == den {
			den++
		}
		a := NewAxis(-1000, 1000, 24)
		cells := make([]uint32, n)
		for i, v := range x {
			cells[i] = a.Cell(v)
		}
		got := NewBisection(estimator.AddRemove, a, num, den, 1, 0.1).Search(stattest.Zero{}, cells)
		slices.Sort(x)
		want := x[(num*int64(n)+den-1)/den-1] // the least v with den·#{x<=v} >= num·n
		if got != want {
			t.Fatalf("quantile %d/%d of %v: got %d, want %d", num, den, x, got, want)
		}
		slices.Sort(cells)
		for i, v := range x {
			if cells[i] != a.Cell(v) {
				t.Fatal("the search lost a value")
			}
		}
	}
}

func TestBallIsNeverLeft(t *testing.T) {
	r := rand.New(stattest.Source(t, "ball"))
	number := func() float64 {
		switch r.IntN(12) {
		case 0:
			return 0
		case 1:
			return math.Inf(1 - 2*r.IntN(2))
		case 2:
			return math.MaxFloat64
		case 3:
			return 5e-324
		}
		return math.Ldexp(r.Float64()-0.5, r.IntN(160)-80)
	}
	for range 200000 {
		b := NewBall(math.Ldexp(r.Float64()+0.5, r.IntN(70)-10))
		v := [3]float64{number(), number(), number()}
		y := b.Clip3(v)
		sum := new(big.Int)
		for _, x := range y {
			sum.Add(sum, Square(x))
		}
		if sum.Cmp(new(big.Int).Lsh(big.NewInt(1), 2*BallBits)) > 0 {
			t.Fatalf("%v became %v", v, y)
		}
		if x, y := b.Clip2(v[0], v[1]); x*x+y*y > 1<<(2*BallBits) || max(x, -x, y, -y) > 1<<BallBits {
			t.Fatalf("%v became %v and %v", v[:2], x, y)
		}
	}
	if y := NewBall(2).Clip3([3]float64{1, -0.5, 0}); math.Abs(float64(y[0])-1<<29) > 1 || math.Abs(float64(y[1])+1<<28) > 1 {
		t.Errorf("an inner vector became %v", y)
	}
	if y := NewBall(1).Clip3([3]float64{3, 4, 0}); math.Abs(float64(y[0])/(1<<30)-0.6) > 1e-8 || math.Abs(float64(y[1])/(1<<30)-0.8) > 1e-8 {
		t.Errorf("an outer vector became %v", y)
	}
}

func TestWithinIsTheSpreadAboutTheMean(t *testing.T) {
	r := rand.New(stattest.Source(t, "within"))
	for range 20000 {
		m := 1 + r.Int64N(40)
		if r.IntN(1000) == 0 {
			m = 1 << 16
		}
		off, q, sum := r.Int64N(1<<44)-1<<43, new(big.Int), int64(0)
		if m > 100 {
			off = r.Int64N(1 << 20)
		}
		for range m {
			x := off + r.Int64N(100)
			sum += x
			q.Add(q, Square(x))
		}
		hi, lo := new(big.Int).Rsh(q, 64).Int64(), new(big.Int).And(q, maxWord).Uint64()
		want := new(big.Rat).SetFrac(Square(sum), big.NewInt(m))
		want.Sub(new(big.Rat).SetInt(q), want)
		w, _ := want.Float64()
		tolerance := 1e-12 * w
		if m >= 1<<16 {
			tolerance = 1e-14 * float64(m) * float64(off+100) * float64(off+100)
		}
		if got := Within(m, sum, hi, lo); math.Abs(got-w) > tolerance {
			t.Fatalf("m=%d: got %v, want %v", m, got, w)
		}
	}
	for _, hi := range []int64{math.MinInt64, -1, 0, math.MaxInt64} {
		if w := Within(math.MaxInt64, -estimator.MaxUnits, hi, math.MaxUint64); !(w >= 0) || math.IsInf(w, 0) {
			t.Errorf("Within is %v on saturated columns", w)
		}
	}
}

func TestPersonMeansRoundHalfToEven(t *testing.T) {
	m := Means{Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}
	for _, c := range []struct{ rows, sum, want int64 }{
		{1, 7, 7}, {2, 7, 4}, {2, 5, 2}, {2, -5, -2}, {2, -7, -4}, {3, 7, 2}, {3, 8, 3}, {3, -8, -3}, {math.MaxInt64, 5, 0},
		{math.MaxInt64, -5, 0}, {1, math.MaxInt64, estimator.MaxUnits}, {1, math.MinInt64, -estimator.MaxUnits},
	} {
		if got := m.Of(c.rows, c.sum); got != c.want {
			t.Errorf("mean of %d rows with sum %d: got %d, want %d", c.rows, c.sum, got, c.want)
		}
	}
	p := estimator.Params{Grid: estimator.Grid{Step: 1, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}}
	if m = NewMeans(p); m.Shift != 10 || m.Of(3, 1) != 341 || m.Value(512) != 0.5 {
		t.Errorf("a 0/1 column has means %d in units of 2^-%d", m.Of(3, 1), m.Shift)
	}
}

func TestDeviationIsExactWhileItFits(t *testing.T) {
	r := rand.New(stattest.Source(t, "deviation"))
	for range 20000 {
		m, c, sum := 1+r.Int64N(1000), r.Int64N(1<<50)-1<<49, r.Int64N(1<<50)-1<<49
		want := new(big.Int).Sub(big.NewInt(sum), new(big.Int).Mul(big.NewInt(m), big.NewInt(c)))
		w, _ := new(big.Float).SetInt(want).Float64()
		if got := Deviation(m, sum, c, 0); got != w {
			t.Fatalf("got %v, want %v", got, w)
		}
	}
	if d := Deviation(math.MaxInt64, 1, -estimator.MaxUnits, 12); math.IsInf(d, 0) || d < 1e30 {
		t.Errorf("deviation %v", d)
	}
}
