package views

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"scrim/engine/store"
	"scrim/engine/store/duckdb"
)

// TestATableOfTheNameIsNoView: after its database was dropped, a table that is made under a view's
// name by an import is not taken for the view, which would make persons' rows public; that of the
// view itself is. Taking every table of the name is found out.
func TestATableOfTheNameIsNoView(t *testing.T) {
	ctx := context.Background()
	st, err := duckdb.Open(filepath.Join(t.TempDir(), "store.db"), duckdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	s, err := st.Session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Write(ctx, nil, "CREATE SCHEMA d"); err != nil {
		t.Fatal(err)
	}
	for name, table := range map[string]string{
		"own":     "region VARCHAR, n DOUBLE, n_noisy DOUBLE, n_stderr DOUBLE",
		"plain":   "region VARCHAR, n DOUBLE, n_noisy DOUBLE, n_stderr DOUBLE",
		"persons": "person BIGINT, region VARCHAR, amount DOUBLE",
		"gone":    "",
	} {
		ref := store.TableRef{Schema: "d", Name: name}
		value, err := json.Marshal(Record{Schema: "d", Name: name, Dimensions: []Dimension{{Column: "Region"}}, Measures: []Measure{{Column: "n"}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Meta().Put(ctx, bucket, store.TableKey(ref), value); err != nil {
			t.Fatal(err)
		}
		statements := []string{"CREATE TABLE d." + name + " (" + table + ")", "COMMENT ON TABLE d." + name + " IS '" + comment + "'"}
		switch {
		case table == "":
			statements = nil
		case name == "plain":
			statements = statements[:1]
		}
		for _, q := range statements {
			if _, err := s.Write(ctx, []store.TableRef{ref}, q); err != nil {
				t.Fatal(err)
			}
		}
	}
	v, err := Open(ctx, st)
	if err != nil {
		t.Fatal(err)
	}
	left, err := s.Meta().List(ctx, bucket)
	if own := (store.TableRef{Schema: "d", Name: "own"}); err != nil || len(v.held) != 1 || !v.Holds(own) || len(left) != 1 {
		t.Errorf("held %v, records %v, %v", v.held, left, err)
	}
}

// TestOneChangesAViewAtATime: a view that is refreshed cannot be dropped meanwhile, which would
// leave a table without a record or a record without a table; others can.
func TestOneChangesAViewAtATime(t *testing.T) {
	sales, visits := store.TableRef{Schema: "d", Name: "sales"}, store.TableRef{Schema: "d", Name: "visits"}
	v := &Views{shelf: newShelf(map[store.TableRef]*Record{sales: {}, visits: {}}, viewWords)}
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
