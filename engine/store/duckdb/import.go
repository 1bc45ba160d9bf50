package duckdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/marcboeker/go-duckdb/mapping"

	"scrim/engine/store"
	"scrim/internal/sqltext"
)

// ImportMode says what an import does with a table that may be there already.
type ImportMode uint8

// Import modes.
const (
	// ImportCreate makes a new table; one of the name fails with store.Exists.
	ImportCreate ImportMode = iota
	// ImportAppend adds rows to an existing table, matching columns by name.
	ImportAppend
	// ImportReplace puts the file's rows in the place of an existing table's, whose definition and
	// keys stay; without such a table it makes one.
	ImportReplace
)

// ImportOptions say how a file is imported.
type ImportOptions struct {
	Mode ImportMode
	// NullStrings are the texts of a CSV file that mean NULL, "" alone by default.
	NullStrings []string
	// Delimiter of a CSV file, found out by default.
	Delimiter string
	// Creating is called before a table is made that was not there, and may refuse; it may be nil.
	Creating func() error
	// Open configures the database while importing, as it is configured when serving.
	Open Options
}

// sampleRows is how many rows of a CSV file decide its columns' types. Later rows that do not fit
// fail the import as a whole.
const sampleRows = 1 << 18

// progressEvery is how often an import reports.
const progressEvery = 100 * time.Millisecond

// Import describes a finished import.
type Import struct {
	Rows    int64
	Columns []string // the table's columns that the file filled
}

// ImportFile reads a .csv, .csv.gz or .parquet file into a table of the database at dbPath, all of
// it or nothing, in one transaction that changes the table's version. Names are folded to lower
// case; the schema is made where it is missing. While it reads, progress gets the bytes of the file
// that are done, by DuckDB's estimate, and all of them; it may be nil.
//
// It opens the database itself, with access to that one file and nothing else, and returns
// store.ErrInUse while somebody else has it open. Other errors are for the operator: a *store.Error
// that holds the reader's message in Driver.
func ImportFile(ctx context.Context, dbPath, file string, table store.TableRef, o ImportOptions, progress func(done, total int64)) (Import, error) {
	source, size, err := fileReader(file, o)
	if err != nil {
		return Import{}, err
	}
	table = store.TableRef{Schema: strings.ToLower(table.Schema), Name: strings.ToLower(table.Name)}
	in, err := openInstance(dbPath)
	if err != nil {
		return Import{}, err
	}
	defer in.close()
	if in.reserved(table.Schema) {
		return Import{}, fmt.Errorf("duckdb: schema %s is reserved", table.Schema)
	}
	c, err := in.connect(ctx)
	if err != nil {
		return Import{}, classify(ctx, err)
	}
	defer c.close()
	r, err := in.connectRaw()
	if err != nil {
		return Import{}, err
	}
	defer r.close()
	for _, sql := range []string{"SET enable_progress_bar = true", "SET enable_progress_bar_print = false"} {
		if _, err := r.exec(ctx, sql); err != nil {
			return Import{}, classify(ctx, err)
		}
	}
	if err := c.openForImport(ctx, in, source.path, o.Open); err != nil {
		return Import{}, classify(ctx, err)
	}
	im := &importer{c: c, r: r, table: table, source: source.sql, size: size, mode: o.Mode, creating: o.Creating, progress: progress}
	out, err := im.run(ctx)
	if err != nil {
		return Import{}, classify(ctx, err)
	}
	// The rows are durable in the log; that they move into the file now is a convenience.
	_, _ = c.exec(context.WithoutCancel(ctx), "CHECKPOINT")
	return out, nil
}

// openForImport prepares and locks the database as Open does, but for the file to be read.
func (c *conn) openForImport(ctx context.Context, in *instance, file string, o Options) error {
	if err := c.setUp(ctx, in, o); err != nil {
		return err
	}
	return c.configure(ctx, append([]string{"SET GLOBAL allowed_paths = [" + sqltext.StoreText(file) + "]"}, lock...))
}

// fileSource is a file and the table function that reads it.
type fileSource struct{ path, sql string }

// fileReader finds the reader of a file by its name.
func fileReader(file string, o ImportOptions) (fileSource, int64, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return fileSource{}, 0, err
	}
	fi, err := os.Stat(path)
	if err != nil {
		return fileSource{}, 0, err
	}
	if !fi.Mode().IsRegular() {
		return fileSource{}, 0, fmt.Errorf("duckdb: %s is not a regular file", file)
	}
	if strings.ContainsAny(path, "*?[") {
		return fileSource{}, 0, fmt.Errorf("duckdb: rename %s: the readers take *, ? and [ for patterns", file)
	}
	name := strings.ToLower(path)
	switch {
	case strings.HasSuffix(name, ".parquet"):
		return fileSource{path, "read_parquet(" + sqltext.StoreText(path) + ")"}, fi.Size(), nil
	case strings.HasSuffix(name, ".csv"), strings.HasSuffix(name, ".csv.gz"):
		return fileSource{path, csvReader(path, o)}, fi.Size(), nil
	}
	return fileSource{}, 0, fmt.Errorf("duckdb: %s: want a .csv, .csv.gz or .parquet file", file)
}

func csvReader(path string, o ImportOptions) string {
	nulls := o.NullStrings
	if len(nulls) == 0 {
		nulls = []string{""}
	}
	quoted := make([]string, len(nulls))
	for i, n := range nulls {
		quoted[i] = sqltext.StoreText(n)
	}
	sql := fmt.Sprintf("read_csv(%s, sample_size = %d, nullstr = [%s]", sqltext.StoreText(path), sampleRows, strings.Join(quoted, ", "))
	if o.Delimiter != "" {
		sql += ", delim = " + sqltext.StoreText(o.Delimiter)
	}
	return sql + ")"
}

// importer runs one import on two connections: r reads the file and tells its progress, c looks
// things up before.
type importer struct {
	c        *conn
	r        *raw
	table    store.TableRef
	source   string
	size     int64
	mode     ImportMode
	creating func() error
	progress func(done, total int64)
}

func (im *importer) run(ctx context.Context) (Import, error) {
	columns, err := im.columns(ctx)
	if err != nil {
		return Import{}, err
	}
	exists, err := im.exists(ctx)
	if err != nil {
		return Import{}, err
	}
	switch {
	case exists && im.mode == ImportCreate:
		return Import{}, &store.Error{Kind: store.Exists, Table: im.table.String()}
	case !exists && im.mode == ImportAppend:
		return Import{}, &store.Error{Kind: store.NotFound, Table: im.table.String()}
	}
	if !exists && im.creating != nil {
		if err := im.creating(); err != nil {
			return Import{}, err
		}
	}
	if _, err := im.r.exec(ctx, "BEGIN TRANSACTION"); err != nil {
		return Import{}, err
	}
	n, err := im.load(ctx, exists, columns)
	if err == nil {
		_, err = im.r.exec(context.WithoutCancel(ctx), "COMMIT")
	}
	if err != nil {
		// a failed COMMIT has rolled back already
		_, _ = im.r.exec(context.WithoutCancel(ctx), "ROLLBACK")
		return Import{}, err
	}
	if !exists { // DuckDB tells no count for CREATE TABLE AS
		rows, err := im.c.collect(context.WithoutCancel(ctx), "SELECT count(*) FROM "+quoteRef(im.table))
		if err != nil {
			return Import{}, err
		}
		n = rows[0][0].(int64)
	}
	if im.progress != nil {
		im.progress(im.size, im.size)
	}
	return Import{Rows: n, Columns: columns}, nil
}

// columns reads the file's column names, in the letters that the file has. Names that differ in
// case alone are the same.
func (im *importer) columns(ctx context.Context) ([]string, error) {
	rows, err := im.c.collect(ctx, "SELECT column_name FROM (DESCRIBE SELECT * FROM "+im.source+")")
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var out []string
	for _, r := range rows {
		name := strings.TrimSpace(r[0].(string))
		folded := strings.ToLower(name)
		if name == "" || seen[folded] {
			return nil, fmt.Errorf("duckdb: the file has no or the same name for two columns: %q", name)
		}
		seen[folded] = true
		out = append(out, name)
	}
	switch {
	case len(out) == 0:
		return nil, errors.New("duckdb: the file has no columns")
	case len(out) == 1 && strings.ContainsAny(out[0], ",;\t|"):
		// DuckDB takes a file whose lines have different numbers of columns for one of whole lines.
		return nil, fmt.Errorf("duckdb: the file reads as one column named %q; its lines have different numbers of columns", out[0])
	}
	return out, nil
}

func (im *importer) exists(ctx context.Context) (bool, error) {
	rows, err := im.c.collect(ctx, `SELECT 1 FROM duckdb_tables()`+ours+` AND lower(schema_name) = $1 AND lower(table_name) = $2`,
		im.table.Schema, im.table.Name)
	return len(rows) > 0, err
}

// load fills the table in the open transaction and logs the change.
func (im *importer) load(ctx context.Context, exists bool, columns []string) (int64, error) {
	list := sqltext.StoreNames(columns)
	// The alias list renames the file's columns by position.
	rows := "SELECT " + list + " FROM " + im.source + " AS f(" + list + ")"
	var before []string
	sql := "INSERT INTO " + quoteRef(im.table) + " (" + list + ") " + rows
	switch {
	case !exists:
		before = []string{"CREATE SCHEMA IF NOT EXISTS " + sqltext.StoreName(im.table.Schema)}
		sql = "CREATE TABLE " + quoteRef(im.table) + " AS " + rows
	case im.mode == ImportReplace:
		before = []string{"DELETE FROM " + quoteRef(im.table)}
	}
	for _, b := range before {
		if _, err := im.r.exec(ctx, b); err != nil {
			return 0, err
		}
	}
	stop := im.report()
	n, err := im.r.exec(ctx, sql)
	stop()
	if err != nil {
		return 0, err
	}
	token, err := newToken()
	if err != nil {
		return 0, err
	}
	_, err = im.r.exec(ctx, bumpSQL, im.table.Schema, im.table.Name, token)
	return n, err
}

// report tells the progress of the running statement until stop returns.
func (im *importer) report() (stop func()) {
	if im.progress == nil {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				p := mapping.QueryProgress(im.r.c)
				if percent, _, _ := mapping.QueryProgressTypeMembers(&p); percent > 0 {
					im.progress(min(im.size, int64(percent/100*float64(im.size))), im.size)
				}
			}
		}
	}()
	return func() { close(quit); <-done }
}
