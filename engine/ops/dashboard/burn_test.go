package dashboard

import (
	"context"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/engine/observe/watch"
)

func rho(r float64) privacy.Loss { return privacy.Loss{Rho: privacy.RhoOf(r)} }

// monthly is a budget in ρ for October, of which days each spend the same.
func monthly(limit, each float64, days int) (accounting.BudgetStatus, []accounting.DaySpent) {
	from := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	b := accounting.BudgetStatus{
		Budget:      budget.Budget{Account: "t", Principal: budget.All, Rho: privacy.RhoOf(limit), Window: budget.Month},
		Holder:      budget.All,
		WindowStart: from, WindowEnd: from.AddDate(0, 1, 0),
	}
	var list []accounting.DaySpent
	for i := range days {
		list = append(list, accounting.DaySpent{Day: from.AddDate(0, 0, i), Spent: rho(each)})
		b.Spent = b.Spent.Add(rho(each))
	}
	if left := limit - b.Spent.Rho.Float(); left > 0 {
		b.RemainingRho = privacy.RhoOf(left)
	}
	return b, list
}

func TestProjectionOfAConstantRate(t *testing.T) {
	// A tenth a day in a budget of 2.5 is used up after 25 days.
	b, days := monthly(2.5, 0.1, 10)
	burn := burnOf(b, days, nil, nil, b.WindowStart.AddDate(0, 0, 10))
	if want := b.WindowStart.AddDate(0, 0, 25); burn.Exhausted.Sub(want).Abs() > 2*time.Minute {
		t.Errorf("used up at %v, want %v", burn.Exhausted, want)
	}
	if burn.Level != Pressed || !strings.Contains(burn.Verdict(), "used up 26 Oct") && !strings.Contains(burn.Verdict(), "used up 25 Oct") {
		t.Errorf("got %s: %s", burn.Level, burn.Verdict())
	}
	// In a budget of 3.2 it lasts.
	b, days = monthly(3.2, 0.1, 10)
	burn = burnOf(b, days, nil, nil, b.WindowStart.AddDate(0, 0, 10))
	last := burn.Projected[len(burn.Projected)-1]
	if !burn.Exhausted.IsZero() || burn.Level != Fine || math.Abs(last.Amount-3.1) > 1e-6 || !last.At.Equal(b.WindowEnd) {
		t.Errorf("got %s, used up at %v, the end %v", burn.Level, burn.Exhausted, last)
	}
}

func TestProjectionInEpsilonAddsUpRho(t *testing.T) {
	// Spending that reaches exactly the limit at the window's end must be seen to reach it there,
	// although ε is not linear.
	b, days := monthly(1, 0.1, 10)
	total := privacy.RhoFor(4, 1e-6).Float()
	b.Budget.Rho, b.Epsilon, b.Delta, b.Spent = 0, 4, 1e-6, rho(total*0.5)
	b.RemainingRho = privacy.RhoOf(total * 0.5)
	now := b.WindowStart.Add(b.WindowEnd.Sub(b.WindowStart) / 2)
	burn := burnOf(b, days, nil, nil, now)
	last := burn.Projected[len(burn.Projected)-1]
	if math.Abs(last.Amount-4) > 0.01 || last.At.Sub(b.WindowEnd).Abs() > time.Hour {
		t.Errorf("the projection ends at %v, want ε 4 at %v", last, b.WindowEnd)
	}
	if middle := burn.Spent; middle < 2.2 {
		t.Errorf("half of ρ is ε %v: the test needs a curve", middle)
	}
}

func TestNoProjectionFromNothing(t *testing.T) {
	b, days := monthly(2.5, 0.1, 1)
	if burn := burnOf(b, days, nil, nil, b.WindowStart.Add(20*time.Hour)); burn.Projected != nil || !strings.Contains(burn.Verdict(), "Too early") {
		t.Errorf("a part of a day makes a trend: %s", burn.Verdict())
	}
	b, _ = monthly(2.5, 0.1, 0)
	if burn := burnOf(b, nil, nil, nil, b.WindowStart.AddDate(0, 0, 9)); burn.Projected != nil || burn.Level != Unused {
		t.Errorf("nothing makes a trend: %s, %s", burn.Level, burn.Verdict())
	}
}

func TestUsedUp(t *testing.T) {
	b, days := monthly(1, 0.1, 10)
	burn := burnOf(b, days, nil, nil, b.WindowStart.AddDate(0, 0, 12))
	if burn.Level != UsedUp || burn.Share() != 1 || !strings.Contains(burn.Verdict(), "Used up until 1 Nov") {
		t.Errorf("got %s, %v: %s", burn.Level, burn.Share(), burn.Verdict())
	}
	b.Budget.Rho = privacy.RhoOf(0.5) // lowered below what is spent
	if burn = burnOf(b, days, nil, nil, b.WindowStart.AddDate(0, 0, 12)); burn.Level != UsedUp || burn.Left != 0 {
		t.Errorf("lowered: got %s, left %v", burn.Level, burn.Left)
	}
}

func TestResetsFallToNothing(t *testing.T) {
	b, days := monthly(2.5, 0.1, 10)
	reset := b.WindowStart.Add(5*dayLength - time.Hour)
	b.Spent = rho(0.5) // what counts since
	burn := burnOf(b, days, nil, []time.Time{reset}, b.WindowStart.AddDate(0, 0, 10))
	fell := false
	for i, p := range burn.Points[1:] {
		if p.Amount < burn.Points[i].Amount-1e-9 {
			if fell = p.Amount == 0 && p.At.Equal(reset); !fell {
				t.Errorf("the amount falls from %v to %v", burn.Points[i], p)
			}
		}
		if p.At.Before(burn.Points[i].At) {
			t.Errorf("the points go back from %v to %v", burn.Points[i].At, p.At)
		}
	}
	if last := burn.Points[len(burn.Points)-1]; !fell || math.Abs(last.Amount-0.5) > 1e-9 {
		t.Errorf("fell: %v; ends at %v, want 0.5", fell, last)
	}
}

func TestManyDaysAreMerged(t *testing.T) {
	b, _ := monthly(1e3, 0.1, 0)
	b.Window, b.WindowStart, b.WindowEnd = budget.Never, time.Time{}, time.Time{}
	now := time.Date(2026, 10, 22, 12, 0, 0, 0, time.UTC)
	var days []accounting.DaySpent
	for i := range 700 {
		days = append(days, accounting.DaySpent{Day: now.Truncate(dayLength).AddDate(0, 0, i-699), Spent: rho(0.1)})
		b.Spent = b.Spent.Add(rho(0.1))
	}
	burn := burnOf(b, days, nil, nil, now)
	if n := len(burn.Points); n > 3*mostStretches || n < 100 {
		t.Errorf("got %d points", n)
	}
	if rows := burn.Rows(); len(rows) > mostRows+3 {
		t.Errorf("got %d rows", len(rows))
	}
	if last := burn.Points[len(burn.Points)-1]; math.Abs(last.Amount-70) > 1e-6 {
		t.Errorf("ends at %v", last)
	}
}

func TestMeasures(t *testing.T) {
	for _, c := range []struct {
		name   string
		budget budget.Budget
		loss   privacy.Loss
		unit   watch.Unit
		want   float64
	}{
		{"rho", budget.Budget{Rho: privacy.RhoOf(2), Delta: 1e-7}, rho(0.5), watch.Rho, 0.5},
		{"rho without delta", budget.Budget{Rho: privacy.RhoOf(2)}, rho(0.5), watch.Rho, 0.5},
		{"pure", budget.Budget{Epsilon: 2}, privacy.PureLoss(0.25), watch.Pure, 0.25},
		{"approximate", budget.Budget{Epsilon: 2, Delta: 1e-6}, rho(0.05), watch.Epsilon, float64(privacy.EpsilonOf(rho(0.05), 1e-6))},
	} {
		m := watch.MeasureOf(c.budget)
		if got := m.Of(c.loss); m.Unit != c.unit || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: got %v %v, want %v %v", c.name, m.Unit, got, c.unit, c.want)
		}
		if m.Limit != 2 || m.Share(1) != 0.5 || m.Share(math.Inf(1)) != 1 {
			t.Errorf("%s: limit %v, shares %v, %v", c.name, m.Limit, m.Share(1), m.Share(math.Inf(1)))
		}
	}
}

// TestChartsStayInside checks the positions of charts of all kinds of budgets.
func TestChartsStayInside(t *testing.T) {
	f := newFixture(t, true)
	facts, err := f.facts(context.Background())
	f.must(err)
	lines, _, err := facts.lines(100, func(*accounting.BudgetStatus) bool { return true })
	f.must(err)
	if len(lines) < 9 {
		t.Fatalf("only %d budgets", len(lines))
	}
	for _, l := range lines {
		for _, c := range []*Chart{l.Chart(), l.Large()} {
			for _, d := range []string{c.Line, c.Projection, c.Area} {
				for _, pair := range strings.FieldsFunc(d, func(r rune) bool { return r == 'M' || r == 'L' || r == 'Z' }) {
					xs, ys, _ := strings.Cut(pair, " ")
					x, errX := strconv.ParseFloat(xs, 64)
					y, errY := strconv.ParseFloat(ys, 64)
					if errX != nil || errY != nil || x < c.Left-0.1 || x > c.Right+0.1 || y < c.Top-4 || y > c.Bottom+0.1 {
						t.Fatalf("%s: the point %q is outside of %v–%v, %v–%v", l.Title, pair, c.Left, c.Right, c.Top, c.Bottom)
					}
				}
			}
			if len(c.XTicks) < 2 || len(c.XTicks) > 13 || len(c.YTicks) < 2 || len(c.YTicks) > 7 {
				t.Errorf("%s: %d and %d ticks", l.Title, len(c.XTicks), len(c.YTicks))
			}
		}
	}
}

// TestBurnEndsInWhatTheLedgerSays compares the last point of each line with the status.
func TestBurnEndsInWhatTheLedgerSays(t *testing.T) {
	f := newFixture(t, true)
	facts, err := f.facts(context.Background())
	f.must(err)
	lines, _, err := facts.lines(100, func(*accounting.BudgetStatus) bool { return true })
	f.must(err)
	for _, l := range lines {
		before, last := 0.0, l.Points[len(l.Points)-1]
		for _, p := range l.Points {
			if p.Amount < before-1e-6 {
				t.Errorf("%s, %s: falls from %v to %v", l.Title, l.Whose, before, p.Amount)
			}
			before = p.Amount
		}
		if l.Measure.Unit == watch.Epsilon && math.Abs(last.Amount-float64(l.Budget.SpentEpsilon)) > 1e-9 && last.Amount < float64(l.Budget.SpentEpsilon) {
			t.Errorf("%s: the chart ends at %v, the ledger says %v", l.Title, last.Amount, l.Budget.SpentEpsilon)
		}
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1", 3.21987: "3.22", 12345.6: "12346", 0.00012: "0.00012", 1e-6: "1e-6", 0.0123456: "0.01235", math.Inf(1): "∞", 2.5: "2.5", 1e9: "1e+09",
	} {
		if got := number(v); got != want {
			t.Errorf("%v: got %q, want %q", v, got, want)
		}
	}
	for v, want := range map[float64]string{0: "0 %", 0.001: "under 1 %", 0.5: "50 %", 0.995: "99 %", 1: "100 %"} {
		if got := percent(v); got != want {
			t.Errorf("%v: got %q, want %q", v, got, want)
		}
	}
}

func TestRecent(t *testing.T) {
	r := NewRecent(fixtureNow)
	for i := range 3 * keptEvents {
		r.Statement(watch.Event{At: fixtureNow.Add(time.Duration(i) * time.Second), Outcome: watch.Refused, Cause: "C" + strconv.Itoa(i), Statement: strings.Repeat("ä", 5000), ID: strconv.Itoa(i)})
	}
	all := r.Unanswered(10*keptEvents, func(*watch.Event) bool { return true })
	if len(all) != keptEvents || all[0].ID != strconv.Itoa(3*keptEvents-1) || all[1].ID != strconv.Itoa(3*keptEvents-2) {
		t.Errorf("got %d events, the first %s", len(all), all[0].ID)
	}
	if n := len(all[0].Statement); n > keptStatement+4 {
		t.Errorf("%d bytes of a statement are kept", n)
	}
	if n := len(r.Causes()); n > keptCauses {
		t.Errorf("%d causes are kept", n)
	}
	r = NewRecent(fixtureNow)
	for h := range 100 {
		r.Statement(watch.Event{At: fixtureNow.Add(time.Duration(h) * time.Hour), Outcome: watch.Answered, Charged: 1, Replayed: 2, Private: true})
	}
	now := fixtureNow.Add(100 * time.Hour)
	hours := r.Hours(now, 24)
	sum := 0
	for _, h := range hours {
		sum += h.Answered
	}
	if len(hours) != 24 || sum != 23 || hours[22].Replayed != 2 || hours[23].Answered != 0 {
		t.Errorf("got %d hours with %d statements, the last but one %+v", len(hours), sum, hours[22])
	}
}

func TestNamesTable(t *testing.T) {
	for _, c := range []struct {
		text, database string
		want           bool
	}{
		{"SELECT * FROM shop.orders LIMIT ?", "", true}, {"SELECT * FROM `Shop`.`Orders`", "", true}, {"SELECT * FROM orders", "shop", true},
		{"SELECT * FROM orders", "other", false}, {"SELECT * FROM shop.orders_old", "shop", false}, {"", "shop", false},
	} {
		if got := namesTable(&watch.Event{Statement: c.text, Database: c.database}, "shop.orders"); got != c.want {
			t.Errorf("%s in %q: got %v", c.text, c.database, got)
		}
	}
}

// TestTheRateBeginsWithTheSpending: what was not used for three weeks is not used up slowly.
func TestTheRateBeginsWithTheSpending(t *testing.T) {
	b, _ := monthly(2.5, 0.1, 0)
	b.Spent = rho(1)
	first := b.WindowStart.AddDate(0, 0, 20)
	days := []accounting.DaySpent{{Day: first, Spent: rho(0.5)}, {Day: first.AddDate(0, 0, 1), Spent: rho(0.5)}}
	burn := burnOf(b, days, nil, nil, first.AddDate(0, 0, 2))
	if want := first.AddDate(0, 0, 5); burn.Exhausted.Sub(want).Abs() > 2*time.Minute {
		t.Errorf("used up at %v, want %v", burn.Exhausted, want)
	}
}

// TestSpenders finds the same whether the ledger keeps the sums of principals, under a default
// budget, or charges are added up.
func TestSpenders(t *testing.T) {
	f := newFixture(t, true)
	read := func(account string) map[string]float64 {
		facts, err := f.facts(context.Background())
		f.must(err)
		list, err := facts.spenders(100, "", func(b *accounting.BudgetStatus) bool { return b.Account == account })
		f.must(err)
		parts, sum := map[string]float64{}, 0.0
		for i, s := range list {
			parts[s.Principal] = s.Part
			sum += s.Part
			if i > 0 && s.Part > list[i-1].Part {
				t.Errorf("%s: %v comes after %v", account, s, list[i-1])
			}
			if s.Amount <= 0 || s.Amount > 10 {
				t.Errorf("%s: %s spent %v", account, s.Principal, s.Amount)
			}
			one, err := facts.spenders(100, s.Principal, func(b *accounting.BudgetStatus) bool { return b.Account == account })
			f.must(err)
			if len(one) != 1 || one[0] != s {
				t.Errorf("%s alone: got %v, want %v", s.Principal, one, s)
			}
		}
		if len(list) != 4 || math.Abs(sum-1) > 1e-9 {
			t.Errorf("%s: %d spenders have %v of all", account, len(list), sum)
		}
		return parts
	}
	ctx := context.Background()
	kept := read("shop.orders")
	f.must(f.ledger.RemoveBudget(ctx, "shop.orders", false, budget.Default, "root@%"))
	added := read("shop.orders")
	for p, part := range kept {
		if math.Abs(added[p]-part) > 1e-9 {
			t.Errorf("%s has %v by the status and %v by the charges", p, part, added[p])
		}
	}
	read("shop.reviews")
	f.must(f.ledger.SetBudget(ctx, budget.Budget{Account: "shop.reviews", Principal: budget.Default, Epsilon: 4, Delta: 1e-6, Window: budget.Day}))
	read("shop.reviews") // the default budget's sums are those of a day
}
