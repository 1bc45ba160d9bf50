package admin

import (
	"context"
	"errors"
	"testing"

	"scrim/engine/store"
)

// fewTables is a store of which only the look-up of tables is used.
type fewTables struct {
	store.Store
	tables []store.Table
	err    error
}

func (f fewTables) ReservedSchema(name string) bool { return name == "__own" }

func (f fewTables) Table(_ context.Context, ref store.TableRef) (store.Table, bool, error) {
	for _, t := range f.tables {
		if t.Ref == ref {
			return t, true, f.err
		}
	}
	return store.Table{}, false, f.err
}

func TestStoreSchema(t *testing.T) {
	columns := []store.Column{{Name: "Id"}, {Name: "b"}, {Name: "c"}}
	keys := []store.Key{{Primary: true, Columns: []string{"id"}}, {Columns: []string{"b", "c"}}}
	st := fewTables{tables: []store.Table{
		{Ref: store.TableRef{Schema: "s", Name: "t"}, Columns: columns, Keys: keys},
		{Ref: store.TableRef{Schema: "s", Name: "v"}, View: true, Columns: columns},
		{Ref: store.TableRef{Schema: "__own", Name: "t"}, Columns: columns},
	}}
	s := StoreSchema(context.Background(), st)
	for _, c := range []struct {
		table, column     string
		has, column1, key bool
	}{
		{"s.t", "id", true, true, true},
		{"s.t", "b", true, true, false}, // one column of a key of two
		{"s.t", "d", true, false, false},
		{"s.v", "id", false, false, false},
		{"__own.t", "id", false, false, false},
		{"s.u", "id", false, false, false},
		{"t", "id", false, false, false},
	} {
		if h, o, k := s.HasTable(c.table), s.HasColumn(c.table, c.column), s.IsEnforcedKey(c.table, c.column); h != c.has || o != c.column1 || k != c.key {
			t.Errorf("%s.%s: got %v %v %v, want %v %v %v", c.table, c.column, h, o, k, c.has, c.column1, c.key)
		}
	}
	st.err = errors.New("no disk")
	if s := StoreSchema(context.Background(), st); s.HasTable("s.t") || s.HasColumn("s.t", "id") || s.IsEnforcedKey("s.t", "id") {
		t.Error("a look-up that failed counts as found")
	}
}

func TestPrincipalName(t *testing.T) {
	for text, want := range map[string]string{
		"*": "*", " Default ": "default", "ann@%": "ann@%", "'ann'@'LocalHost'": "ann@localhost", "`a@b`@`%`": "a@b@%",
		"ann": "ann@%", "'ann'": "ann@%", "`a@b`": "a@b@%",
		"": "", "''": "", "@%": "", "ann@": "", "''@'%'": "",
	} {
		got, ok := principalName(text)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q: got %q, %v, want %q", text, got, ok, want)
		}
	}
}

func TestIdentifiers(t *testing.T) {
	for text, want := range map[string]int{"t": 1, "d.t": 2, "`d`.`t`": 2, "": 0, ".t": 0, "d.": 0, "a.b.c": 0, "`a.b`": 0, "`a": 0, "a`b": 0, "``": 0} {
		parts, ok := identifiers(text)
		if ok != (want > 0) || ok && len(parts) != want {
			t.Errorf("%q: got %q, %v", text, parts, ok)
		}
	}
}
