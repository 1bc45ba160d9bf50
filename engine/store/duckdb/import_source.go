package duckdb

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/marcboeker/go-duckdb/v2/mapping"

	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/sqltext"
)

// Formats of files, as ImportOptions.Format and the ends of files' names have them. Text formats
// may be compressed: .gz and .zst.
var Formats = []string{"csv", "tsv", "json", "ndjson", "parquet"}

// inputs are files and how they are read.
type inputs struct {
	paths  []string
	size   int64
	format string
	o      ImportOptions
	// columns and their types as they are read, once described; columns of which the text has a
	// greatest length, in characters, are in lengths
	columns, types []string
	lengths        map[string]int
	as             map[string]string // types that the reader of CSV files is told, by column
	read           map[string]string // SQL of columns that are not read as they are
}

// newSource checks the files and finds their format.
func newSource(file string, o ImportOptions) (*inputs, error) {
	s := &inputs{o: o, lengths: map[string]int{}, as: map[string]string{}, read: map[string]string{}}
	for _, f := range append([]string{file}, o.Also...) {
		path, err := filepath.Abs(f)
		if err != nil {
			return nil, err
		}
		fi, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, err
		case !fi.Mode().IsRegular():
			return nil, fmt.Errorf("%s is not a regular file", f)
		case fi.Size() == 0:
			return nil, unreadable("%s is empty", f)
		case strings.ContainsAny(path, "*?["):
			return nil, fmt.Errorf("rename %s: the readers take *, ? and [ for patterns", f)
		}
		format := o.Format
		if format == "" {
			format = FormatOf(f)
		}
		switch {
		case !slices.Contains(Formats, format):
			return nil, fmt.Errorf("%s: want a file named .%s, also with .gz or .zst, or the format said", f, strings.Join(Formats, ", ."))
		case s.format != "" && s.format != format:
			return nil, fmt.Errorf("%s is %s, and the files before it are %s", f, format, s.format)
		}
		s.paths, s.size, s.format = append(s.paths, path), s.size+fi.Size(), format
	}
	return s, nil
}

// FormatOf is the format that a file's name tells, "" for none.
func FormatOf(file string) string {
	name := strings.ToLower(filepath.Base(file))
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	switch end := strings.TrimPrefix(filepath.Ext(name), "."); {
	case end == "jsonl":
		return "ndjson"
	case slices.Contains(Formats, end):
		return end
	}
	return ""
}

// text reports whether the files are lines of delimited text, which have rejects.
func (s *inputs) text() bool { return s.format == "csv" || s.format == "tsv" }

// reader is the table function that reads the files.
func (s *inputs) reader() string {
	sample := cmp.Or(s.o.Sample, sampleRows)
	files := "[" + storeTexts(s.paths) + "]"
	switch s.format {
	case "parquet":
		return "read_parquet(" + files + ")"
	case "json", "ndjson":
		return fmt.Sprintf("read_json(%s, sample_size = %d)", files, sample)
	}
	nulls := s.o.NullStrings
	if len(nulls) == 0 {
		nulls = []string{""}
	}
	// Without skip, comment and strict_mode the reader may take lines at the front for notes, and
	// lines with another number of columns for none.
	sql := fmt.Sprintf("read_csv(%s, sample_size = %d, nullstr = [%s], skip = 0, comment = '', strict_mode = true, store_rejects = true, rejects_limit = %d",
		files, sample, storeTexts(nulls), s.rejectsLimit())
	delimiter := s.o.Delimiter
	if delimiter == "" && s.format == "tsv" {
		delimiter = "\t"
	}
	if delimiter != "" {
		sql += ", delim = " + sqltext.StoreText(delimiter)
	}
	if s.o.Header != nil {
		sql += ", header = " + strconv.FormatBool(*s.o.Header)
	}
	var as []string
	for _, c := range s.columns {
		if t := s.as[c]; t != "" {
			as = append(as, sqltext.StoreText(c)+": "+sqltext.StoreText(t))
		}
	}
	if len(as) > 0 {
		sql += ", types = {" + strings.Join(as, ", ") + "}"
	}
	return sql + ")"
}

// DescribeFile tells the columns and types that an import into a new table would make, and
// reads no more of the file than decides that.
func DescribeFile(ctx context.Context, file string, o ImportOptions) (out Import, err error) {
	s, _, _, end, err := described(ctx, file, o)
	if err != nil {
		return out, err
	}
	defer end()
	return Import{Columns: s.columns, Types: s.types}, nil
}

// described looks at files and describes their columns; end closes what it opened.
func described(ctx context.Context, file string, o ImportOptions) (s *inputs, c *conn, r *raw, end func(), err error) {
	if s, err = newSource(file, o); err != nil {
		return nil, nil, nil, nil, err
	}
	if c, r, end, err = lookAt(ctx, s); err != nil {
		return nil, nil, nil, nil, err
	}
	if err := s.describe(ctx, c); err != nil {
		end()
		return nil, nil, nil, nil, readError(ctx, err)
	}
	return s, c, r, end, nil
}

// describe reads the names and types of the files' columns. Names that differ in case alone are the
// same.
func (s *inputs) describe(ctx context.Context, c *conn) error {
	rows, err := c.collect(ctx, "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM "+s.reader()+")")
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, r := range rows {
		name := strings.TrimSpace(r[0].(string))
		folded := strings.ToLower(name)
		if name == "" || seen[folded] {
			return unreadable("the file has no or the same name for two columns: %q", name)
		}
		seen[folded] = true
		sql, t := plainType(sqltext.StoreName(name), r[1].(string))
		s.columns, s.types, s.read[name] = append(s.columns, name), append(s.types, t), sql
	}
	switch {
	case len(s.columns) == 0:
		return unreadable("the file has no columns")
	case s.text() && len(s.columns) == 1 && s.o.Delimiter == "" && strings.ContainsAny(s.columns[0], ",;\t|"):
		// DuckDB takes a file whose lines have different numbers of columns for one of whole lines.
		return unreadable("the file reads as one column named %q; its lines have different numbers of columns, or another delimiter", s.columns[0])
	}
	return s.declare()
}

// plainType returns how a table stores a column that a reader finds: the SQL that converts it, and
// its type. Objects become JSON, times have microseconds, and shapes become bytes (WKB).
func plainType(name, t string) (sql, plain string) {
	switch base, _, _ := strings.Cut(t, "("); {
	case base == "VARIANT":
		return "CASE WHEN " + name + " IS NOT NULL THEN CAST(" + name + " AS JSON) END", "JSON"
	case t == "JSON", strings.HasPrefix(t, "STRUCT"), strings.HasPrefix(t, "MAP"), strings.HasPrefix(t, "UNION"):
		return "CAST(to_json(" + name + ") AS JSON)", "JSON"
	case base == "TIME_NS":
		return "CAST(" + name + " AS TIME)", "TIME"
	case base == "GEOMETRY":
		return "ST_AsWKB(" + name + ")", "BLOB"
	}
	return name, t
}

// typeText is what a type may look like, and textLength the length of one for text.
var (
	typeText   = regexp.MustCompile(`^[A-Z][A-Z0-9_ ]*(\( *\d+ *(, *\d+ *)?\))?( ?\[\d*\])?$`)
	textLength = regexp.MustCompile(`^(?:VAR)?CHAR ?\( *(\d+) *\)$`)
)

// storeNames are MySQL's names of types that the store names otherwise.
var storeNames = map[string]string{"DATETIME": "TIMESTAMP", "LONGTEXT": "VARCHAR", "TEXT": "VARCHAR", "INT": "INTEGER"}

// declare takes the types that were asked for.
func (s *inputs) declare() error {
	for _, name := range slices.Sorted(maps.Keys(s.o.Types)) {
		i := slices.IndexFunc(s.columns, func(c string) bool { return strings.EqualFold(c, name) })
		if i < 0 {
			return unreadable("the file has no column %q; it has %s", name, strings.Join(s.columns, ", "))
		}
		t := strings.ToUpper(strings.TrimSpace(s.o.Types[name]))
		if !typeText.MatchString(t) {
			return unreadable("column %s: %q is no type; want one as BIGINT, DOUBLE, DECIMAL(10,2), VARCHAR(40), DATE or DATETIME", name, s.o.Types[name])
		}
		if m := textLength.FindStringSubmatch(t); m != nil {
			n, err := strconv.Atoi(m[1])
			if err != nil || n < 1 || n > 16383 {
				return unreadable("column %s: want a length from 1 to 16383, not %s", name, m[1])
			}
			s.lengths[s.columns[i]], t = n, "VARCHAR"
		}
		if plain, ok := storeNames[t]; ok {
			t = plain
		}
		s.types[i], s.as[s.columns[i]] = t, t
	}
	return nil
}

// scalar are the types of which a CSV file's reader tells the lines that do not fit.
var scalar = regexp.MustCompile(`^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DOUBLE|FLOAT|DECIMAL\(.*\)|VARCHAR|DATE|TIMESTAMP|BOOLEAN)$`)

// readAs has a CSV file read by the types of a table that is there: a text of digits stays a text,
// and what does not fit is told by its line.
func (s *inputs) readAs(ctx context.Context, c *conn, table store.TableRef) error {
	if !s.text() {
		return nil
	}
	rows, err := c.collect(ctx, `SELECT column_name, data_type FROM duckdb_columns() WHERE lower(schema_name) = $1 AND lower(table_name) = $2`, table.Schema, table.Name)
	if err != nil {
		return err
	}
	for _, r := range rows {
		s.readColumnAs(r[0].(string), r[1].(string))
	}
	return nil
}

// readColumnAs has one column read by a type of the store's.
func (s *inputs) readColumnAs(column, t string) {
	i := slices.IndexFunc(s.columns, func(c string) bool { return strings.EqualFold(c, column) })
	if i >= 0 && s.text() && scalar.MatchString(t) {
		s.types[i], s.as[s.columns[i]] = t, t
	}
}

// rows is the SELECT of all columns under their names. The alias list renames the file's columns by
// position.
func (s *inputs) rows() string {
	items := make([]string, len(s.columns))
	for i, c := range s.columns {
		name := sqltext.StoreName(c)
		items[i] = s.read[c]
		switch n, limited := s.lengths[c]; {
		case s.types[i] == "JSON" && items[i] != name:
		case s.types[i] == "JSON":
			items[i] = "CAST(to_json(" + name + ") AS JSON)"
		case !s.text() && s.as[c] != "":
			items[i] = "CAST(" + name + " AS " + s.as[c] + ")"
			fallthrough
		case limited:
			if limited {
				long := sqltext.StoreText(fmt.Sprintf("column %s: a text is longer than %d characters", c, n))
				items[i] = fmt.Sprintf("CASE WHEN length(%[1]s) > %[2]d THEN error(%[3]s) ELSE %[1]s END", items[i], n, long)
			}
		}
		items[i] += " AS " + name
	}
	return "SELECT " + strings.Join(items, ", ") + " FROM " + s.reader() + " AS f(" + sqltext.StoreNames(s.columns) + ")"
}

func storeTexts(texts []string) string {
	return strings.Join(lists.Map(texts, sqltext.StoreText), ", ")
}

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
	s, c, r, end, err := described(ctx, file, o)
	if err != nil {
		return out, err
	}
	defer end()
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
