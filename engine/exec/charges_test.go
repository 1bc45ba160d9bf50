package exec

import (
	"reflect"
	"testing"
	"time"

	"scrim/accounting"
	"scrim/accounting/days"
	"scrim/accounting/privacy"
)

// TestChargesOfPersons: each charge on an entity by period has one over all periods beside it, of
// the same loss for a statement on one of them, and of the loss of as many units as it has; one
// without a bound stays so beside others. Tables and entities of whole persons have none.
func TestChargesOfPersons(t *testing.T) {
	units := UnitsOf(func(entity string, first, last time.Time) (int64, bool) {
		if entity != "buyer" || first.IsZero() || last.IsZero() {
			return 0, entity == "buyer"
		}
		return int64(last.Month()-first.Month()) + 1, true
	})
	month := func(first, last time.Month) *days.Span {
		at := func(m time.Month) days.Day { return days.Of(time.Date(2025, m, 1, 0, 0, 0, 0, time.UTC)) }
		return &days.Span{First: at(first), Last: at(last+1) - 1}
	}
	gaussian, rounded := privacy.Event{Kind: privacy.DiscreteGaussian, Rho: 8, Count: 1}, privacy.Event{Kind: privacy.Gaussian, Rho: 8, Count: 1}
	on := func(b *days.Span, l privacy.Loss) accounting.Charge {
		return accounting.Charge{Account: "buyer", Entity: true, Blocks: b, Loss: l, Events: []privacy.Event{gaussian}, Rounded: []privacy.Event{rounded}}
	}
	rho := privacy.Loss{Rho: 8}
	zcdp := func(r privacy.Rho) privacy.Event { return privacy.Event{Kind: privacy.ZCDP, Rho: r, Count: 1} }
	none := privacy.EventsOf(privacy.NoBound())
	for name, c := range map[string]struct {
		of              []accounting.Charge
		want            privacy.Loss
		events, rounded []privacy.Event
	}{
		"a month":        {[]accounting.Charge{on(month(6, 6), rho)}, rho, []privacy.Event{gaussian}, []privacy.Event{rounded}},
		"three months":   {[]accounting.Charge{on(month(6, 8), rho)}, privacy.Loss{Rho: 72}, []privacy.Event{zcdp(72)}, []privacy.Event{zcdp(72)}},
		"both":           {[]accounting.Charge{on(month(6, 6), rho), on(month(6, 8), rho)}, privacy.Loss{Rho: 80}, []privacy.Event{gaussian, zcdp(72)}, []privacy.Event{rounded, zcdp(72)}},
		"from a day on":  {[]accounting.Charge{on(&days.Span{First: month(6, 6).First, Last: days.Latest}, rho)}, privacy.NoBound(), none, none},
		"every period":   {[]accounting.Charge{on(nil, rho)}, privacy.NoBound(), none, none},
		"twice without":  {[]accounting.Charge{on(nil, rho), on(month(6, 8), privacy.Loss{Rho: 8, DeltaEvent: 1e-9})}, privacy.NoBound(), none, none},
		"private keys":   {[]accounting.Charge{on(month(6, 6), privacy.Loss{Rho: 8, DeltaEvent: 1e-9})}, privacy.Loss{Rho: 8, DeltaEvent: 1e-9}, []privacy.Event{gaussian}, []privacy.Event{rounded}},
		"and many of it": {[]accounting.Charge{on(month(6, 7), privacy.Loss{Rho: 8, DeltaEvent: 1e-9})}, privacy.NoBound(), none, none},
	} {
		got := units.withPersons(c.of)
		if len(got) != len(c.of)+1 || !reflect.DeepEqual(got[:len(c.of)], c.of) {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		if p, want := got[len(c.of)], (accounting.Charge{Account: "buyer over all periods", Entity: true, Loss: c.want, Events: c.events, Rounded: c.rounded}); !reflect.DeepEqual(p, want) {
			t.Errorf("%s: %+v\nwant %+v", name, p, want)
		}
	}
	others := []accounting.Charge{{Account: "buyer", Table: "s.t", Loss: rho}, {Account: "visitor", Entity: true, Loss: rho}, on(nil, privacy.Loss{})}
	if got := units.withPersons(others); !reflect.DeepEqual(got, others) {
		t.Errorf("%+v", got)
	}
	if got := UnitsOf(nil).withPersons(others); !reflect.DeepEqual(got, others) {
		t.Errorf("%+v", got)
	}
}
