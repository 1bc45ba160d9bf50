package accounting

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"scrim/accounting/budget"
	"scrim/accounting/internal/state"
	"scrim/accounting/record"
)

// TestStateCodec: what is encoded depends on the records alone, is read back as it was, and nothing
// else decodes.
func TestStateCodec(t *testing.T) {
	l := open(t, withCheckpoint(t), Options{ReadOnly: true, part: smallParts})
	one, _ := replayed(t, l)
	encoded := one.Encode(nil)
	if !bytes.Equal(l.state.Encode(nil), encoded) {
		t.Error("records read in parts and one by one are encoded otherwise")
	}
	s, err := state.Decode(encoded)
	ok(t, err)
	if !bytes.Equal(s.Encode(nil), encoded) || !reflect.DeepEqual(s.Budgets, one.Budgets) || len(s.Spent) != len(one.Spent) || s.LastDay != one.LastDay {
		t.Error("it is read back as something else")
	}
	for h, p := range one.Spent {
		if !reflect.DeepEqual(counting(s.Spent[h], s.LastDay), counting(p, one.LastDay)) {
			t.Errorf("%v spent something else", h)
		}
	}
	r := rand.New(rand.NewPCG(31, 1))
	for range 200 {
		n := r.IntN(len(encoded))
		if _, err := state.Decode(encoded[:n]); err == nil {
			t.Fatalf("%d of %d bytes decode", n, len(encoded))
		}
	}
	// It goes on as the other does, over the ends of windows.
	for i := range 400 {
		e := record.Record{Kind: record.Charge, Principal: "p1@%", Day: one.LastDay + budget.Date(r.IntN(2)), Charges: merge(rho("t1", 1e-3))}
		if i%50 == 49 {
			e = record.Record{Kind: record.ResetBudget, Day: one.LastDay, Budget: budget.Budget{Account: "t1", Principal: budget.All}}
		}
		ok(t, one.Apply(&e))
		ok(t, s.Apply(&e))
	}
	if !bytes.Equal(s.Encode(nil), one.Encode(nil)) {
		t.Error("it goes on otherwise")
	}
}
