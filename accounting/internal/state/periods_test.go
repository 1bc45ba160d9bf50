package state

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"scrim/accounting/budget"
	"scrim/accounting/days"
	"scrim/accounting/privacy"
)

// TestStretches spends on random stretches of some days and compares what each day has with sums by
// day, and the cuts with those of the same stretches in another order.
func TestStretches(t *testing.T) {
	all := budget.InWindows{true, true, true, true}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		p, q, by := &Spending{}, &Spending{}, [20]privacy.Rho{}
		type charge struct {
			on  *days.Span
			rho privacy.Rho
		}
		var list []charge
		for range 1 + r.IntN(12) {
			c := charge{&days.Span{First: days.Day(r.IntN(20)), Last: days.Latest}, privacy.Rho(1 + r.IntN(100))}
			c.on.Last = c.on.First + days.Day(r.IntN(20-int(c.on.First)))
			switch r.IntN(6) {
			case 0:
				c.on.First = days.Earliest
			case 1:
				c.on.Last = days.Latest
			case 2:
				c.on = nil
			}
			list = append(list, c)
			for d := range by {
				if on := c.on.All(); on.First <= days.Day(d) && days.Day(d) <= on.Last {
					by[d] += c.rho
				}
			}
		}
		spend := func(to *Spending, c charge) {
			to.Spend(c.on, budget.StartsOf(0), all, &privacy.Amount{Tally: privacy.Tally{Rho: c.rho}})
		}
		for _, c := range list {
			spend(p, c)
		}
		for _, i := range r.Perm(len(list)) {
			spend(q, list[i])
		}
		if !reflect.DeepEqual(p, q) {
			t.Fatalf("seed %d: the order of charges shows:\n%+v\n%+v", seed, p.Periods, q.Periods)
		}
		next := int64(days.Earliest)
		for _, x := range p.Over(nil, budget.Never, 0) {
			if int64(x.First) != next || x.Last < x.First {
				t.Fatalf("seed %d: a stretch begins at %d, want %d", seed, x.First, next)
			}
			next = int64(x.Last) + 1
			for d, want := range by {
				if day := days.Day(d); x.First <= day && day <= x.Last && x.Spent.Rho != want {
					t.Fatalf("seed %d: day %d has spent %d, want %d", seed, d, x.Spent.Rho, want)
				}
			}
		}
		if next != int64(days.Latest)+1 {
			t.Fatalf("seed %d: the stretches end before %d", seed, next)
		}
	}
}
