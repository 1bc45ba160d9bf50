package catalog

import (
	"testing"
	"time"
)

var dated = fakeSchema{
	"shop.orders": {"id!", "customer_id", "other_id", "a_date", "a_moment", "a_number"},
	"shop.items":  {"id!", "order_id", "a_date"},
	"shop.visits": {"id!", "visitor", "a_date"},
}

// TestProtectPeriods: the periods of an entity are one for all its tables, are kept by the file,
// and stay once anything was charged.
func TestProtectPeriods(t *testing.T) {
	c, _ := open(t)
	charged := map[string]bool{}
	c.opts.Charged = func(a string) bool { return charged[a] }
	month := Period{"month", "a_moment"}
	refused(t, c.ProtectPeriods(dated, "shop.orders", "row", "buyer", month), "unit is the row")
	refused(t, c.ProtectPeriods(dated, "shop.orders", "customer_id", "buyer", Period{"month", "a_number"}), "no dates")
	refused(t, c.ProtectPeriods(dated, "shop.orders", "customer_id", "buyer", Period{"month", "nothing"}), "no column")
	ok(t, c.ProtectPeriods(dated, "shop.orders", "customer_id", "buyer", month))
	ok(t, c.ProtectPeriods(dated, "shop.orders", "customer_id", "buyer", month))
	if u := c.Snapshot().Table("shop.orders").Unit; u.Period != month || u.String() != "unit column customer_id by month of a_moment" {
		t.Errorf("unit %v", u)
	}
	refused(t, c.Protect(dated, "shop.orders", "customer_id", "buyer"), "already protected")
	refused(t, c.ProtectPeriods(dated, "shop.orders", "customer_id", "buyer", Period{"month", "a_date"}), "already protected")
	refused(t, c.Protect(dated, "shop.orders", "other_id", "seller"), "counts by period")
	refused(t, c.SetNeighbours("shop.orders", "replace-one"), "no relation replace-one")
	refused(t, c.Protect(dated, "shop.visits", "visitor", "buyer"), "one person's rows of one month", "buyer_by_person")
	refused(t, c.ProtectPeriods(dated, "shop.visits", "visitor", "buyer", Period{"week", "a_date"}), "one person's rows of one month", "buyer_by_week")
	ok(t, c.ProtectPeriods(dated, "shop.visits", "visitor", "buyer", Period{"month", "a_date"}))
	ok(t, c.Link(dated, "shop.items", "order_id", "shop.orders", "id"))
	refused(t, c.Protect(dated, "shop.items", "id", "seller"), "counts by period")
	if uses := c.Snapshot().Uses("shop.orders", "a_moment"); len(uses) != 1 {
		t.Errorf("the column of the periods is used for %v", uses)
	}
	if every := c.Snapshot().PeriodsOf("buyer"); every != "month" {
		t.Errorf("periods %q", every)
	}
	reopened(t, c)
	ok(t, c.Rename("shop.orders", "shop.old"))
	if u := c.Snapshot().Table("shop.old").Unit; u.Period != month {
		t.Errorf("renamed: %v", u)
	}
	reopened(t, c)
}

// TestPeriodsStay: neither a person's losses nor those of periods bound the other's.
func TestPeriodsStay(t *testing.T) {
	c, _ := open(t)
	charged := map[string]bool{}
	c.opts.Charged = func(a string) bool { return charged[a] }
	month, week := Period{"month", "a_date"}, Period{"week", "a_date"}
	ok(t, c.ProtectPeriods(dated, "shop.orders", "customer_id", "buyer", month))
	ok(t, c.Unprotect("shop.orders"))
	ok(t, c.ProtectPeriods(dated, "shop.orders", "customer_id", "buyer", week)) // nothing rests on it yet
	ok(t, c.Unprotect("shop.orders"))
	ok(t, c.Protect(dated, "shop.orders", "customer_id", "buyer"))
	ok(t, c.SetNeighbours("shop.orders", "replace-one"))
	ok(t, c.Unprotect("shop.orders"))
	ok(t, c.ProtectPeriods(dated, "shop.orders", "customer_id", "buyer", month))
	if r := c.Snapshot().Table("shop.orders").Relation; r != AddRemove {
		t.Errorf("relation %v", r)
	}
	ok(t, c.Unprotect("shop.orders"))
	for _, account := range []string{"buyer", "shop.orders"} {
		clear(charged)
		charged[account] = true
		refused(t, c.Protect(dated, "shop.orders", "customer_id", "buyer"))
		refused(t, c.ProtectPeriods(dated, "shop.orders", "customer_id", "buyer", week))
	}
	ok(t, c.ProtectPeriods(dated, "shop.orders", "customer_id", "buyer", month))
	clear(charged)
	ok(t, c.Protect(dated, "shop.visits", "visitor", "visitor"))
	charged["visitor"] = true
	ok(t, c.Unprotect("shop.visits"))
	refused(t, c.ProtectPeriods(dated, "shop.visits", "visitor", "visitor", month), "the person")
	reopened(t, c)
}

func TestParsePeriod(t *testing.T) {
	if p, err := ParsePeriod(`{"period": "Month", "of": "placed"}`); err != nil || p != (Period{"month", "placed"}) {
		t.Errorf("%v, %v", p, err)
	}
	for _, text := range []string{"", "{}", "month", `{"period": "month"}`, `{"period": "hour", "of": "placed"}`, `{"period": "month", "of": "placed", "x": 1}`, `{"period": "month", "of": "placed"} 1`} {
		_, err := ParsePeriod(text)
		refused(t, err, "is not a period")
	}
}

// TestUnitsOf: how many units somebody can have between two days follows from the calendar alone,
// and has no bound where an end is open.
func TestUnitsOf(t *testing.T) {
	s := &Snapshot{periods: map[string]string{"daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter", "yearly": "year"}}
	first, last := time.Date(2024, 12, 30, 0, 0, 0, 0, time.UTC), time.Date(2025, 3, 31, 0, 0, 0, 0, time.UTC)
	for entity, want := range map[string]int64{"daily": 92, "weekly": 14, "monthly": 4, "quarterly": 2, "yearly": 2} {
		if n, ok := s.UnitsOf(entity, first, last); n != want || !ok {
			t.Errorf("%s: %d, %v", entity, n, ok)
		}
		for _, open := range [][2]time.Time{{{}, last}, {first, {}}, {}} {
			if n, ok := s.UnitsOf(entity, open[0], open[1]); n != 0 || !ok {
				t.Errorf("%s, open: %d, %v", entity, n, ok)
			}
		}
	}
	if n, ok := s.UnitsOf("persons", first, last); n != 0 || ok {
		t.Errorf("whole persons: %d, %v", n, ok)
	}
}

// TestUnitsOfCenturies: a stretch of more years than a time.Duration has is counted in full, as a
// count that is too small would charge too little over all periods.
func TestUnitsOfCenturies(t *testing.T) {
	first, last := time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	for every, want := range map[string]int64{"day": 3_287_182, "week": 0, "month": 108_000, "quarter": 36_000, "year": 9_000} {
		got := CountPeriods(every, first, last)
		if every == "week" { // which may begin before the first day
			if got < 3_287_182/7 || got > 3_287_182/7+2 {
				t.Errorf("%d weeks", got)
			}
			continue
		}
		if got != want {
			t.Errorf("%s: %d, want %d", every, got, want)
		}
	}
}
