package record

import (
	"testing"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
)

func FuzzDecodeRecord(f *testing.F) {
	r := Record{Kind: Charge, Principal: "a", Statement: "s", Charges: []Booked{{Account: "t", Loss: privacy.Tally{Rho: 1}}}}
	f.Add(r.Encode(nil))
	r.Charges[0].Loss.Pure = 5
	f.Add(r.Encode(nil))
	f.Add((&Record{Kind: SetBudget, Budget: budget.Budget{Account: "t", Principal: budget.All, Epsilon: 1, Window: budget.Day}}).Encode(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Decode(b)
		if err != nil {
			return
		}
		if again, err := Decode(r.Encode(nil)); err != nil || again.Kind != r.Kind || again.Principal != r.Principal || len(again.Charges) != len(r.Charges) {
			t.Errorf("%x does not survive: %v", b, err)
		}
	})
}
