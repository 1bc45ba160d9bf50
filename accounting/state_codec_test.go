package accounting

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
)

// layoutOf describes a type by its fields, down to its basic kinds.
func layoutOf(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "Time"
	case t.Kind() == reflect.Struct:
		s := "{"
		for i := range t.NumField() {
			s += t.Field(i).Name + " " + layoutOf(t.Field(i).Type) + "; "
		}
		return s[:max(1, len(s)-2)] + "}"
	case t.Kind() == reflect.Map:
		return "map[" + layoutOf(t.Key()) + "]" + layoutOf(t.Elem())
	case t.Kind() == reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), layoutOf(t.Elem()))
	case t.Kind() == reflect.Pointer, t.Kind() == reflect.Slice:
		return t.Kind().String() + " " + layoutOf(t.Elem())
	}
	return t.Kind().String()
}

// TestStateVersion: whoever changes the fields of what a checkpoint holds sees this fail; then
// stateVersion has to be raised, encode and decodeState have to keep the new fields, and the new
// layout has to be written here.
func TestStateVersion(t *testing.T) {
	const version = 2
	for _, c := range []struct {
		of   reflect.Type
		want string
	}{
		{reflect.TypeFor[state](), "{lastID uint64; lastDay int32; starts [4]int32; spent map[{account string; entity bool; principal string}]ptr SPENDING; " +
			"budgets map[{account string; entity bool; principal string}]ptr BUDGET}"},
		{reflect.TypeFor[spending](), "{ever AMOUNT; since [4]{first int32; Amount AMOUNT}; days slice {day int32; spent TALLY}}"},
		{reflect.TypeFor[privacy.Amount](), "{Tally TALLY; Curve {rho uint64; other [22]uint64}}"},
		{reflect.TypeFor[privacy.Tally](), "{Rho uint64; Pure uint64; Event {hi uint64; lo uint64}; TV {hi uint64; lo uint64}}"},
		{reflect.TypeFor[budget.Budget](), "{Account string; Entity bool; Principal string; Epsilon float64; Rho uint64; Delta float64; Window string; " +
			"Order float64; Reason string; SetBy string; SetAt Time}"},
	} {
		want := c.want
		for _, r := range []struct {
			word string
			of   reflect.Type
		}{{"SPENDING", reflect.TypeFor[spending]()}, {"BUDGET", reflect.TypeFor[budget.Budget]()}, {"AMOUNT", reflect.TypeFor[privacy.Amount]()}, {"TALLY", reflect.TypeFor[privacy.Tally]()}} {
			want = string(bytes.ReplaceAll([]byte(want), []byte(r.word), []byte(layoutOf(r.of))))
		}
		if have := layoutOf(c.of); have != want || stateVersion != version {
			t.Errorf("version %d of %v is\n%s\nwant version %d with\n%s", stateVersion, c.of, have, version, want)
		}
	}
}

// TestStateCodec: what is encoded depends on the records alone, is read back as it was, and nothing
// else decodes.
func TestStateCodec(t *testing.T) {
	l := open(t, withCheckpoint(t), Options{ReadOnly: true, part: smallParts})
	one, _ := replayed(t, l)
	encoded := one.encode(nil)
	if !bytes.Equal(l.state.encode(nil), encoded) {
		t.Error("records read in parts and one by one are encoded otherwise")
	}
	s, err := decodeState(encoded)
	ok(t, err)
	if !bytes.Equal(s.encode(nil), encoded) || !reflect.DeepEqual(s.budgets, one.budgets) || len(s.spent) != len(one.spent) || s.lastDay != one.lastDay {
		t.Error("it is read back as something else")
	}
	for h, p := range one.spent {
		if !reflect.DeepEqual(s.spent[h].counting(s.lastDay), p.counting(one.lastDay)) {
			t.Errorf("%v spent something else", h)
		}
	}
	r := rand.New(rand.NewPCG(31, 1))
	for range 200 {
		n := r.IntN(len(encoded))
		if _, err := decodeState(encoded[:n]); err == nil {
			t.Fatalf("%d of %d bytes decode", n, len(encoded))
		}
	}
	// It goes on as the other does, over the ends of windows.
	for i := range 400 {
		e := record{kind: chargeRecord, principal: "p1@%", day: one.lastDay + budget.Date(r.IntN(2)), charges: merge(rho("t1", 1e-3))}
		if i%50 == 49 {
			e = record{kind: resetBudgetRecord, day: one.lastDay, budget: budget.Budget{Account: "t1", Principal: budget.All}}
		}
		ok(t, one.apply(&e))
		ok(t, s.apply(&e))
	}
	if !bytes.Equal(s.encode(nil), one.encode(nil)) {
		t.Error("it goes on otherwise")
	}
}
