package duckdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Options say how the database is opened. The zero value is usable.
type Options struct {
	// Threads is the number of threads that DuckDB uses, all of this machine's processors by default.
	Threads int
	// MemoryLimit is what DuckDB may keep in memory before it spills, as DuckDB writes it ("1GiB").
	// The default is DefaultMemoryLimit.
	MemoryLimit string
	// TempDirectory is where DuckDB spills to, by default the directory "spill" beside the file.
	TempDirectory string
	// Setup is generated SQL that runs once when the database is opened, after our own tables exist
	// and before the configuration is locked, one statement an entry. What it creates is kept in the
	// file and seen by every connection, e.g. CREATE OR REPLACE MACRO.
	Setup []string
	// DirectoryID names the data directory that the file belongs to. A file without one takes it on;
	// a file with another is refused with store.ErrForeign. "" checks nothing.
	DirectoryID string
}

// DefaultMemoryLimit leaves a process of 2 GiB room for the server itself.
const DefaultMemoryLimit = "1GiB"

// spill is the directory for temporary files.
func (o Options) spill(path string) string {
	if o.TempDirectory != "" {
		return o.TempDirectory
	}
	return filepath.Join(filepath.Dir(path), "spill")
}

// sweep removes what a killed process left in the spill directory: pieces of rows. The file's lock
// is held, so that nobody uses them any more.
func (o Options) sweep(path string) error {
	dir := o.spill(path)
	left, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, f := range left {
		if !strings.HasPrefix(f.Name(), "duckdb_temp_") {
			continue
		}
		if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
			return err
		}
	}
	return nil
}

// threads is how many threads a statement may use, its caller's included.
func (o Options) threads() int {
	if o.Threads > 0 {
		return o.Threads
	}
	return runtime.GOMAXPROCS(0)
}

// settings returns the statements that configure and then lock the database at path.
func (o Options) settings(path string) []string {
	memory := o.MemoryLimit
	if memory == "" {
		memory = DefaultMemoryLimit
	}
	return []string{
		fmt.Sprintf("SET GLOBAL threads = %d", o.threads()),
		fmt.Sprintf("SET GLOBAL external_threads = %d", o.threads()), // see crew
		"SET GLOBAL memory_limit = " + quoteText(memory),
		"SET GLOBAL temp_directory = " + quoteText(o.spill(path)),
		"SET GLOBAL TimeZone = 'UTC'",
		"SET GLOBAL preserve_insertion_order = false",
		immediate,
		"SET GLOBAL autoinstall_known_extensions = false",
		"SET GLOBAL autoload_known_extensions = false",
		"SET GLOBAL allow_community_extensions = false",
	}
}

// lock is what closes the database to the outside; nothing can be configured after it.
var lock = []string{
	"SET GLOBAL enable_external_access = false",
	"SET GLOBAL lock_configuration = true",
}
