package flow

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/errorbar"
	"scrim/test/stattest"
)

// workload is pairs to count or sum, with the root mean square error that is aimed at at scale
// factor 1.
type workload struct {
	name  string
	shape Shape
	sum   bool
	pairs *estimator.Pairs
	aim   float64
}

// lines are line items like TPC-H's: orders of 1 to 7 lines each, of two thirds of the customers,
// from suppliers drawn evenly.
type lines struct {
	customers, orders, suppliers int
	of                           []uint32 // the customer of an order
	order, supplier              []uint32 // of a line
	quantity, revenue            []int64  // of a line; revenue in thousands
}

func newLines(r *rand.Rand, scale float64) *lines {
	l := &lines{customers: int(150_000 * scale), orders: int(1_500_000 * scale), suppliers: int(10_000 * scale)}
	for o := range uint32(l.orders) {
		c := r.IntN(l.customers)
		for c%3 == 0 {
			c = r.IntN(l.customers)
		}
		l.of = append(l.of, uint32(c))
		for range 1 + r.IntN(7) {
			q := 1 + r.IntN(50)
			l.order, l.supplier = append(l.order, o), append(l.supplier, uint32(r.IntN(l.suppliers)))
			l.quantity = append(l.quantity, int64(q))
			l.revenue = append(l.revenue, int64(float64(q)*(900+1200*r.Float64())*(1-0.1*r.Float64())/1000))
		}
	}
	return l
}

func (l *lines) customer(i int) uint32 { return l.of[l.order[i]] }

// pairs joins two persons of each line that is kept; value is 1 where it is nil.
func (l *lines) pairs(left, right func(i int) uint32, lefts, rights int, value []int64, keep func(i int) bool) *estimator.Pairs {
	weights := map[[2]uint32]int64{}
	for i := range l.order {
		if keep == nil || keep(i) {
			w := int64(1)
			if value != nil {
				w = value[i]
			}
			weights[[2]uint32{left(i), right(i)}] += w
		}
	}
	p := &estimator.Pairs{Lefts: lefts, Rights: rights}
	for k, w := range weights {
		p.Left, p.Right, p.Weights = append(p.Left, k[0]), append(p.Right, k[1]), append(p.Weights, w)
	}
	return p
}

// workloads are the joins that R2T was measured on, by which persons are private.
func (l *lines) workloads() []workload {
	supplier, order := func(i int) uint32 { return l.supplier[i] }, func(i int) uint32 { return l.order[i] }
	none := func(int) uint32 { return 0 }
	one := func(left func(i int) uint32, lefts int, value []int64, keep func(i int) bool) *estimator.Pairs {
		return l.pairs(left, none, lefts, 1, value, keep)
	}
	orders := &estimator.Pairs{Lefts: l.customers, Rights: 1, Left: l.of, Right: make([]uint32, l.orders)}
	return []workload{
		{"Q3 customer", One, false, one(l.customer, l.customers, nil, func(i int) bool { return l.order[i]%100 < 48 }), 800},
		{"Q12 orders", One, false, one(order, l.orders, nil, nil), 85},
		{"Q10 customer", One, false, orders, 300},
		{"Q18 customer, quantity", One, true, one(l.customer, l.customers, l.quantity, nil), 32000},
		{"Q20 supplier", One, false, one(supplier, l.suppliers, nil, nil), 6500},
		{"Q5 supplier + customer", Two, false, l.pairs(supplier, l.customer, l.suppliers, l.customers, nil, func(i int) bool { return l.supplier[i]%25 == l.customer(i)/3%25 }), 500},
		{"Q8 supplier + customer", Two, false, l.pairs(supplier, l.customer, l.suppliers, l.customers, nil, func(i int) bool { return l.order[i]%10 < 3 }), 2000},
		{"Q21 supplier + orders", Two, false, l.pairs(supplier, order, l.suppliers, l.orders, nil, nil), 6500},
		{"Q7 supplier + customer, revenue", Two, true, l.pairs(supplier, l.customer, l.suppliers, l.customers, l.revenue, nil), 230000},
	}
}

// figures are what many releases on one graph come to.
type figures struct {
	truth, floor    float64 // floor: the whole loss on the answer, at the best cap
	squares, mean   float64 // root mean square and mean absolute error
	none, low, high int     // answers withheld; intervals that end under and begin above the truth
}

// estimator is that of the workload at a loss.
func (w workload) estimator(t *testing.T, rho float64) release {
	p := estimator.Params{Rho: rho}
	if w.sum {
		p.Grid = estimator.Grid{Step: 1, Decimal: true, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}
	}
	return variant{w.name, p, Options{Shape: w.shape, Sum: w.sum}}.build(t)
}

func (w workload) measure(t *testing.T, rho float64, runs int) figures {
	r := w.estimator(t, rho)
	q := newProfile(w.shape, false, r.caps, w.pairs)
	q.from(0)
	f := figures{floor: math.Inf(1)}
	at := func(i int) float64 {
		x, _ := q.all[i].Float64()
		return x / float64(w.shape.parts())
	}
	f.truth = at(len(q.caps) - 1)
	for i, c := range q.caps {
		f.floor = min(f.floor, math.Hypot(f.truth-at(i), float64(c)/math.Sqrt(2*rho)))
	}
	n := stattest.Noiser(t, w.name)
	for range runs {
		a := r.searched(n, q)
		if a.Status != estimator.OK {
			f.none++
			continue
		}
		d := a.Values[0] - f.truth
		f.squares += d * d
		f.mean += math.Abs(d)
		lo, hi := errorbar.Interval(a, 0, 0.95)
		if lo > f.truth {
			f.low++
		}
		if hi < f.truth {
			f.high++
		}
	}
	answered := float64(max(1, runs-f.none))
	f.squares, f.mean = math.Sqrt(f.squares/answered), f.mean/answered
	return f
}

// TestErrorsAreNearTheFloor on small joins: at most 3 times what the best cap would give, were it
// known and nothing spent on it.
func TestErrorsAreNearTheFloor(t *testing.T) {
	l := newLines(rand.New(stattest.Source(t, "lines")), 0.02)
	for _, w := range l.workloads() {
		const runs = 300
		f := w.measure(t, 0.1, runs)
		t.Logf("%s: %d pairs, truth %.0f, floor %.1f, rms %.1f, %d without answer, intervals end at %d and %d", w.name, len(w.pairs.Left), f.truth, f.floor, f.squares, f.none, f.low, f.high)
		if f.squares > 3*f.floor || f.none > 3 {
			t.Errorf("%s: an error of %.1f, %.2f times the floor, %d without answer", w.name, f.squares, f.squares/f.floor, f.none)
		}
		stattest.Accept(t, stattest.Coverage(w.name, runs-f.none-f.low-f.high, runs-f.none, 0.95))
	}
}

func BenchmarkFlow(b *testing.B) {
	for _, scale := range []float64{0.1, 0.5} {
		l := newLines(rand.New(rand.NewPCG(1, 2)), scale)
		p := l.pairs(func(i int) uint32 { return l.supplier[i] }, l.customer, l.suppliers, l.customers, nil, nil)
		for _, cap := range []int64{1, 20, 300, 700} {
			b.Run(fmt.Sprintf("pairs=%d/cap=%d", len(p.Left), cap), func(b *testing.B) {
				b.ReportAllocs()
				for range b.N {
					c := newCurve(Two, p, positive)
					c.at(cap, func() {})
					c.done()
				}
			})
		}
		b.Run(fmt.Sprintf("pairs=%d/release", len(p.Left)), func(b *testing.B) {
			e, err := New(estimator.Params{Rho: 0.01126}, Options{Shape: Two})
			if err != nil {
				b.Fatal(err)
			}
			for range b.N {
				e.Release(stattest.Noiser(b, "bench"), estimator.Input{Pairs: p})
			}
		})
	}
}
