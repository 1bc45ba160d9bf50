package formats

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"scrim/engine/lake"
	"scrim/engine/lake/ducklake"
	"scrim/engine/lake/iceberg"
	"scrim/engine/source"
)

// Lister lists the files of tables.
type Lister struct {
	Roots   lake.Roots
	Kinds   map[string]source.Kind // of servers that may have catalogues
	Servers source.Servers
	// DuckDB opens a file of DuckDB to be read, with no access to other files.
	DuckDB func(path string) (*sql.DB, error)
}

// Below is the pattern of all files below the directory of a table, or of a lake.
func Below(dir string) string { return dir + "/**/*.parquet" }

// list reads what the metadata of a table list, and the directory that its files lie below.
func (l *Lister) list(ctx context.Context, kind, dir string, in *lake.Catalog) (*lake.Listing, string, error) {
	if kind == lake.Iceberg {
		found, err := iceberg.List(dir)
		return found, dir, err
	}
	c, err := l.catalog(ctx, in)
	if err != nil {
		return nil, "", err
	}
	defer c.Close()
	return ducklake.List(ctx, c, in.Data, in.Table)
}

// First lists the files of a table that is to be attached, and notes what its metadata say it is.
// at names the directory of a table, or of a lake, until it names the table's own.
func (l *Lister) First(ctx context.Context, a *lake.Attachment, at lake.Pattern) (lake.Pattern, *lake.Pin, error) {
	if a.Kind == lake.Parquet {
		pin, err := at.Pin()
		return at, pin, err
	}
	if a.In != nil {
		a.In.Data = directory(at)
	}
	found, dir, err := l.list(ctx, a.Kind, directory(at), a.In)
	if err != nil {
		return at, nil, err
	}
	if at, err = l.Roots.Pattern(Below(dir)); err != nil {
		return at, nil, fmt.Errorf("the files of the table are to lie below %q, which cannot be: %w", dir, err)
	}
	a.Path, a.Table, a.Fields = at.String(), found.Table, found.Columns
	pin, err := at.Listed(found)
	return at, pin, err
}

// Again lists the files of an attached table, and fails where it is another table, or has other
// columns, than it was attached with.
func (l *Lister) Again(ctx context.Context, a lake.Attachment, at lake.Pattern) (*lake.Pin, error) {
	if a.Kind == lake.Parquet {
		return at.Pin()
	}
	found, dir, err := l.list(ctx, a.Kind, directory(at), a.In)
	var unfit *lake.Unfit
	switch {
	case errors.As(err, &unfit):
		return nil, fmt.Errorf("the table in %s cannot be read: %s. %s", directory(at), unfit.Cause, unfit.Remedy)
	case err != nil:
		return nil, err
	case found.Table != a.Table || dir != directory(at):
		return nil, fmt.Errorf("%s is another table than the one that was attached: CALL dp_detach, and dp_attach it under the same name", directory(at))
	case !slices.Equal(found.Columns, a.Fields):
		return nil, fmt.Errorf("%s does not have the columns that it was attached with: CALL dp_detach, and dp_attach it under the same name", directory(at))
	}
	return at.Listed(found)
}

// directory is that of a table whose files a pattern names.
func directory(at lake.Pattern) string { return filepath.Dir(filepath.Dir(at.String())) }
