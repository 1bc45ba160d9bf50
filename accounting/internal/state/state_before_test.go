package state

import (
	"bytes"
	"testing"

	"scrim/accounting/budget"
	"scrim/accounting/internal/codec"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
)

// TestStateOfTheVersionBefore: a state that was sealed before GDP was kept decodes, says what it
// said, and is μ-GDP for no known μ; one with discrete noise alone reads the same in both versions.
func TestStateOfTheVersionBefore(t *testing.T) {
	events := []privacy.Event{{Kind: privacy.DiscreteGaussian, Rho: 7, Count: 2}, {Kind: privacy.Exponential, Epsilon: 1 << 38, Count: 1}}
	for n := range len(events) + 1 {
		s := New()
		r := &record.Record{Kind: record.Charge, Principal: "a@%", Day: 9,
			Charges: []record.Booked{{Account: "t", Loss: privacy.TallyOf(privacy.Loss{Rho: 30}), Events: events[:n]}}}
		if err := s.Apply(r); err != nil {
			t.Fatal(err)
		}
		b := s.Encode(nil)
		b[0] = noGDP
		got, err := Decode(b)
		if err != nil || !got.Covers(s) || !s.Covers(got) {
			t.Fatalf("%d events: %v", n, err)
		}
		if again := got.Encode(nil); again[0] != everyBlock || !bytes.Equal(again[1:], b[1:]) {
			t.Errorf("%d events: encoded otherwise", n)
		}
		p := got.Of(Holder{Account: "t", Principal: budget.All})
		if _, ok := p.Ever.Curve.GDP(); ok != (n == 0) {
			t.Errorf("%d events: a GDP is known: %v", n, ok)
		}
	}
	// a curve as it was written then, of choices: ρ, a byte that says that divergences follow,
	// these
	tally := privacy.Tally{}
	old := append(tally.Append(nil), 0, 1)
	for range 22 {
		old = append(old, 0, 0, 0, 0, 0, 0, 0, 5)
	}
	d := codec.NewDecoder(old)
	a := privacy.ReadAmount(d)
	if _, ok := a.Curve.GDP(); d.Bad || d.Left() || ok {
		t.Errorf("a curve of the version before: %+v, bad %v", a.Curve, d.Bad)
	}
	again := codec.NewDecoder(a.Append(nil))
	if b := privacy.ReadAmount(again); again.Bad || b != a {
		t.Errorf("written again: %+v, bad %v", b, again.Bad)
	}
}
