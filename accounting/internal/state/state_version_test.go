package state

import (
	"bytes"
	"fmt"
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
// Version has to be raised, Encode and Decode have to keep the new fields, and the new
// layout has to be written here.
func TestStateVersion(t *testing.T) {
	const version = 4
	for _, c := range []struct {
		of   reflect.Type
		want string
	}{
		{reflect.TypeFor[State](), "{LastID uint64; LastDay int32; Starts [4]int32; Spent map[{Account string; Entity bool; Principal string}]ptr SPENDING; " +
			"Budgets map[{Account string; Entity bool; Principal string}]ptr BUDGET}"},
		{reflect.TypeFor[Spending](), "{Ever AMOUNT; Since [4]{First int32; Amount AMOUNT}; " +
			"Periods slice {Span {First int32; Last int32}; Since [4]{First int32; Amount AMOUNT}}; Days slice {Day int32; Spent TALLY}}"},
		{reflect.TypeFor[privacy.Amount](), "{Tally TALLY; Curve {rho uint64; other [22]uint64; gdp {noise uint64; bounded uint64; most uint64}}}"},
		{reflect.TypeFor[privacy.Tally](), "{Rho uint64; Pure uint64; Event {hi uint64; lo uint64}; TV {hi uint64; lo uint64}}"},
		{reflect.TypeFor[budget.Budget](), "{Account string; Entity bool; Principal string; Epsilon float64; Rho uint64; Delta float64; Window string; " +
			"Order float64; Gaussian bool; Reason string; SetBy string; SetAt Time}"},
	} {
		want := c.want
		for _, r := range []struct {
			word string
			of   reflect.Type
		}{{"SPENDING", reflect.TypeFor[Spending]()}, {"BUDGET", reflect.TypeFor[budget.Budget]()}, {"AMOUNT", reflect.TypeFor[privacy.Amount]()}, {"TALLY", reflect.TypeFor[privacy.Tally]()}} {
			want = string(bytes.ReplaceAll([]byte(want), []byte(r.word), []byte(layoutOf(r.of))))
		}
		if have := layoutOf(c.of); have != want || Version != version {
			t.Errorf("version %d of %v is\n%s\nwant version %d with\n%s", Version, c.of, have, version, want)
		}
	}
}
