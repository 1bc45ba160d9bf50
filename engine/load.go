package engine

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/rs/zerolog"

	"scrim/engine/inbox"
	"scrim/engine/mysqlerr"
	"scrim/engine/session"
	"scrim/engine/wire"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
)

// load carries out LOAD DATA LOCAL INFILE: it is an INSERT, planned and checked like any other, whose
// rows come from the client's file. They are all inserted or none. The client is asked for the file
// when everything that does not depend on it has been checked.
func (h *handler) load(ctx *sql.Context, c *mysql.Conn, s *sqlparser.Load, w *clientWatch, send func(*sqltypes.Result) error) error {
	if err := checkLoad(s); err != nil {
		return err
	}
	if !session.IsDBA(ctx) && !session.IsImporter(ctx) {
		return refuse.New(refuse.NotDBA, "LOAD DATA LOCAL is for DBAs and importers only.").With("Have a DBA GRANT importer TO the account.")
	}
	on, err := localFiles(ctx)
	if err != nil {
		return err
	}
	if !on || !wire.Of(c).LocalFiles() {
		return localDenied()
	}
	format, err := formatOf(s)
	if err != nil {
		return err
	}
	text, fields, err := h.insertion(ctx, s)
	if err != nil {
		return err
	}
	parsed, err := h.parseOne(ctx, text)
	if err != nil {
		return err
	}
	if _, ok := inbox.Destination(parsed, ctx.GetCurrentDatabase()); ok {
		at(ctx).submits()
	}
	w.stop() // it would take the file for the client's end
	src := &loading{open: func() (io.ReadCloser, error) { return wire.Of(c).LocalFile(ctx, s.Infile) }, format: format, fields: fields}
	if s.IgnoreNum != nil {
		src.ignore, _ = strconv.Atoi(string(s.IgnoreNum.Val))
	}
	loaded, err := h.insertFile(ctx, text, parsed, src)
	if err != nil {
		return err
	}
	if err := statusFlags(ctx, c); err != nil {
		return err
	}
	loaded.InsertID = 0
	loaded.Info = "Records: " + strconv.FormatUint(loaded.RowsAffected, 10) + "  Deleted: 0  Skipped: 0  Warnings: 0"
	return send(loaded)
}

// insertFile runs the INSERT and reads the file to its end, whatever happens, before anything is answered.
func (h *handler) insertFile(ctx *sql.Context, text string, parsed sqlparser.Statement, src *loading) (loaded *sqltypes.Result, err error) {
	defer func() { err = errors.Join(err, src.close()) }()
	ctx = ctx.WithContext(context.WithValue(ctx.Context, loadingKey{}, src))
	schema, rows, err := h.query(ctx, text, parsed, nil)
	if err != nil {
		return nil, err
	}
	loaded, err = spool(ctx, schema, rows, func(*sqltypes.Result) error { return nil })
	if err != nil {
		return nil, interrupted(ctx, src.faultOf(err))
	}
	return loaded, nil
}

// localFiles is the value of @@local_infile.
func localFiles(ctx *sql.Context) (bool, error) {
	_, v, ok := sql.SystemVariables.GetGlobal("local_infile")
	if !ok {
		return false, nil
	}
	return sql.ConvertToBool(ctx, v)
}

// insertion is the INSERT that a LOAD DATA stands for, and the place of each field of the file among its
// values, -1 for one that goes into a variable and is not kept.
func (h *handler) insertion(ctx *sql.Context, s *sqlparser.Load) (text string, fields []int, err error) {
	var columns, values []string
	name := func(n string) { columns, values = append(columns, sqltext.Name(n)), append(values, "''") }
	for _, col := range s.Columns {
		if strings.HasPrefix(col.String(), "@") {
			fields = append(fields, -1)
			continue
		}
		fields = append(fields, len(columns))
		name(col.String())
	}
	if len(s.Columns) == 0 {
		all, err := h.columnsOf(ctx, s.Table)
		if err != nil {
			return "", nil, err
		}
		for i, c := range all {
			fields = append(fields, i)
			name(c.Name)
		}
	}
	if len(columns) == 0 {
		return "", nil, unsupported("LOAD DATA names no column.", "Name the columns that the file's fields go into.")
	}
	table := sqltext.Name(s.Table.Name.String())
	if db := s.Table.DbQualifier.String(); db != "" {
		table = sqltext.Name(db) + "." + table
	}
	return "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")", fields, nil
}

// columnsOf are the columns of the table that a statement names.
func (h *handler) columnsOf(ctx *sql.Context, name sqlparser.TableName) (sql.Schema, error) {
	db := name.DbQualifier.String()
	if db == "" {
		if db = ctx.GetCurrentDatabase(); db == "" {
			return nil, sql.ErrNoDatabaseSelected.New()
		}
	}
	table, _, err := h.engine.Analyzer.Catalog.Table(ctx, db, name.Name.String())
	if err != nil {
		return nil, err
	}
	return table.Schema(ctx), nil
}

// loading is a file on its way into a table.
type loading struct {
	open   func() (io.ReadCloser, error)
	format fileFormat
	ignore int
	fields []int

	file   io.ReadCloser
	rows   *fileRows
	failed error // of the file
}

type loadingKey struct{}

// loader is a sql.NodeExecBuilder that puts the rows of the file in the place of an INSERT's values, and
// writes no file. It leaves other nodes to next, if that is not nil.
type loader struct{ next sql.NodeExecBuilder }

// Build implements sql.NodeExecBuilder.
func (l loader) Build(ctx *sql.Context, n sql.Node, row sql.Row) (sql.RowIter, error) {
	if into, ok := n.(*plan.Into); ok && (into.Outfile != "" || into.Dumpfile != "") {
		return nil, noFiles() // the gate refuses it before
	}
	src, ok := ctx.Value(loadingKey{}).(*loading)
	if _, values := n.(*plan.Values); ok && values {
		return src, nil
	}
	if l.next == nil {
		return nil, nil
	}
	return l.next.Build(ctx, n, row)
}

// Next implements sql.RowIter.
func (l *loading) Next(*sql.Context) (sql.Row, error) {
	row, err := l.next()
	if err != nil && !errors.Is(err, io.EOF) {
		l.failed = err
	}
	return row, err
}

func (l *loading) next() (sql.Row, error) {
	if l.rows == nil {
		file, err := l.open()
		if err != nil {
			return nil, err
		}
		l.file, l.rows = file, newFileRows(file, l.format)
		for range l.ignore {
			if err := l.rows.skip(); err != nil {
				return nil, err
			}
		}
	}
	fields, err := l.rows.next()
	switch {
	case err != nil:
		return nil, err
	case len(fields) < len(l.fields):
		return nil, l.rows.fault(1261, "01000", "Row %d doesn't contain data for all columns")
	case len(fields) > len(l.fields):
		return nil, l.rows.fault(1262, "01000", "Row %d was truncated; it contained more data than there were input columns")
	}
	row := make(sql.Row, 0, len(fields))
	for i, to := range l.fields {
		if to >= 0 {
			row = append(row, fields[i])
		}
	}
	return row, nil
}

// Close implements sql.RowIter. The file stays open until the statement has ended.
func (l *loading) Close(*sql.Context) error { return nil }

// close passes over what is left of the file.
func (l *loading) close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// faultOf names the row of the file in an error about one of its values, and takes the value out. An
// error of the statement's own stays as it is.
func (l *loading) faultOf(err error) error {
	if l.failed != nil {
		return l.failed
	}
	if _, refused := mysqlerr.RefusedBy(err); refused || l.rows == nil {
		return err
	}
	own, ok := mysqlerr.AsSQLError((&mysqlerr.Translator{Log: zerolog.Nop()}).Public(err, mysqlerr.Context{}))
	if !ok || own.Num == mysql.ERQueryInterrupted || own.Num == mysql.ERUnknownError && mysqlerr.KindOf(err) == nil {
		return err
	}
	switch own.Num {
	case 1062:
		return l.rows.fault(1062, "23000", "Duplicate entry for a key in row %d of the file, or before")
	case 1048:
		return l.rows.fault(1048, "23000", "NULL for a column that cannot be null in row %d of the file")
	case 1264:
		return l.rows.fault(1264, "22003", "Out of range value in row %d of the file")
	case 1406:
		return l.rows.fault(1406, "22001", "Data too long for a column in row %d of the file")
	}
	return l.rows.fault(1366, "HY000", "Incorrect value in row %d of the file, or before")
}
