// Package infile reads the client's file of LOAD DATA LOCAL INFILE into the rows of an INSERT. Its
// errors name a row by its number, and nothing of what is in it.
package infile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/rs/zerolog"

	"scrim/engine/mysql/gate"
	"scrim/engine/mysql/mysqlerr"
	"scrim/internal/refuse"
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

// Format is how LOAD DATA says that rows and their fields are written.
type Format struct {
	fieldEnd, lineEnd, lineStart []byte
	quote, escape                byte // 0: none
}

// FormatOf reads FIELDS and LINES; without them fields end in tabs, lines in line feeds, and a
// backslash escapes, as MySQL has it.
func FormatOf(s *sqlparser.Load) (Format, error) {
	f := Format{fieldEnd: []byte("\t"), lineEnd: []byte("\n"), escape: '\\'}
	one := func(to *byte, what string, v *sqlparser.SQLVal) error {
		if len(v.Val) > 1 {
			return refuse.New(refuse.Unsupported, "%s BY takes one character.", what).With("Write the file with another one.")
		}
		*to = 0
		if len(v.Val) == 1 {
			*to = v.Val[0]
		}
		return nil
	}
	if s.Fields != nil {
		if v := s.Fields.TerminatedBy; v != nil {
			f.fieldEnd = v.Val
		}
		if e := s.Fields.EnclosedBy; e != nil && e.Delim != nil {
			if err := one(&f.quote, "ENCLOSED", e.Delim); err != nil {
				return f, err
			}
		}
		if v := s.Fields.EscapedBy; v != nil {
			if err := one(&f.escape, "ESCAPED", v); err != nil {
				return f, err
			}
		}
	}
	if s.Lines != nil {
		if v := s.Lines.StartingBy; v != nil {
			f.lineStart = v.Val
		}
		if v := s.Lines.TerminatedBy; v != nil {
			f.lineEnd = v.Val
		}
	}
	if len(f.fieldEnd) == 0 || len(f.lineEnd) == 0 {
		return f, refuse.New(refuse.Unsupported, "Fields and lines without an end are not supported.").
			With("Write FIELDS TERMINATED BY and LINES TERMINATED BY with a text.")
	}
	return f, nil
}

// maxLoadedRow bounds what one row of a file may hold, in bytes.
const maxLoadedRow = 64 << 20

// rows reads a file row by row.
type rows struct {
	r      *bufio.Reader
	format Format
	row    int // of the file, from 1, those that were passed over counted
}

// at reports whether the file goes on with text, which it then passes over.
func (f *rows) at(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	if b, err := f.r.Peek(len(text)); err != nil || !bytes.Equal(b, text) {
		return false
	}
	_, _ = f.r.Discard(len(text))
	return true
}

// skip passes over one line.
func (f *rows) skip() error {
	for !f.at(f.format.lineEnd) {
		if _, err := f.r.ReadByte(); err != nil {
			return err
		}
	}
	f.row++
	return nil
}

// next returns the fields of the next row, nil for NULL; io.EOF behind the last one.
func (f *rows) next() ([]any, error) {
	if len(f.format.lineStart) > 0 {
		for !f.at(f.format.lineStart) {
			if _, err := f.r.ReadByte(); err != nil {
				return nil, err
			}
		}
	} else if _, err := f.r.Peek(1); err != nil {
		return nil, err
	}
	f.row++
	var fields []any
	for size := 0; ; {
		text, null, last, err := f.field()
		if err != nil {
			return nil, err
		}
		if size += len(text); size > maxLoadedRow {
			return nil, f.fault(1153, "08S01", "Row %d of the file is too large")
		}
		switch {
		case null:
			fields = append(fields, nil)
		case !utf8.Valid(text):
			return nil, f.fault(1300, "HY000", "Invalid utf8mb4 character string in row %d of the file")
		default:
			fields = append(fields, string(text))
		}
		if last {
			return fields, nil
		}
	}
}

// fault is an error that names the row, and nothing of what is in it.
func (f *rows) fault(errno int, state, text string) error {
	return mysql.NewSQLError(errno, state, text, f.row)
}

// field reads one field. last tells that the line ends behind it.
func (f *rows) field() (text []byte, null, last bool, err error) {
	quoted := false
	if q := f.format.quote; q != 0 {
		quoted = f.at([]byte{q})
	}
	escapedN := false
	for {
		if len(text) > maxLoadedRow {
			return text, false, true, nil // the row is refused
		}
		if !quoted {
			switch {
			case f.at(f.format.fieldEnd):
				return text, f.isNull(text, escapedN), false, nil
			case f.at(f.format.lineEnd):
				return text, f.isNull(text, escapedN), true, nil
			}
		}
		c, err := f.r.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return text, !quoted && f.isNull(text, escapedN), true, nil
		case err != nil:
			return nil, false, false, err
		}
		switch {
		case quoted && c == f.format.quote:
			switch {
			case f.at([]byte{c}): // doubled, it stands for itself
				text = append(text, c)
			case f.at(f.format.fieldEnd):
				return text, false, false, nil
			case f.at(f.format.lineEnd), f.ended():
				return text, false, true, nil
			default:
				text = append(text, c)
			}
		case c == f.format.escape && c != 0:
			e, err := f.r.ReadByte()
			if err != nil {
				return append(text, c), false, true, nil
			}
			escapedN = e == 'N' && len(text) == 0
			text = append(text, unescaped(e))
		default:
			escapedN = false
			text = append(text, c)
		}
	}
}

func (f *rows) ended() bool {
	_, err := f.r.Peek(1)
	return err != nil
}

// isNull reports whether a field that is not enclosed is NULL: \N, or the word where fields are
// enclosed and nothing escapes.
func (f *rows) isNull(text []byte, escapedN bool) bool {
	return escapedN && len(text) == 1 || f.format.quote != 0 && f.format.escape == 0 && string(text) == "NULL"
}

// unescaped is what a character behind the escape stands for.
func unescaped(c byte) byte {
	switch c {
	case '0':
		return 0
	case 'b':
		return '\b'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'Z':
		return 26
	}
	return c
}
