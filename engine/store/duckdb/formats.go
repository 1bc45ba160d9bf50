package duckdb

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"scrim/engine/lake"
	"scrim/engine/lake/iceberg"
)

// anyFile makes the pattern of all files below the directory of a table.
const anyFile = "/**/*.parquet"

// formats read the metadata of the table in a directory, by the kind of the attachment.
var formats = map[string]func(dir string) (*lake.Listing, error){lake.Iceberg: iceberg.List}

// first lists the files of a table that is to be attached, and notes what its metadata say it is.
func first(a *lake.Attachment, at lake.Pattern) (*lake.Pin, error) {
	if a.Kind == lake.Parquet {
		return at.Pin()
	}
	l, err := formats[a.Kind](directory(at))
	if err != nil {
		return nil, err
	}
	a.Table, a.Fields = l.Table, l.Columns
	return at.Listed(l)
}

// relisted lists the files of an attached table, and fails where it is another table, or has other
// columns, than it was attached with.
func relisted(a lake.Attachment, at lake.Pattern) (*lake.Pin, error) {
	if a.Kind == lake.Parquet {
		return at.Pin()
	}
	l, err := formats[a.Kind](directory(at))
	var unfit *lake.Unfit
	switch {
	case errors.As(err, &unfit):
		return nil, fmt.Errorf("the table in %s cannot be read: %s. %s", directory(at), unfit.Cause, unfit.Remedy)
	case err != nil:
		return nil, err
	case l.Table != a.Table:
		return nil, fmt.Errorf("%s is another table than the one that was attached: CALL dp_detach, and dp_attach it under the same name", directory(at))
	case !slices.Equal(l.Columns, a.Fields):
		return nil, fmt.Errorf("%s does not have the columns that it was attached with: CALL dp_detach, and dp_attach it under the same name", directory(at))
	}
	return at.Listed(l)
}

// directory is that of a table whose files a pattern names.
func directory(at lake.Pattern) string { return filepath.Dir(filepath.Dir(at.String())) }
