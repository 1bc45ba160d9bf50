package duckdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"scrim/engine/store"
)

// spill is the directory that DuckDB spills to.
type spill struct {
	dir     string
	reserve int64 // bytes that stay free on its disk; 0 for the default
}

const (
	// mostReserved and reservedShare make the default reserve: 1 GiB, or one part in 20 of a small disk.
	mostReserved  = 1 << 30
	reservedShare = 20
	// temporary begins the names of DuckDB's files there, and of ours.
	temporary = "duckdb_temp_"
)

// spilling is the directory for temporary files of the database at path.
func (o Options) spilling(path string) spill {
	dir := o.TempDirectory
	if dir == "" {
		dir = filepath.Join(filepath.Dir(path), "spill")
	}
	return spill{dir: dir, reserve: o.Reserve}
}

// prepare makes the directory and removes what a killed process left in it: pieces of rows. The file's lock
// is held, so that nobody uses them any more.
func (s spill) prepare() error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	left, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, f := range left {
		if !strings.HasPrefix(f.Name(), temporary) {
			continue
		}
		if err := os.Remove(filepath.Join(s.dir, f.Name())); err != nil {
			return err
		}
	}
	return nil
}

// disk returns the bytes that are free on the directory's disk, and those that are to stay free.
func (s spill) disk() (free, reserve int64, err error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(s.dir, &st); err != nil {
		return 0, 0, &fs.PathError{Op: "statfs", Path: s.dir, Err: err}
	}
	block := int64(st.Bsize)
	reserve = s.reserve
	if reserve <= 0 {
		reserve = min(mostReserved, int64(st.Blocks)/reservedShare*block)
	}
	return int64(st.Bavail) * block, reserve, nil
}

// limit is the setting of DuckDB's that stops its spilling before the reserve, from what is free now. It keeps an eighth of the reserve more, so
// that spilling alone never brings the disk to where check fails: what one statement spills is not told to the next.
func (s spill) limit() (string, error) {
	free, reserve, err := s.disk()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("SET GLOBAL max_temp_directory_size = '%dKiB'", max(0, free-reserve-reserve/8)>>10), nil
}

// check returns an error of kind NoRoom where the directory takes nothing, or its disk has less free space than the reserve.
func (s spill) check() error {
	none := func(reason string, detail any) error {
		return &store.Error{Kind: store.NoRoom, Reason: reason, Detail: fmt.Sprintf("%s: %s: %v", s.dir, reason, detail)}
	}
	f, err := os.CreateTemp(s.dir, temporary+"room_")
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
	free, reserve, err := s.disk()
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
