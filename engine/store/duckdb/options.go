package duckdb

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"scrim/engine/store"
	"scrim/engine/store/lake"
	"scrim/engine/store/source"
	"scrim/internal/lists"
	"scrim/internal/spill"
	"scrim/internal/sqltext"
)

// Options say how the database is opened. The zero value is usable.
type Options struct {
	// Threads is the number of threads that DuckDB uses, all of this machine's processors by
	// default.
	Threads int
	// MemoryLimit is what DuckDB may keep in memory before it spills, as DuckDB writes it ("1GiB").
	// The default is DefaultMemoryLimit.
	MemoryLimit string
	// TempDirectory is where DuckDB spills to, by default the directory "spill" beside the file.
	TempDirectory string
	// Reserve is how many bytes stay free on the disk of TempDirectory: DuckDB's spilling stops
	// before, and Room fails below. The default is 1 GiB, or 5 % of a disk where that is less.
	Reserve int64
	// Setup is generated SQL that runs once when the database is opened, after our own tables exist
	// and before the configuration is locked, one statement an entry. What it creates is kept in
	// the file and seen by every connection, e.g. CREATE OR REPLACE MACRO.
	Setup []string
	// DirectoryID names the data directory that the file belongs to. A file without one takes it
	// on; a file with another is refused with store.ErrForeign. "" checks nothing.
	DirectoryID string
	// Lake are the directories below which files may be read in place.
	Lake []string
	// Servers are those whose tables may be attached.
	Servers Servers
}

// Servers are other servers, as source.ParseServers reads them, and how they are read.
type Servers struct {
	Declared string
	Kinds    map[string]source.Kind
}

// DefaultMemoryLimit leaves a process of 2 GiB room for the server itself.
const DefaultMemoryLimit = "1GiB"

// threads is how many threads a statement may use, its caller's included.
func (o Options) threads() int {
	if o.Threads > 0 {
		return o.Threads
	}
	return runtime.GOMAXPROCS(0)
}

// planned is how many threads DuckDB plans for. Its hash aggregates for exactly two are wrong in
// DuckDB 1.4: where one of the two runs out of its share of the memory and the other does not, they
// part their rows in different ways, and putting them together ends with an internal error or a
// fault of the process. Those for three bring both onto one way.
func (o Options) planned() int {
	if n := o.threads(); n != 2 {
		return n
	}
	return 3
}

// settings returns the statements that configure the database at path, whose directory for
// temporary files is there.
func (o Options) settings(path string) ([]string, error) {
	memory := cmp.Or(o.MemoryLimit, DefaultMemoryLimit)
	spill := o.spilling(path)
	limit, err := spill.limit()
	if err != nil {
		return nil, err
	}
	return append([]string{
		fmt.Sprintf("SET GLOBAL threads = %d", o.planned()),
		fmt.Sprintf("SET GLOBAL external_threads = %d", o.planned()), // see helperThreads
		"SET GLOBAL memory_limit = " + sqltext.StoreText(memory),
		"SET GLOBAL temp_directory = " + sqltext.StoreText(spill.Dir),
		limit,
		"SET GLOBAL TimeZone = 'UTC'",
		"SET GLOBAL preserve_insertion_order = false",
		immediate,
		"SET GLOBAL autoinstall_known_extensions = false",
		"SET GLOBAL autoload_known_extensions = false",
		"SET GLOBAL allow_community_extensions = false",
		"SET GLOBAL disabled_optimizers = '" + strings.Join(wrongOptimizers, ",") + "'",
	}, ownCheckpoints...), nil
}

// wrongOptimizers are those that DuckDB 1.5 has added. Most of them gave wrong answers in silence
// in one of its releases, and two do in 1.5.6: row_group_pruner, whose LIMIT counts rows that are
// deleted, and common_subplan, which takes two arms of a UNION ALL for one (known_faults_test.go).
// They stay out until a release is known to have them right; DuckDB 1.4 had none of them.
var wrongOptimizers = []string{"common_subplan", "join_elimination", "row_group_pruner", "top_n_window_elimination", "window_self_join"}

// lock is what closes the database to the outside; nothing can be configured after it.
var lock = []string{
	"SET GLOBAL enable_external_access = false",
	"SET GLOBAL lock_configuration = true",
}

// locking is lock, which leaves the files below the roots to be read. What DuckDB would keep of
// them between statements, it does not keep.
func locking(roots lake.Roots) []string {
	list := []string{"SET GLOBAL enable_external_file_cache = false", "SET GLOBAL enable_object_cache = false"}
	if len(roots) > 0 {
		list = append(list, "SET GLOBAL allowed_directories = "+listText(lists.Map(roots, func(r string) string { return r + "/" })))
	}
	return append(list, lock...)
}

// ownCheckpoints keeps DuckDB from checkpoints of its own: since 1.5 it makes them beside writers,
// so that nothing would keep the file as it is while it is copied, and one that fails for want of
// disk ends the instance.
var ownCheckpoints = []string{
	"SET GLOBAL checkpoint_threshold = '1000TiB'",
	"PRAGMA disable_checkpoint_on_shutdown",
}

// spilled is the directory that DuckDB spills to.
type spilled struct{ spill.Disk }

// temporary begins the names of DuckDB's files there, and of ours.
const temporary = "duckdb_temp_"

// spilling is the directory for temporary files of the database at path.
func (o Options) spilling(path string) spilled {
	dir := o.TempDirectory
	if dir == "" {
		dir = filepath.Join(filepath.Dir(path), "spill")
	}
	return spilled{spill.Disk{Dir: dir, Reserve: o.Reserve}}
}

// prepare makes the directory and removes what a killed process left in it: pieces of rows. The
// file's lock is held, so that nobody uses them any more.
func (s spilled) prepare() error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	left, err := os.ReadDir(s.Dir)
	if err != nil {
		return err
	}
	for _, f := range left {
		if !strings.HasPrefix(f.Name(), temporary) {
			continue
		}
		if err := os.Remove(filepath.Join(s.Dir, f.Name())); err != nil {
			return err
		}
	}
	return nil
}

// limit is the setting of DuckDB's that stops its spilling before the reserve, from what is free
// now.
func (s spilled) limit() (string, error) {
	room, err := s.Room()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("SET GLOBAL max_temp_directory_size = '%dKiB'", room>>10), nil
}

// check returns an error of kind NoRoom where the directory takes nothing, or its disk has less
// free space than the reserve.
func (s spilled) check() error {
	none := func(reason string, detail any) error {
		return &store.Error{Kind: store.NoRoom, Reason: reason, Detail: fmt.Sprintf("%s: %s: %v", s.Dir, reason, detail)}
	}
	f, err := os.CreateTemp(s.Dir, temporary+"room_")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return none("it is missing", err)
	case err != nil:
		return none("it cannot be written", err)
	}
	f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return none("it cannot be written", err)
	}
	free, reserve, err := s.Free()
	if err != nil {
		return none("its disk cannot be asked for free space", err)
	}
	if free < reserve {
		return none("its disk has too little free space", fmt.Sprintf("%d MiB are free, %d MiB are to stay free", free>>20, reserve>>20))
	}
	return nil
}

// Room implements store.Store.
func (s *Store) Room() error { return s.spill.check() }
