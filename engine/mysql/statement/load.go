package statement

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/mysql/gate"
	"scrim/engine/mysql/inbox"
	"scrim/engine/mysql/session"
	"scrim/engine/mysql/statement/cutoff"
	"scrim/engine/mysql/statement/infile"
	"scrim/engine/mysql/statement/result"
	"scrim/engine/mysql/statement/trace"
	"scrim/engine/mysql/tables"
	"scrim/engine/mysql/wire"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
)

// load carries out LOAD DATA LOCAL INFILE: it is an INSERT, planned and checked like any other,
// whose rows come from the client's file. They are all inserted or none. The client is asked for
// the file when everything that does not depend on it has been checked.
func (h *Handler) load(ctx *sql.Context, c *mysql.Conn, s *sqlparser.Load, w *cutoff.Watch, send func(*sqltypes.Result) error) error {
	if err := gate.CheckLoad(s); err != nil {
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
		return mysql.NewSQLError(3948, "42000", "Loading local data is disabled; this must be enabled on both the client and server sides")
	}
	format, err := infile.FormatOf(s)
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
		trace.Of(ctx).Reports()
	}
	w.Stop() // it would take the file for the client's end
	src := &infile.File{Open: func() (io.ReadCloser, error) { return wire.Of(c).LocalFile(ctx, s.Infile) }, Format: format, Fields: fields}
	if s.IgnoreNum != nil {
		src.Ignore, _ = strconv.Atoi(string(s.IgnoreNum.Val))
	}
	if ctx, err = h.announced(ctx, s.Table); err != nil {
		return err
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

// announced is a context of the load that dp_next_load has announced in the session; of another
// table than that it is refused.
func (h *Handler) announced(ctx *sql.Context, table sqlparser.TableName) (*sql.Context, error) {
	s, ok := session.From(ctx)
	if !ok {
		return ctx, nil
	}
	l := s.TakeLoad()
	if l == nil {
		return ctx, nil
	}
	db := table.DbQualifier.String()
	if db == "" {
		db = ctx.GetCurrentDatabase()
	}
	if !strings.EqualFold(db, l.Table.Schema) || !strings.EqualFold(table.Name.String(), l.Table.Name) {
		return nil, refuse.New(refuse.Policy, "dp_next_load has announced a load into %s, and this is another table.", l.Table).
			With("CALL dp_next_load for the table that comes next.")
	}
	st, err := tables.SessionOf(ctx)
	if err == nil && st.InTransaction() {
		err = refuse.New(refuse.Policy, "A load that dp_next_load has announced is a transaction of its own.").With("COMMIT first.")
	}
	return tables.Loading(ctx, l), err
}

// insertFile runs the INSERT and reads the file to its end, whatever happens, before anything is
// answered.
func (h *Handler) insertFile(ctx *sql.Context, text string, parsed sqlparser.Statement, src *infile.File) (loaded *sqltypes.Result, err error) {
	defer func() { err = errors.Join(err, src.End()) }()
	ctx = src.In(ctx)
	schema, rows, err := queries{h.Engine}.begin(ctx, text, parsed, nil)
	if err != nil {
		return nil, err
	}
	loaded, err = result.Spool(ctx, schema, rows, func(*sqltypes.Result) error { return nil })
	if err != nil {
		return nil, interrupted(ctx, src.Fault(err))
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

// insertion is the INSERT that a LOAD DATA stands for, and the place of each field of the file
// among its values, -1 for one that goes into a variable and is not kept.
func (h *Handler) insertion(ctx *sql.Context, s *sqlparser.Load) (text string, fields []int, err error) {
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
		return "", nil, refuse.New(refuse.Unsupported, "LOAD DATA names no column.").With("Name the columns that the file's fields go into.")
	}
	table := sqltext.Name(s.Table.Name.String())
	if db := s.Table.DbQualifier.String(); db != "" {
		table = sqltext.Name(db) + "." + table
	}
	return "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")", fields, nil
}

// columnsOf are the columns of the table that a statement names.
func (h *Handler) columnsOf(ctx *sql.Context, name sqlparser.TableName) (sql.Schema, error) {
	db := name.DbQualifier.String()
	if db == "" {
		if db = ctx.GetCurrentDatabase(); db == "" {
			return nil, sql.ErrNoDatabaseSelected.New()
		}
	}
	table, _, err := h.Engine.Analyzer.Catalog.Table(ctx, db, name.Name.String())
	if err != nil {
		return nil, err
	}
	return table.Schema(ctx), nil
}
