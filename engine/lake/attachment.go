package lake

import "time"

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
	for _, p := range a.Paths {
		if Overlaps(p, path) {
			return true
		}
	}
	return false
}
