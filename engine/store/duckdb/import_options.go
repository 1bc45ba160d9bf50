package duckdb

// ImportOptions say how a file is imported. The zero value finds everything out, and refuses a file
// of which one line cannot be read.
type ImportOptions struct {
	Mode ImportMode
	// Also are further files, read after the first, of the same columns.
	Also []string
	// Format is one of Formats, by default what the file's name says.
	Format string
	// NullStrings are the texts of a CSV file that mean NULL, "" alone by default.
	NullStrings []string
	// Delimiter of a CSV file, found out by default; a tab in the format tsv.
	Delimiter string
	// Header says whether the first line of a CSV file has the names; nil finds it out.
	Header *bool
	// Sample is how many rows of a text file decide its columns' types; 0 is 262144, -1 all.
	Sample int
	// Types are the types of columns, by name in any case, in the place of those found out.
	Types map[string]string
	// Into are the columns of the table that StreamFile reads for, and their types as the store
	// names them, in the place of those found out.
	Into map[string]string
	// MaxRejects is how many lines of CSV files may be left out because they cannot be read.
	MaxRejects int64
	// Again takes a file that is in the table already.
	Again bool
	// Creating is called before a table is made that was not there, and may refuse; it may be nil.
	Creating func() error
	// Open configures the database while importing, as it is configured when serving.
	Open Options
}

// sampleRows is how many rows of a text file decide its columns' types, unless that is said.
const sampleRows = 1 << 18

// Import describes a finished import.
type Import struct {
	Rows    int64
	Columns []string // the table's columns that the file filled, in the file's letters
	Types   []string // their types as read, as the store names them
	Rejects []Reject // the lines that were left out, in the order of files and lines
}
