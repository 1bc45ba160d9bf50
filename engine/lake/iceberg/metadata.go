package iceberg

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"scrim/engine/lake"
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
	for _, s := range t.Snapshots {
		if s.ID == *t.Current {
			return out, t.read(s, out)
		}
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
