// Package iceberg reads which files the rows of a table of the format Apache Iceberg are in, from
// its metadata in a directory (versions 1 and 2 of the format).
//
//	metadata/version-hint.text ─▶ metadata/v7.metadata.json ─▶ manifest list ─▶ manifests ─▶ files
//
// Refused by name is what would make the rows other than all rows of those files: deletes, files
// that are not Parquet, encryption, versions of the format that are not known.
//
// Source: the Iceberg table specification (iceberg.apache.org/spec), sections "Table Metadata",
// "Manifest Lists", "Manifests" and "Scan Planning".
package iceberg

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/hamba/avro/v2/ocf"

	"scrim/engine/store/lake"
	"scrim/internal/lists"
)

// metadata is what matters here of a table's metadata file.
type metadata struct {
	Format     int             `json:"format-version"`
	Table      string          `json:"table-uuid"`
	Location   string          `json:"location"`
	Current    *int64          `json:"current-snapshot-id"`
	Snapshots  []snapshot      `json:"snapshots"`
	Schemas    []schema        `json:"schemas"`
	SchemaID   int             `json:"current-schema-id"`
	Only       *schema         `json:"schema"` // of version 1, where there are no schemas
	Encryption json.RawMessage `json:"encryption-keys"`
}

// snapshot is a state of the table.
type snapshot struct {
	ID        int64    `json:"snapshot-id"`
	Manifests string   `json:"manifest-list"`
	Listed    []string `json:"manifests"` // of version 1, in the place of a list
}

// schema is what columns a table has.
type schema struct {
	ID     int          `json:"schema-id"`
	Fields []lake.Field `json:"fields"`
}

// numbered are names of metadata files: v7.metadata.json, 00007-….metadata.json.
var numbered = regexp.MustCompile(`^v?([0-9]{1,18})(-[^/]*)?\.metadata\.json$`)

// List returns the files of the table in a directory, as its newest metadata say. dir is absolute.
// It fails with a *lake.Unfit where the table is one that cannot be read.
func List(dir string) (*lake.Listing, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("iceberg: %w", err)
	}
	defer root.Close()
	t := table{dir: dir, root: root}
	name, err := t.newest()
	if err != nil {
		return nil, err
	}
	text, err := root.ReadFile("metadata/" + name)
	if err != nil {
		return nil, fmt.Errorf("iceberg: %w", err)
	}
	if err := json.Unmarshal(text, &t.metadata); err != nil {
		return nil, fmt.Errorf("iceberg: %s of %s: %w", name, dir, err)
	}
	return t.list()
}

// table is one that is read.
type table struct {
	dir  string
	root *os.Root
	metadata
}

// newest returns the name of the metadata file that is in force: the one that the hint names, which
// writers without a catalogue keep, or else the one with the largest number.
func (t *table) newest() (string, error) {
	hint, err := t.root.ReadFile("metadata/version-hint.text")
	if err == nil {
		name := "v" + strings.TrimSpace(string(hint)) + ".metadata.json"
		if !numbered.MatchString(name) {
			return "", fmt.Errorf("iceberg: version-hint.text of %s has no number", t.dir)
		}
		return name, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("iceberg: %w", err)
	}
	names, err := fs.ReadDir(t.root.FS(), "metadata")
	if err != nil {
		return "", fmt.Errorf("iceberg: %w", err)
	}
	best, two, name := int64(-1), false, ""
	for _, e := range names {
		if m := numbered.FindStringSubmatch(e.Name()); m != nil {
			n, _ := strconv.ParseInt(m[1], 10, 64) // has 18 digits at most
			if two = n == best || two && n < best; n > best {
				best, two, name = n, false, e.Name()
			}
		}
	}
	switch {
	case name == "":
		return "", &lake.Unfit{Cause: "there is no metadata/*.metadata.json below " + t.dir, Remedy: "Name the directory of an Iceberg table."}
	case two:
		return "", &lake.Unfit{Cause: fmt.Sprintf("two metadata files of %s have the largest number, %d", t.dir, best), Remedy: "Remove the one that was never committed, or keep version-hint.text."}
	}
	return name, nil
}

// list reads the manifests of the current snapshot.
func (t *table) list() (*lake.Listing, error) {
	if t.Format != 1 && t.Format != 2 {
		return nil, &lake.Unfit{Cause: fmt.Sprintf("it has version %d of the format, and 1 and 2 are known", t.Format), Remedy: "Write the table as version 2."}
	}
	if len(t.Encryption) > 0 {
		return nil, encrypted
	}
	if t.Table == "" {
		return nil, &lake.Unfit{Cause: "its metadata have no table-uuid", Remedy: "Write the table once more with a library that gives it one."}
	}
	out := &lake.Listing{Table: t.Table}
	if t.Only != nil {
		out.Columns = t.Only.Fields
	}
	for _, s := range t.Schemas {
		if s.ID == t.SchemaID {
			out.Columns = s.Fields
		}
	}
	if t.Current == nil || *t.Current == -1 {
		return out, nil // nothing was written yet
	}
	if s, ok := lists.Find(t.Snapshots, func(s snapshot) bool { return s.ID == *t.Current }); ok {
		return out, t.read(s, out)
	}
	return nil, fmt.Errorf("iceberg: the metadata of %s lack their current snapshot", t.dir)
}

// local returns the place below the table's directory of a file that metadata name: at their
// location, which may have been elsewhere when they were written.
func (t *table) local(name string) (string, error) {
	below, ok := strings.CutPrefix(plain(name), strings.TrimSuffix(plain(t.Location), "/")+"/")
	if !ok || !filepath.IsLocal(below) || filepath.Clean(below) != below {
		return "", &lake.Unfit{Cause: fmt.Sprintf("it has a file %q outside of its location %q", name, t.Location), Remedy: "Rewrite the table so that all of its files lie below its location."}
	}
	return below, nil
}

// plain is a path without the scheme of local files.
func plain(name string) string {
	if rest, ok := strings.CutPrefix(name, "file:"); ok {
		return "/" + strings.TrimLeft(rest, "/")
	}
	return name
}

var encrypted = &lake.Unfit{Cause: "it is encrypted", Remedy: "Write a copy that is not."}

// What an entry of a manifest says of its file.
const statusDeleted = 2

// What the files of a manifest, or one of them, hold; version 1 has rows only.
const contentRows = 0

// read adds the files of a snapshot.
func (t *table) read(s snapshot, out *lake.Listing) error {
	manifests := s.Listed
	if s.Manifests != "" {
		err := t.records(s.Manifests, func(r map[string]any) error {
			path, ok := r["manifest_path"].(string)
			if !ok {
				return fmt.Errorf("a manifest without a path")
			}
			if r["key_metadata"] != nil {
				return encrypted
			}
			manifests = append(manifests, path)
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, m := range manifests {
		if err := t.records(m, func(r map[string]any) error { return t.entry(r, out) }); err != nil {
			return err
		}
	}
	return nil
}

// entry adds the file of one entry of a manifest, unless it is gone.
func (t *table) entry(r map[string]any, out *lake.Listing) error {
	status, ok := r["status"].(int)
	file, whole := r["data_file"].(map[string]any)
	if !ok || !whole {
		return fmt.Errorf("an entry without a status or a file")
	}
	if status == statusDeleted {
		return nil
	}
	if content, there := file["content"]; there && content != contentRows {
		return &lake.Unfit{Cause: "rows of it are deleted by files of deletes, which are not applied here", Remedy: "Compact the table, for example by rewrite_data_files of Spark with delete-file-threshold 1, and let the writer delete by copy-on-write."}
	}
	path, ok1 := file["file_path"].(string)
	format, ok2 := file["file_format"].(string)
	size, ok3 := file["file_size_in_bytes"].(int64)
	if !ok1 || !ok2 || !ok3 {
		return fmt.Errorf("a file without a path, a format or a size")
	}
	if !strings.EqualFold(format, "PARQUET") {
		return &lake.Unfit{Cause: "it has files of " + strings.ToUpper(format), Remedy: "Write Parquet (write.format.default)."}
	}
	if file["key_metadata"] != nil {
		return encrypted
	}
	below, err := t.local(path)
	if err != nil {
		return err
	}
	out.Data = append(out.Data, lake.Data{Path: filepath.Join(t.dir, below), Size: size})
	return nil
}

// records hands over the records of an Avro file of the table.
func (t *table) records(name string, each func(map[string]any) error) error {
	below, err := t.local(name)
	if err != nil {
		return err
	}
	f, err := t.root.Open(below)
	if err != nil {
		return fmt.Errorf("iceberg: %w", err)
	}
	defer f.Close()
	dec, err := ocf.NewDecoder(f)
	for err == nil && dec.HasNext() {
		var r map[string]any
		if err = dec.Decode(&r); err == nil {
			err = each(r)
		}
	}
	if err == nil && dec.Error() != nil && dec.Error() != io.EOF {
		err = dec.Error()
	}
	if unfit, ok := err.(*lake.Unfit); ok {
		return unfit
	}
	if err != nil {
		return fmt.Errorf("iceberg: %s: %w", filepath.Join(t.dir, below), err)
	}
	return nil
}
