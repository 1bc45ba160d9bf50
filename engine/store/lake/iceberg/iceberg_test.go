package iceberg_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scrim/engine/store/lake"
	"scrim/engine/store/lake/iceberg"
	made "scrim/test/testenv/iceberg"
)

// table is one with two files of 3 and 4 bytes.
func table(t *testing.T) *made.Table {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"data/a.parquet": "aaa", "data/p=1/b.parquet": "bbbb"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return &made.Table{Dir: dir, UUID: "u1", Columns: []string{"id", "region"}}
}

// TestList reads tables of both versions, at their location and at another place, whose deleted
// entries are gone.
func TestList(t *testing.T) {
	for name, change := range map[string]func(*made.Table){
		"version 2": func(*made.Table) {},
		"version 1": func(w *made.Table) { w.Format = 1 },
		"moved":     func(w *made.Table) { w.Location = "s3://bucket/orders" },
		"one slash": func(w *made.Table) { w.Location = "file:" + w.Dir },
		"schema of version 1": func(w *made.Table) {
			w.Format, w.Metadata = 1, map[string]any{"schemas": nil, "schema": map[string]any{"fields": []any{map[string]any{"id": 1, "name": "id"}, map[string]any{"id": 2, "name": "region"}}}}
		},
	} {
		w := table(t)
		change(w)
		w.Commit(t, made.File{Name: "data/gone.parquet"})
		w.Commit(t, made.File{Name: "data/a.parquet"}, made.File{Name: "data/p=1/b.parquet", Status: 1, Format: "parquet"}, made.File{Name: "data/gone.parquet", Status: 2},
			made.File{Name: "data/d.parquet", Status: 2, Content: 1})
		l, err := iceberg.List(w.Dir)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := fmt.Sprintf("{u1 [{1 id} {2 region}] [{%s/data/a.parquet 3} {%s/data/p=1/b.parquet 4}]}", w.Dir, w.Dir)
		if got := fmt.Sprint(*l); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestNewest: the hint decides, or else the largest number, which one file has.
func TestNewest(t *testing.T) {
	w := table(t)
	w.Commit(t, made.File{Name: "data/a.parquet"})
	w.Stage(t, made.File{Name: "data/p=1/b.parquet"})
	files := func() string {
		l, err := iceberg.List(w.Dir)
		if err != nil {
			return err.Error()
		}
		return filepath.Base(l.Data[0].Path)
	}
	if got := files(); got != "a.parquet" {
		t.Errorf("with a hint of the first: %s", got)
	}
	at := func(name string) string { return filepath.Join(w.Dir, "metadata", name) }
	if err := errors.Join(os.Remove(at("version-hint.text")), os.Rename(at("v2.metadata.json"), at("00010-u.metadata.json")), os.Rename(at("v1.metadata.json"), at("00009-u.metadata.json"))); err != nil {
		t.Fatal(err)
	}
	if got := files(); got != "b.parquet" {
		t.Errorf("without one: %s", got)
	}
	if err := os.Link(at("00009-u.metadata.json"), at("00010-w.metadata.json")); err != nil {
		t.Fatal(err)
	}
	if got := files(); !strings.Contains(got, "two metadata files") {
		t.Errorf("two of the largest number: %s", got)
	}
}

// TestRefused: what would make the rows other than all rows of the files is refused by name, and
// nothing outside of the directory is read.
func TestRefused(t *testing.T) {
	one := made.File{Name: "data/a.parquet"}
	for name, c := range map[string]struct {
		change func(*made.Table)
		file   made.File
		want   string
	}{
		"positions":     {nil, made.File{Name: "data/a.parquet", Content: 1}, "files of deletes"},
		"values":        {nil, made.File{Name: "data/a.parquet", Content: 2}, "files of deletes"},
		"another sort":  {nil, made.File{Name: "data/a.parquet", Content: 7}, "files of deletes"},
		"ORC":           {nil, made.File{Name: "data/a.parquet", Format: "orc"}, "files of ORC"},
		"a key":         {nil, made.File{Name: "data/a.parquet", Key: []byte("k")}, "encrypted"},
		"keys":          {func(w *made.Table) { w.Metadata = map[string]any{"encryption-keys": []any{1}} }, one, "encrypted"},
		"version 3":     {func(w *made.Table) { w.Format = 3 }, one, "version 3"},
		"no identity":   {func(w *made.Table) { w.UUID = "" }, one, "table-uuid"},
		"above":         {nil, made.File{Name: "../a.parquet"}, "outside of its location"},
		"not plain":     {nil, made.File{Name: "data/../data/a.parquet"}, "outside of its location"},
		"another place": {func(w *made.Table) { w.Metadata = map[string]any{"location": "/elsewhere"} }, one, "outside of its location"},
	} {
		w := table(t)
		if c.change != nil {
			c.change(w)
		}
		w.Commit(t, c.file)
		_, err := iceberg.List(w.Dir)
		var unfit *lake.Unfit
		if !errors.As(err, &unfit) || !strings.Contains(unfit.Cause, c.want) || unfit.Remedy == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := iceberg.List(t.TempDir()); err == nil {
		t.Error("an empty directory is a table")
	}
	w := table(t)
	w.Commit(t, one)
	secret := filepath.Join(t.TempDir(), "m1.avro")
	at := filepath.Join(w.Dir, "metadata", "m1.avro")
	if err := errors.Join(os.Rename(at, secret), os.Symlink(secret, at)); err != nil {
		t.Fatal(err)
	}
	if _, err := iceberg.List(w.Dir); err == nil {
		t.Error("a link out of the directory is followed")
	}
	w = table(t)
	w.Commit(t, one)
	if err := os.WriteFile(filepath.Join(w.Dir, "metadata", "m1.avro"), []byte("Obj\x01 torn"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := iceberg.List(w.Dir); err == nil {
		t.Error("a torn manifest is read")
	}
}
