package inbox

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"scrim/engine/collect/issue"
	"scrim/engine/collections"
	"scrim/engine/virtual"
)

// maxReport is the declared length of a report. The collection's parameters say what its reports
// have; all have less.
const maxReport = 60000

// Table is one table of the database.
type Table struct {
	virtual.Named
	d *Database
}

var (
	_ sql.Table           = (*Table)(nil)
	_ sql.InsertableTable = (*Table)(nil)
	_ sql.TemporaryTable  = (*Table)(nil)
)

func newTable(d *Database, name string) *Table {
	return &Table{virtual.Named{Title: name, Columns: sql.Schema{
		{Name: columnToken, Type: tokenType, Source: name, DatabaseSource: Name},
		{Name: columnReport, Type: reportType, Source: name, DatabaseSource: Name},
	}}, d}
}

// IsTemporary implements sql.TemporaryTable. Without it go-mysql-server's check of read-only
// transactions panics.
func (t *Table) IsTemporary() bool { return false }

var tokenType, reportType = types.MustCreateBinary(sqltypes.Binary, issue.TokenSize), types.MustCreateBinary(sqltypes.VarBinary, maxReport)

// PartitionRows implements sql.Table: nobody reads.
func (t *Table) PartitionRows(*sql.Context, sql.Partition) (sql.RowIter, error) {
	return nil, InsertOnly()
}

// Inserter implements sql.InsertableTable.
func (t *Table) Inserter(*sql.Context) sql.RowInserter { return &inserter{t: t} }

// inserter gathers the rows of one statement and hands them over at its end.
type inserter struct {
	t    *Table
	list []collections.Submission
}

var _ sql.RowInserter = (*inserter)(nil)

// StatementBegin implements sql.EditOpenerCloser.
func (i *inserter) StatementBegin(*sql.Context) {}

// DiscardChanges implements sql.EditOpenerCloser.
func (i *inserter) DiscardChanges(*sql.Context, error) error {
	i.list = nil
	return nil
}

// StatementComplete implements sql.EditOpenerCloser.
func (i *inserter) StatementComplete(ctx *sql.Context) error {
	list := i.list
	i.list = nil
	if len(list) == 0 {
		return nil
	}
	return i.t.d.Accept(ctx, i.t.Title, list)
}

// Insert implements sql.RowInserter.
func (i *inserter) Insert(ctx *sql.Context, row sql.Row) error {
	token, err := content(ctx, row[0])
	if err != nil {
		return err
	}
	report, err := content(ctx, row[1])
	if err != nil {
		return err
	}
	i.list = append(i.list, collections.Submission{Token: token, Report: report})
	return nil
}

// Close implements sql.Closer.
func (i *inserter) Close(*sql.Context) error { return nil }

// content returns a copy of the bytes of a value.
func content(ctx *sql.Context, v any) ([]byte, error) {
	v, err := sql.UnwrapAny(ctx, v)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case []byte:
		return append([]byte(nil), v...), nil
	case string:
		return []byte(v), nil
	}
	return nil, fmt.Errorf("inbox: a value of type %T", v)
}
