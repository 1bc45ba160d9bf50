package exec

import (
	"slices"
	"time"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/days"
	"scrim/accounting/privacy"
)

// UnitsOf tells how many units of one person of an entity lie between two days, both included, of
// which the zero time is an open end; 0: there is no bound. ok is false for an entity whose unit is
// the whole person.
type UnitsOf func(entity string, first, last time.Time) (n int64, ok bool)

// withPersons adds, behind the charges on entities whose unit is one person's rows of one period,
// those on what a person loses over all periods: each charge for as many units as a person can have
// in its blocks.
func (units UnitsOf) withPersons(charges []accounting.Charge) []accounting.Charge {
	if units == nil {
		return charges
	}
	list := slices.Clone(charges)
	for _, c := range charges {
		of, ok := units.ofPerson(c)
		if !ok {
			continue
		}
		i := slices.IndexFunc(list, func(d accounting.Charge) bool { return d.Entity && d.Account == of.Account })
		if i < 0 {
			list = append(list, of)
		} else {
			list[i] = both(list[i], of)
		}
	}
	return list
}

// ofPerson is a charge on an entity as it counts over all periods; false where there are none.
func (units UnitsOf) ofPerson(c accounting.Charge) (accounting.Charge, bool) {
	if !c.Entity || c.Loss == (privacy.Loss{}) {
		return c, false
	}
	var first, last time.Time
	if on := c.Blocks.All(); on.First != days.Earliest {
		first = on.First.Time()
	}
	if on := c.Blocks.All(); on.Last != days.Latest {
		last = on.Last.Time()
	}
	n, ok := units(c.Account, first, last)
	c.Account, c.Blocks = budget.OverPeriods(c.Account), nil
	switch {
	case !ok || n == 1:
		return c, ok
	case n == 0:
		return lost(c, privacy.NoBound()), true
	}
	return lost(c, c.Loss.OfUnits(n)), true
}

// both is the charge of two on one account.
func both(a, b accounting.Charge) accounting.Charge {
	sum := a.Loss.Add(b.Loss)
	if sum.Check() != nil { // two without a bound have none
		return lost(a, privacy.NoBound())
	}
	a.Loss, a.Events = sum, slices.Concat(a.Events, b.Events)
	if a.Rounded != nil {
		a.Rounded = slices.Concat(a.Rounded, b.Rounded)
	}
	return a
}

// lost is a charge with another loss, of whose mechanisms nothing else is known.
func lost(c accounting.Charge, l privacy.Loss) accounting.Charge {
	c.Loss, c.Events = l, privacy.EventsOf(l)
	if c.Rounded != nil {
		c.Rounded = slices.Clone(c.Events)
	}
	return c
}
