package duckdb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"github.com/marcboeker/go-duckdb/v2/mapping"

	"scrim/engine/store"
	"scrim/internal/sqltext"
)

// Described is what is known of files before their rows are read.
type Described struct {
	Columns, Types []string // as in Import
	Files          []store.ImportedFile
}

// lookAt opens a database of its own, empty and in a directory that end removes, which reads the
// source's files and nothing else.
func lookAt(ctx context.Context, s *inputs) (c *conn, r *raw, end func(), err error) {
	dir, err := os.MkdirTemp("", "scrim-look-")
	if err != nil {
		return nil, nil, nil, err
	}
	in, err := openInstance(filepath.Join(dir, "look.duckdb"))
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, nil, nil, err
	}
	if c, r, err = in.openForImport(ctx, s.paths, s.o.Open); err != nil {
		in.close()
		_ = os.RemoveAll(dir)
		return nil, nil, nil, err
	}
	return c, r, func() {
		r.close()
		c.close()
		in.close()
		_ = os.RemoveAll(dir)
	}, nil
}

// StreamFile reads files as ImportFile does, and hands their rows to each as lines of LOAD DATA:
// fields end in tabs, lines in line feeds, a backslash escapes, and \N is NULL. The columns are
// read by the types of o.Into, where that has them. start is told the columns before the first row.
// Rows that each has got are void where StreamFile fails: too many rejects are known at the end
// only.
func StreamFile(ctx context.Context, file string, o ImportOptions, start func(Described) error, each func(line []byte) error, progress func(done, total int64)) (out Import, err error) {
	s, err := newSource(file, o)
	if err != nil {
		return out, err
	}
	c, r, end, err := lookAt(ctx, s)
	if err != nil {
		return out, err
	}
	defer end()
	if err := s.describe(ctx, c); err != nil {
		return out, readError(ctx, err)
	}
	for name, t := range o.Into {
		s.readColumnAs(name, t)
	}
	files, err := s.files()
	if err != nil {
		return out, err
	}
	query, err := s.lines()
	if err != nil {
		return out, err
	}
	if err := start(Described{Columns: s.columns, Types: s.types, Files: files}); err != nil {
		return out, err
	}
	im := &importer{c: c, r: r, source: s, o: o, progress: progress}
	out = Import{Columns: s.columns, Types: s.types}
	var failed error // of each
	stop := im.report()
	err = r.eachText(ctx, query, func(line []byte) error {
		out.Rows++
		failed = each(line)
		return failed
	})
	stop()
	if failed != nil {
		return out, failed
	}
	if err == nil {
		out.Rejects, err = im.rejects(ctx)
	}
	if err != nil {
		return out, readError(ctx, err)
	}
	if progress != nil {
		progress(s.size, s.size)
	}
	return out, nil
}

// lines is the SELECT of all rows, each as one text.
func (s *inputs) lines() (string, error) {
	fields := make([]string, len(s.columns))
	for i, c := range s.columns {
		text := sqltext.StoreName(c)
		switch t := s.types[i]; {
		case t == "BLOB":
			return "", unreadable("column %s: bytes do not go through a server; import them into a directory that nobody serves", c)
		case strings.HasSuffix(t, "[]") && len(s.o.Into) == 0:
			return "", unreadable("column %s: a table of a server has lists of one length; say it: --types %s=DOUBLE[3]", c, c)
		case t == "BOOLEAN":
			text = "CAST(CAST(" + text + " AS TINYINT) AS VARCHAR)"
		case t == "TIMESTAMP WITH TIME ZONE":
			text = "CAST(make_timestamp(epoch_us(" + text + ")) AS VARCHAR)"
		case strings.HasSuffix(t, "]"):
			text = "CAST(to_json(" + text + ") AS VARCHAR)"
		default:
			text = "CAST(" + text + " AS VARCHAR)"
		}
		for _, e := range [][2]string{{`\`, `\\`}, {"\t", `\t`}, {"\n", `\n`}, {"\r", `\r`}} {
			text = fmt.Sprintf("replace(%s, %s, %s)", text, sqltext.StoreText(e[0]), sqltext.StoreText(e[1]))
		}
		fields[i] = "coalesce(" + text + `, '\N')`
	}
	return "SELECT concat(" + strings.Join(fields, ", chr(9), ") + ", chr(10)) FROM (" + s.rows() + ")", nil
}

// eachText hands over the texts of a query of ours with one column, while they are computed. A text
// is valid until f returns.
func (r *raw) eachText(ctx context.Context, sql string, f func([]byte) error) error {
	stmt, err := r.prepare(sql)
	if err != nil {
		return err
	}
	defer mapping.DestroyPrepare(&stmt)
	return r.stream(ctx, stmt, nil, nil, func(*mapping.Result) error { return nil }, func(chunk mapping.DataChunk) error {
		vec := mapping.DataChunkGetVector(chunk, 0)
		for _, t := range unsafe.Slice((*stringT)(mapping.VectorGetData(vec)), int(mapping.DataChunkGetSize(chunk))) {
			if err := f(t.bytes()); err != nil {
				return err
			}
		}
		return nil
	})
}
