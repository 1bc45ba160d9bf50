package tables

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/store"
)

// Access decides who may do what, and is told what happened. The engine implements it. Every error
// it returns is sent to the client.
type Access interface {
	// CheckRead is asked before rows of a table are read, or anything exact about them is told:
	// protected tables need dp_raw, undeclared tables a DBA.
	CheckRead(ctx *sql.Context, ref store.TableRef) error
	// CheckWrite is asked before rows of a table are inserted, changed or removed.
	CheckWrite(ctx *sql.Context, ref store.TableRef) error
	// CheckDDL is asked before any definition is changed. The ref's Name is empty for a statement
	// on a whole schema.
	CheckDDL(ctx *sql.Context, ref store.TableRef) error
	// CheckAlter is asked, after CheckDDL, before a definition that policies may speak of is
	// changed.
	CheckAlter(ctx *sql.Context, ref store.TableRef, change Change) error
	// Renamed is told, in the transaction of the rename and before it commits, that a table has a
	// new name. Its error undoes the rename.
	Renamed(ctx *sql.Context, old, new store.TableRef) error
	// Dropped is told, in the transaction of the drop and before it commits, that a table is gone.
	// Its error undoes the drop.
	Dropped(ctx *sql.Context, ref store.TableRef) error
}

// Op is one kind of change of a definition.
type Op uint8

// Operations on a table or its columns.
const (
	DropTable Op = iota
	RenameTable
	Truncate
	AddColumn
	DropColumn
	RenameColumn
	ModifyColumn
	AddKey
	DropKey
)

// Change is one change of a table's definition.
type Change struct {
	Op      Op
	Column  string         // of column operations: the column's present name (AddColumn: its name)
	Columns []string       // of AddKey and DropKey: the key's columns
	To      string         // of RenameColumn: the new name
	NewRef  store.TableRef // of RenameTable: the new name
	// of ModifyColumn: by which the column's texts will be compared, where that changes
	Collation sql.CollationID
}

// StoreSession is implemented by the engine's session: it hands out the client's own connection to
// the store.
type StoreSession interface {
	sql.Session
	// Store returns the connection. It is the same one for as long as the client stays connected.
	Store(ctx *sql.Context) (store.Session, error)
}

// SessionOf returns the store session of the client that runs the statement.
func SessionOf(ctx *sql.Context) (store.Session, error) {
	s, ok := ctx.Session.(StoreSession)
	if !ok {
		return nil, sql.ErrDatabaseAccessDeniedForUser.New(ctx.Session.Client().User, ctx.GetCurrentDatabase())
	}
	return s.Store(ctx)
}
