package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"scrim/catalog"
	"scrim/engine/collections"
	"scrim/engine/store"
	"scrim/engine/store/duckdb"
	"scrim/engine/tables"
)

// ImportMode says what an import does with a table that is there already.
type ImportMode = duckdb.ImportMode

// Import modes; duckdb documents them.
const (
	ImportCreate  = duckdb.ImportCreate
	ImportAppend  = duckdb.ImportAppend
	ImportReplace = duckdb.ImportReplace
)

// ImportResult describes a finished import.
type ImportResult = duckdb.Import

// Import reads a .csv, .csv.gz or .parquet file into a table of a data directory that nobody serves,
// all of it or nothing. table is schema.table; progress gets the bytes that are done and all of
// them. The table's policy does not change: a new table is refused to analysts until a DBA declares
// it. A directory that is being served is refused with ErrDirectoryInUse.
func Import(ctx context.Context, c Config, file, table string, mode ImportMode, nulls []string, progress func(done, total int64)) (ImportResult, error) {
	schema, name, ok := strings.Cut(table, ".")
	if !ok || schema == "" || name == "" || strings.Contains(name, ".") {
		return ImportResult{}, fmt.Errorf("engine: table %q: want schema.table", table)
	}
	if tables.Reserved(schema) {
		return ImportResult{}, fmt.Errorf("engine: table %q: the database name %s is reserved", table, schema)
	}
	dir, err := openDirectory(c.DataDir)
	if err != nil {
		return ImportResult{}, err
	}
	defer dir.Close()
	if err := notCollected(ctx, c, dir, store.TableRef{Schema: strings.ToLower(schema), Name: strings.ToLower(name)}); err != nil {
		return ImportResult{}, err
	}
	r, err := duckdb.ImportFile(ctx, c.path(fileData), file, store.TableRef{Schema: schema, Name: name}, duckdb.ImportOptions{
		Mode:        mode,
		NullStrings: nulls,
		Creating:    func() error { return forgetPublic(c, dir, table) },
		Open:        duckdb.Options{Threads: c.Threads, MemoryLimit: c.MemoryLimit, DirectoryID: dir.id},
	}, progress)
	if errors.Is(err, store.ErrInUse) {
		return r, ErrDirectoryInUse
	}
	var failed *store.Error
	switch {
	case errors.As(err, &failed) && failed.Driver != "":
		return r, fmt.Errorf("engine: import: %w: %s", err, failed.Driver)
	case err != nil:
		return r, fmt.Errorf("engine: import: %w", err)
	}
	return r, nil
}

// notCollected refuses the table of a collection: what is in it came as a contributor's report, and nothing else.
func notCollected(ctx context.Context, c Config, dir *directory, ref store.TableRef) (err error) {
	if dir.fresh {
		return nil
	}
	st, err := duckdb.Open(c.path(fileData), duckdb.Options{Threads: c.Threads, MemoryLimit: c.MemoryLimit, DirectoryID: dir.id})
	if errors.Is(err, store.ErrInUse) {
		return ErrDirectoryInUse
	}
	if err != nil {
		return fmt.Errorf("engine: import: %w", err)
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	all, err := collections.New(ctx, st)
	if err != nil {
		return err
	}
	if all.Holds(ref) {
		err = fmt.Errorf("engine: import: %s is the table of a collection, which takes reports of contributors only", ref)
	}
	return errors.Join(err, all.Shutdown())
}

// forgetPublic tells the catalogue of a new table: a name that was public before must be declared
// again, for nobody has looked at what it holds now.
func forgetPublic(c Config, dir *directory, table string) error {
	if dir.fresh {
		return nil
	}
	policies, err := catalog.Open(c.path(fileCatalog), catalog.Options{DirectoryID: dir.id})
	if err != nil {
		return err
	}
	return policies.Created(strings.ToLower(table))
}
