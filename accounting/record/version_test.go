package record

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"scrim/accounting/internal/chain"
)

// layoutOf describes a type by its fields, down to its basic kinds.
func layoutOf(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "Time"
	case t.Kind() == reflect.Struct:
		var fields []string
		for i := range t.NumField() {
			fields = append(fields, t.Field(i).Name+" "+layoutOf(t.Field(i).Type))
		}
		return "{" + strings.Join(fields, "; ") + "}"
	case t.Kind() == reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), layoutOf(t.Elem()))
	case t.Kind() == reflect.Pointer, t.Kind() == reflect.Slice, t.Kind() == reflect.Chan:
		return t.Kind().String() + " " + layoutOf(t.Elem())
	}
	return t.Kind().String()
}

// TestFormatOfRecords fails when the contents of a record change. A program of before
// reads the record otherwise, or not at all. Where it reads it otherwise, chain.Format and
// chain.ArchivedFormat have to be raised; where it does not know it, as a kind or a field behind
// the others, it says itself that a newer program wrote it. Then write here what there is now.
func TestFormatOfRecords(t *testing.T) {
	if chain.Format != "scrim ledger 3" || chain.ArchivedFormat != "scrim ledger 4" || chain.RenewedFormat != "scrim ledger 5" || Remark != 8 {
		t.Errorf("the formats %q, %q and %q, the last kind %d: write here what there is", chain.Format, chain.ArchivedFormat, chain.RenewedFormat, Remark)
	}
	want := "{Kind uint8; At Time; Day int32; Principal string; Statement string; Digest string; Print uint32; Mechanisms string; " +
		"Roles slice string; " +
		"Charges slice {Account string; Entity bool; Blocks ptr {First int32; Last int32}; Since int32; Table string; Loss {Rho uint64; Pure uint64; Event {hi uint64; lo uint64}; TV {hi uint64; lo uint64}}; Events slice {Kind uint8; Rho uint64; Epsilon uint64; Steps uint64; DeltaEvent float64; DeltaTV float64; Count uint32}; curve ptr {rho uint64; other [22]uint64; gdp {noise uint64; bounded uint64; most uint64}}; Left slice {Scope string; Epsilon float64; Rho uint64}; Tested slice {Budget {Account string; Entity bool; Principal string; Epsilon float64; Rho uint64; Delta float64; Window string; Order float64; Gaussian bool; Reason string; SetBy string; SetAt Time}; After slice {Tally {Rho uint64; Pure uint64; Event {hi uint64; lo uint64}; TV {hi uint64; lo uint64}}; Curve {rho uint64; other [22]uint64; gdp {noise uint64; bounded uint64; most uint64}}}}}; " +
		"Weighed chan {}; Charge uint64; Tables slice string; Outcomes slice {Charge uint64; Outcome uint8}; NoteKind string; Text string; " +
		"Budget {Account string; Entity bool; Principal string; Epsilon float64; Rho uint64; Delta float64; Window string; Order float64; Gaussian bool; Reason string; SetBy string; SetAt Time}}"
	if got := layoutOf(reflect.TypeFor[Record]()); got != want {
		t.Errorf("a record has\n%s\nnot\n%s", got, want)
	}
}

// TestUnknownKinds: no kind but those that are listed decodes.
func TestUnknownKinds(t *testing.T) {
	for kind := range 256 {
		b := (&Record{Kind: Kind(kind)}).Encode(nil)
		if _, err := Decode(b); (err == nil) != (Charge <= Kind(kind) && Kind(kind) <= Remark && Kind(kind) != SetBudget) {
			t.Errorf("kind %d: %v", kind, err)
		}
	}
}
