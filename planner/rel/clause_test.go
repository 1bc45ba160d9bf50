package rel

import (
	"reflect"
	"testing"

	"scrim/planner/plan"
)

// TestHolders: place holders are found outside of names and texts only.
func TestHolders(t *testing.T) {
	got := Renumbered(plan.Scan{SQL: `SELECT "a$1", '$2', 'it''s $1', $3, $1, $3 FROM "t""$2" WHERE x$ = $12`, Args: []any{"one", 2, "three", 4, 5, 6, 7, 8, 9, 10, 11, "twelve"}})
	if want := `SELECT "a$1", '$2', 'it''s $1', $1, $2, $1 FROM "t""$2" WHERE x$ = $3`; got.SQL != want || !reflect.DeepEqual(got.Args, []any{"three", "one", "twelve"}) {
		t.Errorf("got %s with %v", got.SQL, got.Args)
	}
}
