package tables

import (
	"errors"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/store"
)

// conditions are MySQL's conditions for the store's kinds of failure.
var conditions = map[store.Kind]struct {
	code  int
	state string
	text  string
}{
	store.DuplicateKey: {mysql.ERDupEntry, mysql.SSConstraintViolation, "Duplicate entry for a key"},
	store.NotNull:      {mysql.ERBadNullError, mysql.SSConstraintViolation, "A column that is NOT NULL cannot be null"},
	store.ForeignKey:   {mysql.ErNoReferencedRow2, mysql.SSConstraintViolation, "A foreign key constraint fails"},
	store.Check:        {3819, mysql.SSUnknownSQLState, "A check constraint is violated"},
	store.BadValue:     {mysql.ERWarnDataOutOfRange, mysql.SSDataOutOfRange, "A value does not fit its column"},
	store.Conflict:     {mysql.ERLockDeadlock, mysql.SSLockDeadlock, "The transaction conflicts with another one; try restarting it"},
	store.Aborted:      {mysql.ERLockDeadlock, mysql.SSLockDeadlock, "The transaction failed at an earlier statement; ROLLBACK and try restarting it"},
	store.Exists:       {mysql.ERTableExists, "42S01", "The name is in use"},
	store.NotFound:     {mysql.ERNoSuchTable, "42S02", "The table does not exist"},
	store.Dependency:   {3730, mysql.SSUnknownSQLState, "Something else depends on the definition"},
}

// classify turns the store's failures that a client of the table can cause into MySQL's conditions,
// with texts that hold no values, and leaves other errors as they are. The table, when given, is
// named in the text.
func classify(err error, ref *store.TableRef) error {
	var e *store.Error
	if !errors.As(err, &e) {
		return err
	}
	c, ok := conditions[e.Kind]
	if !ok {
		return err
	}
	text := c.text
	if e.Kind == store.NotNull && e.Column != "" {
		text = "Column '" + e.Column + "' cannot be null"
	}
	if ref != nil {
		text += " (table " + ref.String() + ")"
	}
	return mysql.NewSQLError(c.code, c.state, "%s.", text)
}

// duplicate returns MySQL's duplicate-key condition in the form that go-mysql-server acts on.
func duplicate(key string, primary bool, existing sql.Row) error {
	return sql.NewUniqueKeyErr(key, primary, existing)
}
