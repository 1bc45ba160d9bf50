// Package iceberg writes the metadata of tables of the format Apache Iceberg around Parquet files
// that tests have made, as the specification of the format says (versions 1 and 2).
package iceberg

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hamba/avro/v2/ocf"
)

// manifestList and manifest are the Avro schemas of the format, less what is optional.
const (
	manifestList = `{"type": "record", "name": "manifest_file", "fields": [
		{"name": "manifest_path", "type": "string", "field-id": 500},
		{"name": "manifest_length", "type": "long", "field-id": 501},
		{"name": "partition_spec_id", "type": "int", "field-id": 502},
		{"name": "content", "type": "int", "field-id": 517},
		{"name": "sequence_number", "type": "long", "field-id": 515},
		{"name": "added_snapshot_id", "type": "long", "field-id": 503},
		{"name": "key_metadata", "type": ["null", "bytes"], "default": null, "field-id": 519}]}`
	manifest = `{"type": "record", "name": "manifest_entry", "fields": [
		{"name": "status", "type": "int", "field-id": 0},
		{"name": "snapshot_id", "type": ["null", "long"], "default": null, "field-id": 1},
		{"name": "data_file", "field-id": 2, "type": {"type": "record", "name": "r2", "fields": [
			{"name": "content", "type": "int", "field-id": 134},
			{"name": "file_path", "type": "string", "field-id": 100},
			{"name": "file_format", "type": "string", "field-id": 101},
			{"name": "partition", "field-id": 102, "type": {"type": "record", "name": "r102", "fields": []}},
			{"name": "record_count", "type": "long", "field-id": 103},
			{"name": "file_size_in_bytes", "type": "long", "field-id": 104},
			{"name": "key_metadata", "type": ["null", "bytes"], "default": null, "field-id": 131}]}}]}`
)

// File is a file of a snapshot.
type File struct {
	Name    string // below the table's directory
	Status  int    // 0: existing, 1: added, 2: deleted
	Content int    // 0: rows, 1: positions of deleted ones, 2: values of deleted ones
	Format  string // "": PARQUET
	Size    int64  // 0: as it is
	Key     []byte
}

// Table is a table in a directory.
type Table struct {
	Dir      string
	Location string // "": file:// and the directory
	UUID     string
	Format   int // of the metadata: 1 or 2; 0: 2
	Columns  []string
	Metadata map[string]any // what its metadata have besides, or otherwise
	version  int
}

// Commit writes a snapshot of files, and makes it the present one by the hint.
func (w *Table) Commit(t testing.TB, files ...File) {
	t.Helper()
	w.Stage(t, files...)
	w.write(t, "version-hint.text", []byte(fmt.Sprint(w.version)))
}

// Stage writes a snapshot, its metadata file having the next number.
func (w *Table) Stage(t testing.TB, files ...File) {
	t.Helper()
	w.version++
	if err := os.MkdirAll(filepath.Join(w.Dir, "metadata"), 0o755); err != nil {
		t.Fatal(err)
	}
	location := w.Location
	if location == "" {
		location = "file://" + w.Dir
	}
	var entries []any
	for _, f := range files {
		size := f.Size
		if fi, err := os.Stat(filepath.Join(w.Dir, f.Name)); err == nil && size == 0 {
			size = fi.Size()
		}
		format := f.Format
		if format == "" {
			format = "PARQUET"
		}
		file := map[string]any{"content": f.Content, "file_path": location + "/" + f.Name, "file_format": format, "partition": map[string]any{}, "record_count": int64(1), "file_size_in_bytes": size, "key_metadata": nil}
		if f.Key != nil {
			file["key_metadata"] = map[string]any{"bytes": f.Key}
		}
		entries = append(entries, map[string]any{"status": f.Status, "snapshot_id": nil, "data_file": file})
	}
	name := fmt.Sprintf("m%d.avro", w.version)
	w.avro(t, name, manifest, entries)
	list := fmt.Sprintf("snap-%d.avro", w.version)
	w.avro(t, list, manifestList, []any{map[string]any{"manifest_path": location + "/metadata/" + name, "manifest_length": int64(1), "partition_spec_id": 0,
		"content": 0, "sequence_number": int64(w.version), "added_snapshot_id": int64(w.version), "key_metadata": nil}})
	var fields []any
	for i, c := range w.Columns {
		fields = append(fields, map[string]any{"id": i + 1, "name": c, "required": false, "type": "string"})
	}
	format := w.Format
	if format == 0 {
		format = 2
	}
	m := map[string]any{"format-version": format, "table-uuid": w.UUID, "location": location, "current-snapshot-id": w.version, "current-schema-id": 0,
		"schemas":   []any{map[string]any{"schema-id": 0, "type": "struct", "fields": fields}},
		"snapshots": []any{map[string]any{"snapshot-id": w.version, "manifest-list": location + "/metadata/" + list}}}
	for k, v := range w.Metadata {
		m[k] = v
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	w.write(t, fmt.Sprintf("v%d.metadata.json", w.version), text)
}

func (w *Table) write(t testing.TB, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.Dir, "metadata", name), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// avro writes records.
func (w *Table) avro(t testing.TB, name, schema string, records []any) {
	t.Helper()
	f, err := os.Create(filepath.Join(w.Dir, "metadata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	enc, err := ocf.NewEncoder(schema, f, ocf.WithCodec(ocf.Deflate))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := enc.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
}
