package dashboard

import (
	"math"
	"time"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/engine/observe/watch"
)

// Level says how much a budget needs a DBA's eye.
type Level string

// The levels, the most pressing first.
const (
	UsedUp  Level = "used-up"
	Pressed Level = "pressed" // it will not last at the present rate, or little is left
	Fine    Level = "fine"
	Unused  Level = "unused"
)

// Point is an amount in the unit of a budget at a moment.
type Point struct {
	At     time.Time
	Amount float64
}

// Burn is the spending of one holder of a budget over its window, and where it leads.
type Burn struct {
	Budget   accounting.BudgetStatus
	Measure  watch.Measure
	From, To time.Time // the window, or for a budget without one a stretch around now
	Now      time.Time
	Spent    float64
	Left     float64
	Points   []Point // rising within (From, Now]; falls where the budget was reset
	// Projected goes on from now at the rate of the window so far, to the end of the window or to
	// the limit; nil where there is nothing to go by.
	Projected []Point
	// Exhausted is when the projection reaches the limit; zero when it does not before To.
	Exhausted time.Time
	Level     Level
}

// Share is the part of the limit that is spent, from 0 to 1.
func (b *Burn) Share() float64 { return b.Measure.Share(b.Spent) }

const dayLength = 24 * time.Hour

// leastRate is the shortest time that a rate is taken over, leastOfDay that in the window of a day:
// an hour's burst is no trend.
const (
	leastRate  = 24 * time.Hour
	leastOfDay = 6 * time.Hour
)

// lookBack is how far the chart of a budget without a window reaches back, rateOver what its rate
// is taken over.
const (
	lookBack = 2 * 365 * dayLength
	rateOver = 30 * dayLength
)

// burnOf makes the burn-down of a line of the status. charges are those of its window and account
// if the window is a day, which has no days to show; resets are when the budget was reset. Both
// ascend.
func burnOf(s accounting.BudgetStatus, days []accounting.DaySpent, charges []Point, resets []time.Time, now time.Time) *Burn {
	b := &Burn{Budget: s, Measure: watch.MeasureOf(s.Budget), Now: now.UTC()}
	b.Spent = b.Measure.Spent(&s)
	b.Left = math.Max(0, b.Measure.Limit-b.Spent)
	b.From, b.To = s.WindowStart, s.WindowEnd
	if s.WindowEnd.IsZero() {
		b.From, b.To = stretch(days, b.Now)
	}
	b.To = later(b.To, b.Now)
	if s.Window == budget.Day && charges != nil {
		b.Points = charges
	} else {
		b.Points = b.cumulate(days, resets)
	}
	b.Points = append(b.Points, Point{b.Now, b.Spent})
	b.project(days, resets)
	b.Level = b.level()
	return b
}

// stretch is what the chart of a budget without a window shows: from the first spending, and half
// of that into the future.
func stretch(days []accounting.DaySpent, now time.Time) (from, to time.Time) {
	from = now.Truncate(dayLength).Add(-7 * dayLength)
	if len(days) > 0 && days[0].Day.Before(from) {
		from = days[0].Day
	}
	ahead := max(14*dayLength, now.Sub(from)/2)
	return from, now.Add(ahead).Truncate(dayLength).Add(dayLength)
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// cumulate adds up the days within the window that have passed. Spending before the last reset is
// shown up to the reset; what counts after it ends in the amount that the ledger states.
func (b *Burn) cumulate(days []accounting.DaySpent, resets []time.Time) []Point {
	points := []Point{{b.From, 0}}
	var sum privacy.Loss
	var amount float64
	fall := func(before time.Time) {
		for len(resets) > 0 && resets[0].Before(before) {
			if resets[0].After(b.From) {
				points = append(points, Point{resets[0], amount}, Point{resets[0], 0})
			}
			sum, amount, resets = privacy.Loss{}, 0, resets[1:]
		}
	}
	for _, s := range merged(days, b.From) {
		fall(s.from)
		points = append(points, Point{s.from, amount})
		if !s.to.Before(b.Now) {
			break
		}
		sum = sum.Add(s.spent)
		amount = b.of(sum)
		fall(s.to) // what was spent on a day of a reset is shown before it
		points = append(points, Point{s.to, amount})
	}
	fall(b.Now)
	return points
}

// stretchSpent is what was spent from one midnight to another.
type stretchSpent struct {
	from, to time.Time
	spent    privacy.Loss
}

// mostStretches bounds the points of a chart: each costs a conversion.
const mostStretches = 120

// merged are the days from a moment on, several in one where there are many.
func merged(days []accounting.DaySpent, from time.Time) []stretchSpent {
	for len(days) > 0 && days[0].Day.Before(from) {
		days = days[1:]
	}
	each := 1 + len(days)/mostStretches
	var list []stretchSpent
	for i, d := range days {
		if i%each == 0 {
			list = append(list, stretchSpent{from: d.Day})
		}
		s := &list[len(list)-1]
		s.to, s.spent = d.Day.Add(dayLength), s.spent.Add(d.Spent)
	}
	return list
}

// project goes on at the rate so far. Losses add up in ρ and in the pure ε, so they are what goes
// on; ε follows from them.
func (b *Burn) project(days []accounting.DaySpent, resets []time.Time) {
	since, least := b.since(days, resets), leastRate
	if b.Budget.Window == budget.Day {
		least = leastOfDay
	}
	elapsed, lately := b.Now.Sub(since), b.lately(days, since)
	if elapsed < least || lately.Rho == 0 || b.Share() >= all {
		return
	}
	after := func(t time.Time) float64 {
		return b.of(b.Budget.Spent.Add(scaled(lately, float64(t.Sub(b.Now))/float64(elapsed))))
	}
	const steps = 24
	for i := range steps + 1 {
		at := b.Now.Add(b.To.Sub(b.Now) * time.Duration(i) / steps)
		amount := after(at)
		if amount >= b.Measure.Limit {
			b.Exhausted = reach(b.Now, at, b.Measure.Limit, after)
			b.Projected = append(b.Projected, Point{b.Exhausted, b.Measure.Limit})
			return
		}
		b.Projected = append(b.Projected, Point{at, amount})
	}
}

// of tells a loss in the unit of the budget. Days are kept without the curves of their events, so
// that pure charges beside others look dearer than they are: by as much as all that is spent does.
func (b *Burn) of(l privacy.Loss) float64 {
	amount, byRho := b.Measure.Of(l), b.Measure.Of(b.Budget.Spent)
	if b.Spent < byRho && !math.IsInf(byRho, 1) {
		amount *= b.Spent / byRho
	}
	return amount
}

// since is when the rate begins: with the window's first day of spending, at most rateOver ago
// where there is no window, or the last reset.
func (b *Burn) since(days []accounting.DaySpent, resets []time.Time) time.Time {
	since := b.From
	if b.Budget.WindowEnd.IsZero() {
		since = later(since, b.Now.Add(-rateOver))
	}
	for _, d := range days {
		if !d.Day.Before(since) {
			since = d.Day
			break
		}
	}
	for _, r := range resets {
		since = later(since, r)
	}
	return since
}

// lately is what was spent since then: for a window, all of what counts.
func (b *Burn) lately(days []accounting.DaySpent, since time.Time) privacy.Loss {
	if !b.Budget.WindowEnd.IsZero() {
		return b.Budget.Spent
	}
	var sum privacy.Loss
	for _, d := range days {
		if d.Day.Add(dayLength).After(since) {
			sum = sum.Add(d.Spent)
		}
	}
	return sum
}

// scaled is a part, or a multiple, of a loss.
func scaled(l privacy.Loss, by float64) privacy.Loss {
	if by <= 0 {
		return privacy.Loss{}
	}
	limit := privacy.MaxRho.Float()
	out := privacy.Loss{
		Rho:        privacy.RhoOf(math.Min(limit, l.Rho.Float()*by)),
		DeltaEvent: l.DeltaEvent * by, DeltaTV: l.DeltaTV * by,
	}
	if l.Pure > 0 {
		out.Pure = privacy.PureOf(math.Min(limit, l.Pure.Float()*by))
	}
	return out
}

// reach is when a rising amount comes to the limit, between low and high, to the minute.
func reach(low, high time.Time, limit float64, amount func(time.Time) float64) time.Time {
	for high.Sub(low) > time.Minute {
		if mid := low.Add(high.Sub(low) / 2); amount(mid) >= limit {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// all is the share from which on a budget counts as used up: what is left then fits no charge that
// tells anything.
const all = 0.9999

// level weighs what is left and how long it lasts.
func (b *Burn) level() Level {
	switch {
	case b.Share() >= all, b.Budget.RemainingRho == 0 && b.Measure.Unit != watch.Pure:
		return UsedUp
	case !b.Exhausted.IsZero() || b.Share() >= 0.9:
		return Pressed
	case b.Budget.Spent.Rho == 0:
		return Unused
	}
	return Fine
}
