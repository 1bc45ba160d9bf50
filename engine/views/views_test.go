package views

import (
	"strings"
	"testing"

	"scrim/engine/store"
)

// TestOneChangesAViewAtATime: a view that is refreshed cannot be dropped meanwhile, which would
// leave a table without a record or a record without a table; others can.
func TestOneChangesAViewAtATime(t *testing.T) {
	sales, visits := store.TableRef{Schema: "d", Name: "sales"}, store.TableRef{Schema: "d", Name: "visits"}
	v := &Views{held: map[store.TableRef]*Record{sales: {}, visits: {}}, busy: map[store.TableRef]bool{}}
	_, free, err := v.alone(sales)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := v.alone(sales); err == nil || !strings.Contains(err.Error(), "being refreshed") {
		t.Errorf("a second one: %v", err)
	}
	if _, other, err := v.alone(visits); err != nil {
		t.Error(err)
	} else {
		other()
	}
	free()
	if _, free, err = v.alone(sales); err != nil {
		t.Error(err)
	} else {
		free()
	}
}
