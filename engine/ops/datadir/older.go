package datadir

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"scrim/catalog"
	"scrim/engine/store/duckdb"
	"scrim/internal/durable"
	"scrim/internal/lists"
	"scrim/internal/spill"
)

// StoreFiles are the names of all files that the store may have in a data directory: its own, its
// log, what DuckDB makes of the log while a checkpoint runs, and the count of what was
// acknowledged.
func StoreFiles() []string {
	return []string{DataFile, DataFile + ".wal", DataFile + ".wal.checkpoint", DataFile + ".wal.recovery", DataFile + ".commits"}
}

// ErrEarlier says that an earlier version of the program wrote the directory, which cannot read it
// any more when this one has opened its store.
var ErrEarlier = errors.New("engine: a data directory of an earlier version")

// earlier is a directory of an earlier version, and what an upgrade would do.
type earlier struct {
	dir, made     string
	to            string // name of the copy's directory
	files         []string
	bytes         int64
	free, reserve int64
}

// Error implements error.
func (e *earlier) Error() string {
	return fmt.Sprintf("%v: %s (its store was made by DuckDB %s; this version has DuckDB %s, which converts it, and the earlier version cannot read it then). "+
		"Nothing was changed. scrim serve --yes first copies %s, %.1f MiB, into %s, where %.1f MiB are free, and then opens the directory. "+
		"The way back is in the operator's guide, under Upgrade",
		ErrEarlier, e.dir, cmp.Or(e.made, "of a version that it does not tell"), duckdb.LibraryVersion(), strings.Join(e.files, ", "),
		mib(e.bytes), filepath.Join(e.dir, e.to), mib(e.free))
}

// Is makes errors.Is(err, ErrEarlier) true.
func (e *earlier) Is(target error) bool { return target == ErrEarlier }

func mib(n int64) float64 { return float64(n) / (1 << 20) }

// CheckEarlier refuses a directory of an earlier version with ErrEarlier: only Upgrade opens it.
func (p Place) CheckEarlier() error {
	older, err := p.older()
	if err != nil || !older {
		return err
	}
	e := &earlier{dir: p.Dir, to: "before-" + duckdb.LibraryVersion() + "-" + time.Now().UTC().Format("20060102T150405.000Z")}
	for _, name := range append(StoreFiles(), CatalogFile) {
		if fi, err := os.Stat(p.Path(name)); err == nil {
			e.files, e.bytes = append(e.files, name), e.bytes+fi.Size()
		}
	}
	if e.made, err = duckdb.MadeBy(p.Path(DataFile)); err != nil {
		return err
	}
	if e.free, e.reserve, err = (spill.Disk{Dir: p.Dir}).Free(); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	return e
}

// older reports whether an earlier version was the last that wrote the store: the policies say so,
// which go wherever the store goes, and where there are none yet, DuckDB's version.
func (p Place) older() (bool, error) {
	if _, err := os.Stat(p.Path(DataFile)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	older, err := catalog.Older(p.Path(CatalogFile))
	if !errors.Is(err, catalog.ErrMissing) {
		return older, err
	}
	made, err := duckdb.MadeBy(p.Path(DataFile))
	return made != "" && minor(made) != minor(duckdb.LibraryVersion()), err
}

// minor is v1.4 of v1.4.1.
func minor(version string) string { return version[:max(0, strings.LastIndexByte(version, '.'))] }

// Upgrade raises a directory of an earlier version to this one, if yes. It copies the store and the
// policies into a new directory in it, named by Copied, and makes programs of the earlier version
// refuse the directory. Opening the store converts it. Without yes it returns ErrEarlier. A
// directory of this version is left as it is.
func (d *Directory) Upgrade(yes bool) error {
	p := Place{Dir: d.Path}
	err := p.CheckEarlier()
	e, ok := errors.AsType[*earlier](err)
	switch {
	case !ok || !yes:
		return err
	case e.free < e.bytes+e.reserve:
		return fmt.Errorf("engine: the copy of %s that an upgrade begins with takes %.1f MiB, and %.1f MiB have to stay free: %.1f MiB are. Nothing was changed",
			d.Path, mib(e.bytes), mib(e.reserve), mib(e.free))
	}
	if err := e.copy(p.Path(e.to)); err != nil {
		return fmt.Errorf("engine: copying %s before the upgrade: %w", d.Path, err)
	}
	if d.Copied = p.Path(e.to); !d.Has(CatalogFile) {
		return nil // the first start makes it
	}
	policies, err := catalog.Open(p.Path(CatalogFile), catalog.Options{DirectoryID: d.ID})
	if err == nil {
		err = policies.Raise()
	}
	return err
}

// copy copies the files into a directory of that path, which is there when the copy is whole and on
// disk.
func (e *earlier) copy(to string) error {
	left, err := filepath.Glob(filepath.Join(e.dir, "before-*.partial"))
	if err != nil {
		return err
	}
	if err := lists.Each(left, os.RemoveAll); err != nil {
		return err
	}
	partial := to + ".partial"
	if err := os.Mkdir(partial, 0o700); err != nil {
		return err
	}
	for _, name := range e.files {
		from, err := os.Open(filepath.Join(e.dir, name))
		if err == nil {
			err = durable.Create(filepath.Join(partial, name), 0o600, func(w io.Writer) error { _, err := io.Copy(w, from); return err })
			_ = from.Close()
		}
		if err != nil {
			_ = os.RemoveAll(partial)
			return err
		}
	}
	return durable.Rename(partial, to)
}
