package lake

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Listing is what the metadata of a table format say of a table at one moment.
type Listing struct {
	Table   string  // names the data, wherever they lie
	Columns []Field // in the table's order
	Data    []Data  // the files that hold its rows, each all of its rows
}

// Field is a column of a table format, which files know by its number, too.
type Field struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// Data is a file of rows.
type Data struct {
	Path string
	Size int64
}

// Unfit says why the table that metadata describe cannot be read. It names nothing of rows.
type Unfit struct{ Cause, Remedy string }

// Error tells the cause.
func (u *Unfit) Error() string { return u.Cause }

// Listed pins the files of a listing, which all have to match the pattern. They are pinned once
// more, as they are then, when Unchanged is asked: whatever the table has become, its files stay.
func (p Pattern) Listed(l *Listing) (*Pin, error) {
	if len(l.Data) == 0 {
		return nil, fmt.Errorf("lake: the table below %s has no file of rows", p)
	}
	if len(l.Data) > maxFiles {
		return nil, fmt.Errorf("lake: the table below %s has more than %d files", p, maxFiles)
	}
	return newPin(p, func() ([]File, error) {
		files, dirs, seen := make([]File, 0, len(l.Data)), map[string]bool{}, map[string]bool{}
		for _, d := range l.Data {
			f, err := p.listed(d, dirs)
			if err != nil {
				return nil, err
			}
			if seen[f.Path] {
				return nil, fmt.Errorf("lake: %s is listed twice", f.Path)
			}
			seen[f.Path] = true
			files = append(files, f)
		}
		return files, nil
	})
}

// listed looks at one file. dirs are the directories that were found to be none but directories.
func (p Pattern) listed(d Data, dirs map[string]bool) (File, error) {
	if filepath.Clean(d.Path) != d.Path || strings.ContainsAny(d.Path, special) || !Overlaps(p.String(), d.Path) {
		return File{}, fmt.Errorf("lake: %q is no file of %s", d.Path, p)
	}
	for dir := filepath.Dir(d.Path); dir != p.Root && !dirs[dir]; dir = filepath.Dir(dir) {
		fi, err := os.Lstat(dir)
		if err != nil {
			return File{}, fmt.Errorf("lake: %w", err)
		}
		if !fi.IsDir() {
			return File{}, fmt.Errorf("lake: %s is a symbolic link, which is not followed", dir)
		}
		dirs[dir] = true
	}
	f, err := stat(d.Path)
	if err == nil && f.Size != d.Size {
		err = fmt.Errorf("lake: %s has %d bytes, and its table says %d", d.Path, f.Size, d.Size)
	}
	return f, err
}

// The kinds of sources that are files: a directory of Parquet files, and tables of the formats
// Iceberg, whose metadata list them, and DuckLake, of which a catalogue does.
const (
	Parquet  = "parquet"
	Iceberg  = "iceberg"
	DuckLake = "ducklake"
)

// Files are the kinds of sources that are files.
var Files = []string{Parquet, Iceberg, DuckLake}

// From says where a table is that is to be attached.
type From struct {
	Kind string
	Path string // a pattern of files, or the directory of a table, or of a lake
	Hive bool
	// In is where a table of DuckLake stands, nil for other kinds.
	In *Catalog
}

// Catalog is where a table stands in a lake's catalogue.
type Catalog struct {
	Data     string `json:"data"`               // the directory that is the lake's data path here
	File     string `json:"file,omitempty"`     // the catalogue, where it is a file
	Server   string `json:"server,omitempty"`   // or else the server that has it, as the operator calls it,
	Database string `json:"database,omitempty"` // and the database there
	Table    string `json:"table"`              // SCHEMA.TABLE
}

// Attachment is what is kept of a table that is, or was, read from files of others. It is kept when
// the table is detached: the name's budget is that of the files.
type Attachment struct {
	Kind string `json:"kind"`
	Path string `json:"path"` // the whole path of the pattern that all files match
	// Paths are all patterns that the name was ever attached to.
	Paths      []string  `json:"paths"`
	Hive       bool      `json:"hive"`
	Partitions []Column  `json:"partitions,omitempty"`
	Table      string    `json:"table,omitempty"`  // Listing.Table, where metadata list the files
	Fields     []Field   `json:"fields,omitempty"` // Listing.Columns
	In         *Catalog  `json:"in,omitempty"`     // as From has it
	Schema     string    `json:"schema"`           // what the footer of every file says of its columns
	Variable   string    `json:"variable"`         // the store's, which holds the list of files
	Attached   time.Time `json:"attached"`
	// Detached is when the table was detached; zero while it is attached.
	Detached time.Time `json:"detached,omitzero"`
}

// Live reports whether the table is attached.
func (a Attachment) Live() bool { return a.Detached.IsZero() }

// Claims reports whether a path could name files that the table was ever attached to.
func (a Attachment) Claims(path string) bool {
	return slices.ContainsFunc(a.Paths, func(p string) bool { return Overlaps(p, path) })
}
