// Package infile reads the client's file of LOAD DATA LOCAL INFILE into the rows of an INSERT. Its
// errors name a row by its number, and nothing of what is in it.
package infile

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/rs/zerolog"

	"scrim/engine/mysql/gate"
	"scrim/engine/mysql/mysqlerr"
)

// File is a client's file on its way into a table. It is opened when its first row is asked for.
type File struct {
	Open   func() (io.ReadCloser, error)
	Format Format
	Ignore int   // lines to pass over
	Fields []int // the place of each field among a row's values, -1 for one that is not kept

	file   io.ReadCloser
	rows   *rows
	failed error // of the file
}

type key struct{}

// In is a context in which Builder puts the rows of the file in the place of an INSERT's values.
func (f *File) In(ctx *sql.Context) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx.Context, key{}, f))
}

// Builder is a sql.NodeExecBuilder that puts the rows of a file in the place of an INSERT's values,
// and writes no file. It leaves other nodes to Next, if that is not nil.
type Builder struct{ Next sql.NodeExecBuilder }

// Build implements sql.NodeExecBuilder.
func (b Builder) Build(ctx *sql.Context, n sql.Node, row sql.Row) (sql.RowIter, error) {
	if into, ok := n.(*plan.Into); ok && (into.Outfile != "" || into.Dumpfile != "") {
		return nil, gate.NoFiles() // the gate refuses it before
	}
	src, ok := ctx.Value(key{}).(*File)
	if _, values := n.(*plan.Values); ok && values {
		return src, nil
	}
	if b.Next == nil {
		return nil, nil
	}
	return b.Next.Build(ctx, n, row)
}

// Next implements sql.RowIter.
func (f *File) Next(*sql.Context) (sql.Row, error) {
	row, err := f.next()
	if err != nil && !errors.Is(err, io.EOF) {
		f.failed = err
	}
	return row, err
}

func (f *File) next() (sql.Row, error) {
	if f.rows == nil {
		file, err := f.Open()
		if err != nil {
			return nil, err
		}
		f.file, f.rows = file, &rows{r: bufio.NewReaderSize(file, 64<<10), format: f.Format}
		for range f.Ignore {
			if err := f.rows.skip(); err != nil {
				return nil, err
			}
		}
	}
	fields, err := f.rows.next()
	switch {
	case err != nil:
		return nil, err
	case len(fields) < len(f.Fields):
		return nil, f.rows.fault(1261, "01000", "Row %d doesn't contain data for all columns")
	case len(fields) > len(f.Fields):
		return nil, f.rows.fault(1262, "01000", "Row %d was truncated; it contained more data than there were input columns")
	}
	row := make(sql.Row, 0, len(fields))
	for i, to := range f.Fields {
		if to >= 0 {
			row = append(row, fields[i])
		}
	}
	return row, nil
}

// Close implements sql.RowIter. The file stays open until the statement has ended.
func (f *File) Close(*sql.Context) error { return nil }

// End passes over what is left of the file.
func (f *File) End() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// Fault names the row of the file in an error about one of its values, and takes the value out. An
// error of the statement's own stays as it is.
func (f *File) Fault(err error) error {
	if f.failed != nil {
		return f.failed
	}
	if _, refused := mysqlerr.RefusedBy(err); refused || f.rows == nil {
		return err
	}
	own, ok := mysqlerr.AsSQLError((&mysqlerr.Translator{Log: zerolog.Nop()}).Public(err, mysqlerr.Context{}))
	if !ok || own.Num == mysql.ERQueryInterrupted || own.Num == mysql.ERUnknownError && mysqlerr.KindOf(err) == nil {
		return err
	}
	column := "a column"
	if _, rest, ok := strings.Cut(own.Message, "olumn '"); ok {
		name, _, _ := strings.Cut(rest, "'")
		column = "column '" + strings.ReplaceAll(name, "%", "%%") + "'"
	}
	switch own.Num {
	case 1021, 1041, 1180, 1194, 1213, 1836: // of the disk, the memory, or another transaction
		return err
	case 1062:
		return f.rows.fault(1062, "23000", "Duplicate entry for a key in row %d of the file, or before")
	case 1048:
		return f.rows.fault(1048, "23000", "NULL for "+column+", which cannot be null, in row %d of the file")
	case 1264:
		return f.rows.fault(1264, "22003", "Out of range value for "+column+" in row %d of the file")
	case 1406:
		return f.rows.fault(1406, "22001", "Data too long for "+column+" in row %d of the file")
	case 3819:
		return f.rows.fault(3819, "HY000", strings.ReplaceAll(strings.TrimSuffix(own.Message, "."), "%", "%%")+" in row %d of the file")
	}
	return f.rows.fault(1366, "HY000", "Incorrect value for "+column+" in row %d of the file, or before")
}
