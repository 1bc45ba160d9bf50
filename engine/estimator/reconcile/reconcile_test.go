package reconcile

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// randomForest returns nodes with exact numbers that add up, noisy ones, and sizes of noise of
// several orders. A total has one to five numbers under it, at most three levels.
func randomForest(r *rand.Rand) (nodes []Node, exact []float64) {
	var grow func(parent, depth int) float64
	grow = func(parent, depth int) float64 {
		at := len(nodes)
		nodes, exact = append(nodes, Node{Parent: parent, Noise: math.Exp(1.2 * r.NormFloat64()), Digits: -1}), append(exact, 0)
		if depth == 0 || parent >= 0 && r.IntN(4) == 0 {
			exact[at] = 100 * r.NormFloat64()
		} else {
			for range 1 + r.IntN(5) {
				exact[at] += grow(at, depth-1)
			}
		}
		return exact[at]
	}
	for range 1 + r.IntN(2) {
		grow(-1, 1+r.IntN(3))
	}
	for i := range nodes {
		nodes[i].Value = exact[i] + nodes[i].Noise*min(max(r.NormFloat64(), -2), 2)
	}
	return nodes, exact
}

// design returns the matrix that makes all nodes of their leaves.
func design(nodes []Node) *mat.Dense {
	leaf := map[int]int{}
	inner := map[int]bool{}
	for _, v := range nodes {
		inner[v.Parent] = true
	}
	for i := range nodes {
		if !inner[i] {
			leaf[i] = len(leaf)
		}
	}
	x := mat.NewDense(len(nodes), len(leaf), nil)
	for i, at := range leaf {
		for v := i; v >= 0; v = nodes[v].Parent {
			x.Set(v, at, 1)
		}
	}
	return x
}

// TestNodesSolveTheNormalEquations compares numbers and their noise with the dense solution of
// weighted least squares, and its covariance.
func TestNodesSolveTheNormalEquations(t *testing.T) {
	r := rand.New(stattest.Source(t, "normal equations"))
	changed := 0
	for range 300 {
		nodes, _ := randomForest(r)
		got, apart := Nodes(nodes)
		if apart.Absent > 0 {
			t.Fatal("a number is absent")
		}
		if apart.Off > 0 {
			continue
		}
		x, n := design(nodes), len(nodes)
		weights, y := mat.NewDiagDense(n, nil), mat.NewVecDense(n, nil)
		for i, v := range nodes {
			weights.SetDiag(i, 1/(v.Noise*v.Noise))
			y.SetVec(i, v.Value)
		}
		var a, inverse, right, covariance mat.Dense
		a.Mul(weights, x)
		right.Mul(x.T(), &a)
		if err := inverse.Inverse(&right); err != nil {
			t.Fatal(err)
		}
		var hat mat.Dense // exact numbers from released ones
		hat.Product(x, &inverse, a.T())
		var want mat.VecDense
		want.MulVec(&hat, y)
		covariance.Product(x, &inverse, x.T())
		for i, v := range nodes {
			if !got[i].Changed { // a total without numbers under it
				continue
			}
			changed++
			if d := math.Abs(got[i].Value - want.AtVec(i)); d > 1e-7*(1+math.Abs(want.AtVec(i))) {
				t.Fatalf("node %d of %d: %v, want %v", i, n, got[i].Value, want.AtVec(i))
			}
			if sd := math.Sqrt(covariance.At(i, i)); math.Abs(got[i].Noise/sd-1) > 1e-5 || got[i].Noise > v.Noise*(1+1e-9) {
				t.Fatalf("node %d of %d: noise %v, want %v; before %v", i, n, got[i].Noise, sd, v.Noise)
			}
		}
	}
	if changed < 2000 {
		t.Errorf("only %d numbers were reconciled", changed)
	}
}

// TestNumbersShownAddUp: after rounding, and with none under 0 where that is wanted, each total is
// exactly the sum of what is under it.
func TestNumbersShownAddUp(t *testing.T) {
	r := rand.New(stattest.Source(t, "shown"))
	for range 2000 {
		nodes, _ := randomForest(r)
		digits, positive := r.IntN(4), r.IntN(2) == 0
		for i := range nodes {
			nodes[i].Digits, nodes[i].NonNegative = digits, positive
			nodes[i].Value = round(nodes[i].Value/float64(1+r.IntN(40)), digits)
		}
		got, _ := Nodes(nodes)
		unit := math.Pow10(digits)
		sums := make([]float64, len(nodes))
		for i, v := range nodes {
			if got[i].Changed && positive && got[i].Shown < 0 {
				t.Fatalf("node %d: %v", i, got[i].Shown)
			}
			if x := got[i].Shown * unit; got[i].Changed && math.Abs(x-math.Round(x)) > 1e-6 {
				t.Fatalf("%v has more than %d digits", got[i].Shown, digits)
			}
			if v.Parent >= 0 && got[i].Changed {
				sums[v.Parent] += math.Round(got[i].Shown * unit)
			}
		}
		f := newForest(nodes)
		f.link()
		for i := range nodes {
			if f.linked[i] && sums[i] != math.Round(got[i].Shown*unit) {
				t.Fatalf("total %v, its numbers add up to %v", got[i].Shown, sums[i]/unit)
			}
		}
	}
}

// TestSharesAreNearest compares the shares with those of a search: none under 0, the sum right, and
// no exchange between two of them comes nearer.
func TestSharesAreNearest(t *testing.T) {
	r := rand.New(stattest.Source(t, "share"))
	far := func(x []float64, parts []part) float64 {
		s := 0.0
		for i, p := range parts {
			s += (x[i] - p.value) * (x[i] - p.value) / p.weight
		}
		return s
	}
	for range 2000 {
		parts := make([]part, 1+r.IntN(6))
		for i := range parts {
			parts[i] = part{10 * r.NormFloat64(), math.Exp(r.NormFloat64()), true}
		}
		total := 20 * r.Float64()
		x, sum := share(total, parts, -1), 0.0
		for i, v := range x {
			if sum += v; v < 0 {
				t.Fatal(x)
			}
			for j := range x {
				y := append([]float64(nil), x...)
				if d := min(1e-3, y[i]); i != j {
					if y[i], y[j] = y[i]-d, y[j]+d; far(y, parts) < far(x, parts)-1e-9 {
						t.Fatalf("%v of %v: %v is nearer", x, parts, y)
					}
				}
			}
		}
		if math.Abs(sum-total) > 1e-9*(1+total) {
			t.Fatalf("%v add up to %v, not %v", x, sum, total)
		}
	}
}

// TestTotalsThatAreOffStayAsTheyAre: a total beside numbers that do not cover it, and one of which
// a number is absent. What noise explains is held against each other, but for one in ten thousand.
func TestTotalsThatAreOffStayAsTheyAre(t *testing.T) {
	r := rand.New(stattest.Source(t, "off"))
	draw := func(missing float64) []Node {
		nodes := []Node{{Parent: -1, Value: 100 + 3*r.NormFloat64() + missing, Noise: 3}}
		for range 10 {
			nodes = append(nodes, Node{Value: 10 + 3*r.NormFloat64(), Noise: 3})
		}
		return nodes
	}
	off := 0
	for range 2000 {
		if _, apart := Nodes(draw(0)); apart.Off > 0 {
			off++
		}
		if got, apart := Nodes(draw(80)); apart.Off != 1 || got[0].Changed || got[3].Changed {
			t.Fatal("80 that are missing passed")
		}
	}
	if off > 6 { // 0.2 expected
		t.Errorf("%d of 2000 totals were taken for off", off)
	}
	nodes := draw(0)
	nodes[4].Absent = true
	if got, apart := Nodes(nodes); apart.Absent != 1 || got[0].Changed {
		t.Error("a total of which a number is absent was changed")
	}
}

// TestCutsAreAllowedFor plays clips that take away as much as their laws say: the interval that the
// combined law gives holds the exact number at 95 %, whether the clips of all nodes take from the
// same side of their laws, or each by itself. Without the allowance it does not.
func TestCutsAreAllowedFor(t *testing.T) {
	const runs = 4000
	r := rand.New(stattest.Source(t, "cuts"))
	for name, together := range map[string]bool{"together": true, "each by itself": false} {
		hits, broken := make([]int, 6), 0
		for range runs {
			nodes, exact := []Node{{Parent: -1, Noise: 4}}, make([]float64, 6)
			common := r.NormFloat64()
			for i := range 6 {
				mean := 8.0
				if i > 0 {
					nodes = append(nodes, Node{Noise: 2})
					exact[i] = 50 * r.Float64()
					exact[0] += exact[i]
				} else {
					mean = 12
				}
				nodes[i].Digits = -1
				nodes[i].Cut = estimator.Cut{Added: mean, Up: []estimator.CutPart{{Weight: 1, Mean: mean, StdDev: mean / 3}}}
			}
			for i := range nodes {
				z := common
				if !together {
					z = r.NormFloat64()
				}
				c := nodes[i].Cut
				nodes[i].Value = exact[i] - max(0, c.Added+z*c.Added/3) + c.Added + nodes[i].Noise*r.NormFloat64()
			}
			got, _ := Nodes(nodes)
			for i, g := range got {
				if !g.Changed {
					hits[i]++
					continue
				}
				centre, w := g.Value-g.Cut.Added, 1.96*g.Noise
				if exact[i] >= centre-w-g.Cut.Below(0.05) && exact[i] <= centre+w+g.Cut.Above(0.05) {
					hits[i]++
				}
				if i == 1 && math.Abs(exact[i]-g.Value) <= w {
					broken++
				}
			}
		}
		for i, h := range hits {
			stattest.Accept(t, stattest.Coverage(name, h, runs, 0.95))
			if i == 1 {
				stattest.Reject(t, stattest.Coverage(name+", broken", broken, runs, 0.95))
			}
		}
	}
}

// TestNumbersNotUnder0AddUp: none is under 0, they add up to the same, and those with less noise
// give way less; where the sum is under 0 all are 0.
func TestNumbersNotUnder0AddUp(t *testing.T) {
	r := rand.New(stattest.Source(t, "not under 0"))
	for range 200 {
		values, noise, total := make([]float64, 1+r.IntN(30)), make([]float64, 30), 0.0
		for i := range values {
			noise[i] = 1 + 5*r.Float64()
			values[i] = math.Round(3 + noise[i]*r.NormFloat64())
			total += values[i]
		}
		got, sum := NotUnder0(values, noise[:len(values)], 0), 0.0
		for _, x := range got {
			if sum += x; x < 0 || x != math.Round(x) {
				t.Fatalf("%v of %v", got, values)
			}
		}
		if sum != max(0, total) {
			t.Fatalf("%v add up to %v, want %v", got, sum, total)
		}
	}
	if got := NotUnder0([]float64{-6, 20, 20}, []float64{1, 1, 3}, -1); got[0] != 0 || math.Abs(got[1]-19.4) > 1e-9 || math.Abs(got[2]-14.6) > 1e-9 {
		t.Errorf("got %v", got)
	}
}
