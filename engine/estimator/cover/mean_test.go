package cover

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
)

// params are those of the tests: values of 2^-20 within ±2^10, ten rows a person of a spread of
// one.
func params(dim int, persons int64) Params {
	return Params{
		Params: estimator.Params{Epsilon: 1, Relation: estimator.ReplaceOne, Sized: true, Grid: estimator.Grid{Step: 0x1p-20, Lo: -1 << 30, Hi: 1 << 30}},
		Dim:    dim, Persons: persons, Sigma: 1.32, Rows: 10,
	}
}

func build(t testing.TB, p Params) mean {
	t.Helper()
	e, err := NewMean(p)
	if err != nil {
		t.Fatal(err)
	}
	return e.(mean)
}

// dense returns the input of persons with rows rows each and the given sums.
func dense(dim int, rows int64, sums []int64) estimator.Input {
	c := estimator.Chunk{Persons: len(sums) / dim, Dense: sums, Rows: slices.Repeat([]int64{rows}, len(sums)/dim)}
	return estimator.Input{Vectors: &estimator.Block{Dim: dim, Chunks: []estimator.Chunk{c}}}
}

// TestWhatIsNotServedIsRefused goes through the assumptions; the reason names the one that does not
// hold.
func TestWhatIsNotServedIsRefused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		change func(*Params)
		want   string
	}{
		"add-remove":    {func(p *Params) { p.Relation, p.Sized = estimator.AddRemove, false }, "replace-one"},
		"not sized":     {func(p *Params) { p.Sized = false }, "public size"},
		"no number":     {func(p *Params) { p.Persons = 0 }, "number of persons"},
		"too many":      {func(p *Params) { p.Persons = maxPersons + 1 }, "at most"},
		"no epsilon":    {func(p *Params) { p.Epsilon, p.Rho = 0, 1 }, "epsilon"},
		"epsilon NaN":   {func(p *Params) { p.Epsilon = nan }, "epsilon"},
		"epsilon tiny":  {func(p *Params) { p.Epsilon = 1e-300 }, "loss"},
		"both losses":   {func(p *Params) { p.Rho = 1 }, "rho"},
		"dimension 0":   {func(p *Params) { p.Dim = 0 }, "dimension"},
		"dimension 3":   {func(p *Params) { p.Dim = 3 }, "dimension"},
		"no sigma":      {func(p *Params) { p.Sigma = 0 }, "sigma"},
		"sigma NaN":     {func(p *Params) { p.Sigma = nan }, "sigma"},
		"sigma inf":     {func(p *Params) { p.Sigma = inf }, "sigma"},
		"moment 1":      {func(p *Params) { p.Moment = 1 }, "moment"},
		"moment NaN":    {func(p *Params) { p.Moment = nan }, "moment"},
		"rows NaN":      {func(p *Params) { p.Rows = nan }, "rows"},
		"radius NaN":    {func(p *Params) { p.Radius = nan }, "radius"},
		"error < 0":     {func(p *Params) { p.Error = -1 }, "error"},
		"outside":       {func(p *Params) { p.Radius, p.Grid.Lo = 0.5, 1<<25 }, "radius"},
		"grid":          {func(p *Params) { p.Grid.Hi = 1 << 60 }, "grid"},
		"few persons":   {func(p *Params) { p.Persons = 40 }, "at least"},
		"small error":   {func(p *Params) { p.Error = 0.01 }, "at least"},
		"no such error": {func(p *Params) { p.Error = 1e-6 }, "no number of persons"},
	} {
		for dim := 1; dim <= 2; dim++ {
			p := params(dim, 2000)
			if c.change(&p); p.Dim == 1 && dim == 2 {
				continue
			}
			if _, err := NewMean(p); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want one with %q", name, err, c.want)
			}
		}
	}
	if _, err := NewNumber(params(2, 2000)); err == nil {
		t.Error("a number of dimension 2 was accepted")
	}
}

// TestTheNumberThatWouldDoDoes builds with the number of persons that a refusal names, and with one
// less.
func TestTheNumberThatWouldDoDoes(t *testing.T) {
	for dim := 1; dim <= 2; dim++ {
		for _, alpha := range []float64{0, 0.3} {
			p := params(dim, 30)
			p.Error = alpha
			_, err := NewMean(p)
			var need int64
			if _, scan := fmt.Sscanf(fmt.Sprint(err), "cover: want at least %d persons", &need); scan != nil {
				t.Fatal(err)
			}
			if p.Persons = need; build(t, p).MinPersons() != 0 {
				t.Error("a public number of persons is asked for again")
			}
			if p.Persons--; true {
				if _, err := NewMean(p); err == nil {
					t.Errorf("dimension %d, error %v: %d persons were said to be needed, %d do", dim, alpha, need, p.Persons)
				}
			}
		}
	}
}

// TestCostIsRefusedBeforehand: what would take too long is refused from public facts, without the
// memory that a release would take.
func TestCostIsRefusedBeforehand(t *testing.T) {
	p := params(2, maxPersons)
	p.Error, p.Epsilon = 0.0015, 10
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := NewMean(p)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "seconds") {
		t.Errorf("error %v, want one that tells the seconds", err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<22 {
		t.Errorf("%d bytes were allocated before the refusal", used)
	}
	for dim := 1; dim <= 2; dim++ { // whatever is accepted is within the bound
		for _, n := range []int64{200, 3000, 1 << 20, 1 << 24} {
			if e, err := NewMean(params(dim, n)); err == nil && !e.(mean).plan.fits(maxSeconds) {
				t.Errorf("dimension %d, %d persons: %.0f seconds", dim, n, e.(mean).plan.seconds())
			}
		}
	}
}

// TestLossIsEpsilon: the steps add up to ε at most, and the release says so.
func TestLossIsEpsilon(t *testing.T) {
	ranged := 0
	for dim := 1; dim <= 2; dim++ {
		for _, eps := range []float64{0.05, 0.3, 1, 5, 80} {
			p := params(dim, 20_000)
			p.Epsilon = eps
			m, sum := build(t, p), 0.0
			for _, s := range m.Steps() {
				sum += s.Epsilon
				if s.Name == "" || s.Mechanism != estimator.Exponential || s.Sensitivity == "" || s.Queries < 1 || s.Rho != 0 {
					t.Errorf("step %+v", s)
				}
			}
			if sum > eps || eps <= maxEpsilon && sum < eps*(1-1e-9) {
				t.Errorf("epsilon %v: the steps add up to %v", eps, sum)
			}
			if m.Loss() != privacy.PureLoss(eps) || m.Loss().DeltaEvent != 0 || m.Loss().DeltaTV != 0 {
				t.Errorf("epsilon %v: loss %+v", eps, m.Loss())
			}
			if _, known := m.ExpectedError(); known || !strings.Contains(m.Reason(), "privacy is proven") {
				t.Errorf("reason %q", m.Reason())
			}
			if m.plan.width > 0 {
				ranged++
			}
		}
	}
	if ranged == 0 {
		t.Error("no coarse step was planned")
	}
}

// TestNumbersAreVectorsOfOne: the two constructors answer alike on the same noise.
func TestNumbersAreVectorsOfOne(t *testing.T) {
	p := params(1, 500)
	e, err := NewNumber(p)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(stattest.Source(t, "numbers"))
	sums := make([]int64, 500)
	for i := range sums {
		sums[i] = int64(3 * (1 << 20) * (r.NormFloat64() + 2))
	}
	a := e.Release(stattest.Noiser(t, "x"), estimator.Input{Columns: [][]int64{slices.Repeat([]int64{3}, 500), sums}})
	b := build(t, p).Release(stattest.Noiser(t, "x"), dense(1, 3, sums))
	if a.Values[0] != b.Values[0] || a.Status != estimator.OK {
		t.Errorf("%v and %v", a, b)
	}
	if m := build(t, p); draws(m, stattest.Noiser(t, "x"), dense(1, 3, sums))(m.weights)[0] != b.Values[0] {
		t.Error("draws does not do what Release does")
	}
}

// TestPointsAreMadeExactlyN: of lists that differ in one point, however long, come lists that
// differ in one point at most.
func TestPointsAreMadeExactlyN(t *testing.T) {
	r := rand.New(stattest.Source(t, "points"))
	for range 20_000 {
		have, x := r.IntN(7), points{nil, nil}
		for range have {
			x[0], x[1] = append(x[0], r.Int64N(3)), append(x[1], r.Int64N(3))
		}
		y := points{slices.Clone(x[0]), slices.Clone(x[1])}
		switch at := r.IntN(have + 1); {
		case at == have || r.IntN(3) == 0:
			y[0], y[1] = slices.Insert(y[0], at, r.Int64N(3)), slices.Insert(y[1], at, r.Int64N(3))
		case r.IntN(2) == 0:
			y[0], y[1] = slices.Delete(y[0], at, at+1), slices.Delete(y[1], at, at+1)
		default:
			y[0][at], y[1][at] = r.Int64N(3), r.Int64N(3)
		}
		r.Shuffle(len(y[0]), func(i, j int) { y[0][i], y[0][j], y[1][i], y[1][j] = y[0][j], y[0][i], y[1][j], y[1][i] })
		left, count := x.exactly(4, 1), map[[2]int64]int{}
		for i := range left[0] {
			count[[2]int64{left[0][i], left[1][i]}]++
		}
		right := y.exactly(4, 1)
		for i := range right[0] {
			count[[2]int64{right[0][i], right[1][i]}]--
		}
		differ := 0
		for _, c := range count {
			differ += max(c, 0)
		}
		if len(left[0]) != 4 || len(right[0]) != 4 || differ > 1 {
			t.Fatalf("%v and %v give %v and %v", x, y, left, right)
		}
	}
}

// TestEdgeInputs: empty, few, many and hostile persons, sparse blocks, ties: always a finite answer
// in the range.
func TestEdgeInputs(t *testing.T) {
	const far = estimator.MaxUnits
	same := slices.Repeat([]int64{5 << 20}, 900)
	one := slices.Clone(same)
	one[17] = far
	hostile := slices.Repeat([]int64{math.MinInt64, math.MaxInt64, 0, far, -far, 1}, 150)
	for name, sums := range map[string][]int64{"none": nil, "one": same[:2], "two": same[:4], "same": same, "one far": one, "hostile": hostile, "more": slices.Repeat(hostile, 3)} {
		for dim := 1; dim <= 2; dim++ {
			for _, persons := range []int64{300, 3000} {
				p := params(dim, persons)
				p.Params.MaxRows, p.Radius = 1, 20
				m := build(t, p)
				in := dense(dim, 1, sums)
				before := fmt.Sprint(in.Vectors)
				a := m.Release(stattest.Noiser(t, name), in)
				if fmt.Sprint(in.Vectors) != before {
					t.Errorf("%s: the input was changed", name)
				}
				for _, v := range a.Values {
					if !(v >= -1024 && v <= 1024) || a.Status != estimator.OK || len(a.Values) != dim || len(a.StdErr) != dim {
						t.Errorf("%s, dimension %d: %+v", name, dim, a)
					}
					if strings.HasPrefix(name, "same") && int(persons) == len(sums)/dim && math.Abs(v-5) > m.means.Value(m.plan.alpha) {
						t.Errorf("%s, dimension %d: %v", name, dim, v)
					}
				}
			}
		}
	}
	sparse := estimator.Chunk{Persons: 3, Starts: []int{0, 0, 1, 3}, Index: []int32{1, 0, 1}, Values: []int64{7, far, -far}}
	bits := sparse
	bits.Values = nil
	for _, c := range []estimator.Chunk{sparse, bits} {
		p := params(2, 400)
		p.Radius = 20
		a := build(t, p).Release(stattest.Noiser(t, "sparse"), estimator.Input{Vectors: &estimator.Block{Dim: 2, Sparse: true, Chunks: []estimator.Chunk{c}}})
		if a.Status != estimator.OK || math.IsNaN(a.Values[0]+a.Values[1]) {
			t.Errorf("sparse: %+v", a)
		}
	}
	e, err := NewNumber(params(1, 300))
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range []int64{math.MinInt64, -1, 0, 1, math.MaxInt64} {
		in := estimator.Input{Columns: [][]int64{slices.Repeat([]int64{rows}, len(hostile)), hostile}}
		if a := e.Release(stattest.Noiser(t, "rows"), in); math.IsNaN(a.Values[0]) || a.Status != estimator.OK {
			t.Errorf("rows %d: %+v", rows, a)
		}
	}
	p := params(2, 400)
	p.Radius = 20
	if a := build(t, p).Release(stattest.Noiser(t, "nil"), estimator.Input{}); a.Status != estimator.OK || len(a.Values) != 2 {
		t.Errorf("no block: %+v", a)
	}
}

// TestSparseAndDenseAgree: the form of a block does not matter.
func TestSparseAndDenseAgree(t *testing.T) {
	r := rand.New(stattest.Source(t, "forms"))
	d, s := []int64(nil), estimator.Chunk{Persons: 400, Starts: []int{0}}
	for range 400 {
		for j := range 2 {
			v := int64(0)
			if r.IntN(3) > 0 {
				v = int64(r.NormFloat64() * (1 << 20))
				s.Index, s.Values = append(s.Index, int32(j)), append(s.Values, v)
			}
			d = append(d, v)
		}
		s.Starts = append(s.Starts, len(s.Index))
	}
	p := params(2, 400)
	p.Radius = 20
	m := build(t, p)
	a := m.Release(stattest.Noiser(t, "x"), dense(2, 1, d))
	b := m.Release(stattest.Noiser(t, "x"), estimator.Input{Vectors: &estimator.Block{Dim: 2, Sparse: true, Chunks: []estimator.Chunk{s}}})
	if !slices.Equal(a.Values, b.Values) {
		t.Errorf("%v and %v", a.Values, b.Values)
	}
}

var rewriteGolden = flag.Bool("cover.rewrite", false, "write testdata/golden.txt anew")

// TestGoldenAnswers fixes the answers on one sample and one stream of noise. A change on purpose is
// written with -cover.rewrite.
func TestGoldenAnswers(t *testing.T) {
	const file = "testdata/golden.txt"
	var out strings.Builder
	for dim := 1; dim <= 2; dim++ {
		for _, n := range []int64{400, 4000} {
			r := rand.New(rand.NewPCG(3, 4))
			sums := make([]int64, int(n)*dim)
			for i := range sums {
				sums[i] = int64(1024 * 1024 * (3 + r.NormFloat64()))
			}
			m := build(t, params(dim, n))
			a := m.Release(noise.New(rand.NewPCG(5, 6)), dense(dim, 1, sums))
			fmt.Fprintf(&out, "dimension %d, %d persons, error %.6g, %v candidates, range %v: %.9g\n", dim, n, m.means.Value(m.plan.alpha), m.plan.candidates(), m.plan.width > 0, a.Values)
		}
	}
	if *rewriteGolden {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
