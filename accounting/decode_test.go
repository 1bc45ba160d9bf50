package accounting

import (
	"testing"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
)

func FuzzDecodeRecord(f *testing.F) {
	r := record{kind: chargeRecord, principal: "a", statement: "s", charges: []booked{{account: "t", loss: privacy.Tally{Rho: 1}}}}
	f.Add(r.encode(nil))
	r.charges[0].loss.Pure = 5
	f.Add(r.encode(nil))
	f.Add((&record{kind: setBudgetRecord, budget: budget.Budget{Account: "t", Principal: budget.All, Epsilon: 1, Window: budget.Day}}).encode(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeRecord(b)
		if err != nil {
			return
		}
		if again, err := decodeRecord(r.encode(nil)); err != nil || again.kind != r.kind || again.principal != r.principal || len(again.charges) != len(r.charges) {
			t.Errorf("%x does not survive: %v", b, err)
		}
	})
}
