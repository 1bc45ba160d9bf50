package duckdb

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unsafe"

	"github.com/marcboeker/go-duckdb/v2/mapping"
)

func unreadable(format string, args ...any) error {
	return &Unreadable{Reason: fmt.Sprintf(format, args...)}
}

// Reject is a line of a CSV file that cannot be read.
type Reject struct {
	File   string
	Line   int64  // from 1
	Column string // "" where it is the whole line
	Reason string
}

// String names the place first.
func (r Reject) String() string {
	where := fmt.Sprintf("%s:%d: ", r.File, r.Line)
	if r.Column != "" {
		where += "column " + r.Column + ": "
	}
	return where + r.Reason
}

// Rejected tells of more lines that cannot be read than may be. Nothing was imported.
type Rejected struct {
	Lines []Reject // the first ones
	More  bool     // there are others
}

// Error counts the lines and shows the first.
func (r *Rejected) Error() string {
	const shown = 5
	count := strconv.Itoa(len(r.Lines))
	if r.More {
		count = "more than " + count
	}
	word := " lines"
	if count == "1" {
		word = " line"
	}
	var b strings.Builder
	b.WriteString(count + word + " cannot be read:")
	for _, l := range r.Lines[:min(len(r.Lines), shown)] {
		b.WriteString("\n  " + l.String())
	}
	if len(r.Lines) > shown || r.More {
		b.WriteString("\n  …")
	}
	return b.String()
}

// toldRejects is how many lines beyond those that may be left out are told.
const toldRejects = 1000

// rejectsLimit is how many errors the reader keeps. A line has one for each column at most, or one
// for each that it has too many; whoever counts looks whether there are as many as this.
func (s *inputs) rejectsLimit() int64 {
	return (s.o.MaxRejects + toldRejects) * int64(max(1, len(s.columns)))
}

// rejectsSQL has a text for each rejected line. Only the last scan counts: it has filled the table.
const rejectsSQL = `SELECT concat_ws(chr(31), s.file_path, e.line, coalesce(arg_min(e.column_name, e.column_idx), ''),
		arg_min(e.error_message, coalesce(e.column_idx, 0)), count(*))
	FROM reject_errors e JOIN reject_scans s USING (scan_id, file_id)
	WHERE e.scan_id = (SELECT max(scan_id) FROM reject_scans) GROUP BY s.file_path, e.line ORDER BY s.file_path, e.line`

// rejects are the lines that the load has left out; *Rejected where they are too many.
func (im *importer) rejects(ctx context.Context) ([]Reject, error) {
	if !im.source.text() {
		return nil, nil
	}
	texts, err := im.r.texts(ctx, rejectsSQL)
	if err != nil {
		return nil, err
	}
	var out []Reject
	var errs int64
	for _, t := range texts {
		f := strings.Split(t, "\x1f")
		line, _ := strconv.ParseInt(f[1], 10, 64)
		n, _ := strconv.ParseInt(f[len(f)-1], 10, 64)
		errs += n
		reason, _, _ := strings.Cut(strings.Join(f[3:len(f)-1], " "), "\n")
		out = append(out, Reject{File: f[0], Line: line, Column: f[2], Reason: readerWords(reason)})
	}
	more := errs >= im.source.rejectsLimit()
	if more || int64(len(out)) > im.o.MaxRejects {
		return nil, &Rejected{Lines: out, More: more}
	}
	return out, nil
}

// texts runs a query of ours with one column of texts that are not NULL.
func (r *raw) texts(ctx context.Context, sql string) ([]string, error) {
	stmt, err := r.prepare(sql)
	if err != nil {
		return nil, err
	}
	defer mapping.DestroyPrepare(&stmt)
	res, err := r.run(ctx, stmt, nil, nil)
	if err != nil {
		return nil, err
	}
	defer mapping.DestroyResult(&res)
	var out []string
	for {
		chunk := fetch(&res)
		if chunk.Ptr == nil {
			return out, nil
		}
		n := int(mapping.DataChunkGetSize(chunk))
		if n > 0 {
			vec := mapping.DataChunkGetVector(chunk, 0)
			for _, t := range unsafe.Slice((*stringT)(mapping.VectorGetData(vec)), n) {
				out = append(out, string(t.bytes()))
			}
		}
		destroy(chunk)
		if n == 0 {
			return out, nil
		}
	}
}
