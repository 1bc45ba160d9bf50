package infile

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/internal/refuse"
)

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
