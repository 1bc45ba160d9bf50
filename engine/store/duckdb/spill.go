package duckdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"scrim/engine/store"
	"scrim/internal/spill"
)

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
