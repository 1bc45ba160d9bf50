package duckdb

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/marcboeker/go-duckdb/v2/mapping"

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

// ImportOptions say how a file is imported. The zero value finds everything out, and refuses a file
// of which one line cannot be read.
type ImportOptions struct {
	Mode ImportMode
	// Also are further files, read after the first, of the same columns.
	Also []string
	// Format is one of Formats, by default what the file's name says.
	Format string
	// NullStrings are the texts of a CSV file that mean NULL, "" alone by default.
	NullStrings []string
	// Delimiter of a CSV file, found out by default; a tab in the format tsv.
	Delimiter string
	// Header says whether the first line of a CSV file has the names; nil finds it out.
	Header *bool
	// Sample is how many rows of a text file decide its columns' types; 0 is 262144, -1 all.
	Sample int
	// Types are the types of columns, by name in any case, in the place of those found out.
	Types map[string]string
	// Into are the columns of the table that StreamFile reads for, and their types as the store
	// names them, in the place of those found out.
	Into map[string]string
	// MaxRejects is how many lines of CSV files may be left out because they cannot be read.
	MaxRejects int64
	// Again takes a file that is in the table already.
	Again bool
	// Creating is called before a table is made that was not there, and may refuse; it may be nil.
	Creating func() error
	// Existing is called with the name of a table that is there, with the comments of its schema's
	// tables by their names and whether its rows are replaced, and may refuse; likewise.
	Existing func(table string, comments map[string]string, replaces bool) error
	// Open configures the database while importing, as it is configured when serving.
	Open Options
}

// sampleRows is how many rows of a text file decide its columns' types, unless that is said.
const sampleRows = 1 << 18

// Import describes a finished import.
type Import struct {
	Rows    int64
	Columns []string // the table's columns that the file filled, in the file's letters
	Types   []string // their types as read, as the store names them
	Rejects []Reject // the lines that were left out, in the order of files and lines
}

// Repeated tells that a file is in the table already. Nothing was imported.
type Repeated = store.Repeated

// progressEvery is how often an import reports.
const progressEvery = 100 * time.Millisecond

// ImportFile reads a file (or several of the same columns) into a table of the database at dbPath,
// all of it or nothing, in one transaction that changes the table's version. Names are in lower
// case; the schema is made where it is missing. While it reads, progress gets the bytes of the file
// that are done, by DuckDB's estimate, and all of them; it may be nil.
//
// It opens the database itself, with access to these files and nothing else, and returns
// store.ErrInUse while somebody else has it open. Other errors are for the operator: *Rejected for
// lines that cannot be read, *Repeated for a file that the table has already, and else a
// *store.Error that holds the reader's message in Driver.
func ImportFile(ctx context.Context, dbPath, file string, table store.TableRef, o ImportOptions, progress func(done, total int64)) (Import, error) {
	source, err := newSource(file, o)
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
	c, r, err := in.openForImport(ctx, source.paths, o.Open)
	if err != nil {
		return Import{}, err
	}
	defer c.close()
	defer r.close()
	im := &importer{c: c, r: r, table: table, source: source, o: o, progress: progress, counted: in.acknowledged}
	out, err := im.run(ctx)
	if err != nil {
		return Import{}, readError(ctx, err)
	}
	// The rows are durable in the log; that they move into the file now is a convenience.
	_, _ = c.exec(context.WithoutCancel(ctx), "CHECKPOINT")
	return out, nil
}

// openForImport prepares and locks the database as Open does, but for the files to be read, and
// returns two connections to it: r tells the progress of its statements.
func (in *instance) openForImport(ctx context.Context, files []string, o Options) (c *conn, r *raw, err error) {
	if c, err = in.connect(ctx); err != nil {
		return nil, nil, classify(ctx, err)
	}
	if r, err = in.connectRaw(); err != nil {
		c.close()
		return nil, nil, err
	}
	for _, sql := range []string{"SET enable_progress_bar = true", "SET enable_progress_bar_print = false"} {
		if err == nil {
			_, err = r.exec(ctx, sql)
		}
	}
	if err == nil {
		err = c.setUp(ctx, in, o)
	}
	if err == nil {
		err = c.configure(ctx, append([]string{"SET GLOBAL allowed_paths = [" + storeTexts(files) + "]"}, lock...))
	}
	if err != nil {
		r.close()
		c.close()
		return nil, nil, classify(ctx, err)
	}
	return c, r, nil
}

// importer runs one import on two connections: r reads the file and tells its progress, c looks
// things up before.
type importer struct {
	c        *conn
	r        *raw
	table    store.TableRef
	source   *inputs
	o        ImportOptions
	progress func(done, total int64)
	counted  *acknowledged
}

func (im *importer) run(ctx context.Context) (Import, error) {
	if err := im.source.describe(ctx, im.c); err != nil {
		return Import{}, err
	}
	exists, err := im.exists(ctx)
	if err != nil {
		return Import{}, err
	}
	switch {
	case exists && im.o.Mode == ImportCreate:
		return Import{}, &store.Error{Kind: store.Exists, Table: im.table.String()}
	case !exists && im.o.Mode == ImportAppend:
		return Import{}, &store.Error{Kind: store.NotFound, Table: im.table.String()}
	}
	record, err := im.record(ctx, exists)
	if err != nil {
		return Import{}, err
	}
	if exists {
		err = im.source.readAs(ctx, im.c, im.table)
	}
	if err != nil {
		return Import{}, err
	}
	if !exists && im.o.Creating != nil {
		if err := im.o.Creating(); err != nil {
			return Import{}, err
		}
	}
	if _, err := im.r.exec(ctx, "BEGIN TRANSACTION"); err != nil {
		return Import{}, err
	}
	out := Import{Columns: im.source.columns, Types: im.source.types}
	out.Rows, err = im.load(ctx, exists)
	if err == nil {
		out.Rejects, err = im.rejects(ctx)
	}
	if err == nil {
		err = im.keep(ctx, exists, record)
	}
	if err == nil {
		_, err = im.r.exec(context.WithoutCancel(ctx), "COMMIT")
	}
	if err != nil {
		// a failed COMMIT has rolled back already
		_, _ = im.r.exec(context.WithoutCancel(ctx), "ROLLBACK")
		return Import{}, err
	}
	_ = im.counted.add(1) // the rows are durable: a count that is too low only notices less
	if !exists {          // DuckDB tells no count for CREATE TABLE AS
		rows, err := im.c.collect(context.WithoutCancel(ctx), "SELECT count(*) FROM "+quoteRef(im.table))
		if err != nil {
			return Import{}, err
		}
		out.Rows = rows[0][0].(int64)
	}
	if im.progress != nil {
		im.progress(im.source.size, im.source.size)
	}
	return out, nil
}

func (im *importer) exists(ctx context.Context) (bool, error) {
	rows, err := im.c.collect(ctx, `SELECT lower(table_name), coalesce(comment, '') FROM duckdb_tables()`+ours+` AND lower(schema_name) = $1`, im.table.Schema)
	comments := map[string]string{}
	for _, r := range rows {
		comments[r[0].(string)] = r[1].(string)
	}
	_, exists := comments[strings.ToLower(im.table.Name)]
	if exists && err == nil && im.o.Existing != nil && im.o.Mode != ImportCreate {
		err = im.o.Existing(strings.ToLower(im.table.Name), comments, im.o.Mode == ImportReplace)
	}
	return exists, err
}

// load fills the table in the open transaction and logs the change.
func (im *importer) load(ctx context.Context, exists bool) (int64, error) {
	list, rows := sqltext.StoreNames(im.source.columns), im.source.rows()
	var before []string
	sql := "INSERT INTO " + quoteRef(im.table) + " (" + list + ") " + rows
	switch {
	case !exists:
		before = []string{"CREATE SCHEMA IF NOT EXISTS " + sqltext.StoreName(im.table.Schema)}
		sql = "CREATE TABLE " + quoteRef(im.table) + " AS " + rows
	case im.o.Mode == ImportReplace:
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
					im.progress(min(im.source.size, int64(percent/100*float64(im.source.size))), im.source.size)
				}
			}
		}
	}()
	return func() { close(quit); <-done }
}

// record is what the table's list of files will be; *Repeated where a file would come twice.
func (im *importer) record(ctx context.Context, exists bool) ([]byte, error) {
	files, err := im.source.files()
	if err != nil {
		return nil, err
	}
	var before []byte
	if exists && im.o.Mode == ImportAppend {
		if before, err = im.c.importedInto(ctx, im.table); err != nil {
			return nil, err
		}
	}
	l := store.Load{Table: im.table, Again: im.o.Again, Files: files}
	return l.Imports(before)
}

// importedInto is the list of files that are in a table: none of one without rows, which was
// emptied or made anew since.
func (c *conn) importedInto(ctx context.Context, table store.TableRef) ([]byte, error) {
	value, ok, err := c.get(ctx, store.BucketImports, store.TableKey(table))
	if err != nil || !ok {
		return nil, err
	}
	rows, err := c.collect(ctx, "SELECT 1 FROM "+quoteRef(table)+" LIMIT 1")
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return value, nil
}

// files are the source's, by their contents.
func (s *inputs) files() ([]store.ImportedFile, error) {
	var out []store.ImportedFile
	for _, path := range s.paths {
		sum, err := sumOf(path)
		if err != nil {
			return nil, err
		}
		out = append(out, store.ImportedFile{SHA256: sum, Name: filepath.Base(path), At: time.Now().UTC()})
	}
	return out, nil
}

// sumOf is the hash of a file's bytes. A compressed file whose end is missing is refused: the
// reader would take it for a shorter one.
func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	in := io.TeeReader(f, h)
	if err := checkCompressed(path, in); err != nil {
		return "", err
	}
	if _, err := io.Copy(io.Discard, in); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// checkCompressed reads a file that is named as a compressed one to its end.
func checkCompressed(path string, in io.Reader) (err error) {
	var z io.Reader
	format := "gzip"
	switch strings.ToLower(filepath.Ext(path)) {
	case ".gz":
		z, err = gzip.NewReader(in)
	case ".zst":
		format = "zstd"
		var d *zstd.Decoder
		if d, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1)); err == nil {
			defer d.Close()
			z = d
		}
	default:
		return nil
	}
	if err == nil {
		_, err = io.Copy(io.Discard, z)
	}
	switch {
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, zstd.ErrMagicMismatch):
		return unreadable("%s is not compressed by %s; name it by what it is", path, format)
	case err != nil:
		return unreadable("%s is damaged, or its end is missing: %v; fetch it again", path, err)
	}
	return nil
}

// keep notes in the open transaction which files the table has, and of a new table the lengths of
// its texts.
func (im *importer) keep(ctx context.Context, exists bool, files []byte) error {
	if _, err := im.r.exec(ctx, putSQL, store.BucketImports, store.TableKey(im.table), files); err != nil || exists {
		return err
	}
	shown := map[string]string{}
	for c, n := range im.source.lengths {
		shown[strings.ToLower(c)] = fmt.Sprintf("varchar(%d)", n)
	}
	value, err := json.Marshal(shown)
	if err != nil {
		return err
	}
	_, err = im.r.exec(ctx, putSQL, store.BucketColumns, store.TableKey(im.table), value)
	return err
}
