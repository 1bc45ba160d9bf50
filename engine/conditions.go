package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	goerrors "gopkg.in/src-d/go-errors.v1"

	"scrim/engine/store"
)

// conditions maps go-mysql-server's kinds that speak of the statement's text to MySQL's error
// numbers. What is not here keeps its text under 1105, and on protected data is not told at all.
var conditions = []struct {
	kind  *goerrors.Kind
	errno int
	state string
}{
	{sql.ErrSyntaxError, mysql.ERParseError, "42000"},
	{sql.ErrInvalidSyntax, mysql.ERParseError, "42000"},
	{sql.ErrUnsupportedSyntax, mysql.ERParseError, "42000"},
	{sql.ErrUnsupportedFeature, 1235, "42000"},
	{sql.ErrTableNotFound, mysql.ERNoSuchTable, "42S02"},
	{sql.ErrUnknownTable, 1051, "42S02"},
	{sql.ErrViewDoesNotExist, 1051, "42S02"},
	{sql.ErrTableAlreadyExists, 1050, "42S01"},
	{sql.ErrExistingView, 1050, "42S01"},
	{sql.ErrDatabaseNotFound, mysql.ERBadDb, "42000"},
	{sql.ErrDatabaseExists, mysql.ERDbCreateExists, "HY000"},
	{sql.ErrNoDatabaseSelected, mysql.ERNoDb, "3D000"},
	{sql.ErrColumnNotFound, mysql.ERBadFieldError, "42S22"},
	{sql.ErrTableColumnNotFound, mysql.ERBadFieldError, "42S22"},
	{sql.ErrUnknownColumn, mysql.ERBadFieldError, "42S22"},
	{sql.ErrMisusedAlias, mysql.ERBadFieldError, "42S22"},
	{sql.ErrAmbiguousColumnName, mysql.ERNonUniq, "23000"},
	{sql.ErrAmbiguousColumnOrAliasName, mysql.ERNonUniq, "23000"},
	{sql.ErrAmbiguousColumnInOrderBy, mysql.ERNonUniq, "23000"},
	{sql.ErrDuplicateAliasOrTable, 1066, "42000"},
	{sql.ErrColumnExists, 1060, "42S21"},
	{sql.ErrDuplicateColumn, 1060, "42S21"},
	{sql.ErrFunctionNotFound, 1305, "42000"},
	{sql.ErrTableFunctionNotFound, 1305, "42000"},
	{sql.ErrStoredProcedureDoesNotExist, 1305, "42000"},
	{sql.ErrCallIncorrectParameterCount, 1318, "42000"},
	{sql.ErrInvalidArgumentNumber, 1582, "42000"},
	{sql.ErrPrivilegeCheckFailed, 1142, "42000"},
	{sql.ErrTableAccessDeniedForUser, 1142, "42000"},
	{sql.ErrDatabaseAccessDeniedForUser, mysql.ERDBAccessDenied, "42000"},
	{sql.ErrPrimaryKeyViolation, mysql.ERDupEntry, "23000"},
	{sql.ErrUniqueKeyViolation, mysql.ERDupEntry, "23000"},
	{sql.ErrDuplicateEntry, mysql.ERDupEntry, "23000"},
	{sql.ErrInsertIntoNonNullableProvidedNull, mysql.ERBadNullError, "23000"},
	{sql.ErrInsertIntoNonNullableDefaultNullColumn, 1364, "HY000"},
	{sql.ErrInsertIntoMismatchValueCount, 1136, "21S01"},
	{sql.ErrColValCountMismatch, 1136, "21S01"},
	{sql.ErrColumnSpecifiedTwice, mysql.ERFieldSpecifiedTwice, "42000"},
	{sql.ErrColumnNumberDoesNotMatch, 1222, "21000"},
	{sql.ErrColumnCountMismatch, 1353, "HY000"},
	{sql.ErrInvalidOperandColumns, mysql.EROperandColumns, "21000"},
	{sql.ErrExpectedSingleRow, mysql.ERSubqueryNo1Row, "21000"},
	{sql.ErrNonAggregatedColumnWithoutGroupBy, mysql.ERMixOfGroupFuncAndFields, "42000"},
	{sql.ErrUnknownSystemVariable, mysql.ERUnknownSystemVariable, "HY000"},
	{sql.ErrSystemVariableReadOnly, 1238, "HY000"},
	{sql.ErrSystemVariableSessionOnly, 1228, "HY000"},
	{sql.ErrSystemVariableGlobalOnly, 1229, "HY000"},
	{sql.ErrInvalidSystemVariableValue, 1231, "42000"},
	{sql.ErrUnknownPreparedStatement, 1243, "HY000"},
	{sql.ErrSecureFilePriv, 1290, "HY000"},
	{sql.ErrReadOnly, 1290, "HY000"},
	{sql.ErrReadOnlyTransaction, 1792, "25006"},
	{sql.ErrLockDeadlock, mysql.ERLockDeadlock, "40001"},
	{sql.ErrForeignKeyChildViolation, mysql.ErNoReferencedRow2, "23000"},
	{sql.ErrForeignKeyParentViolation, mysql.ERRowIsReferenced2, "23000"},
	{sql.ErrCheckConstraintViolated, 3819, "HY000"},
	{sql.ErrMultiplePrimaryKeysDefined, mysql.ERMultiplePriKey, "42000"},
	{sql.ErrWrongAutoKey, mysql.ERWrongAutoKey, "42000"},
	{sql.ErrInvalidAutoIncCols, mysql.ERWrongAutoKey, "42000"},
	{sql.ErrKeyColumnDoesNotExist, mysql.ERKeyColumnDoesNotExist, "42000"},
	{sql.ErrCantDropFieldOrKey, mysql.ERCantDropFieldOrKey, "42000"},
	{sql.ErrDuplicateKey, 1061, "42000"},
	{sql.ErrIdentifierIsTooLong, 1059, "42000"},
	{sql.ErrUserCreationFailure, 1396, "HY000"},
	{sql.ErrUserAlterFailure, 1396, "HY000"},
	{sql.ErrUserDeletionFailure, 1396, "HY000"},
	{sql.ErrGrantUserDoesNotExist, 1410, "42000"},
	{sql.ErrRevokeUserDoesNotExist, 1141, "42000"},
	{sql.ErrShowGrantsUserDoesNotExist, 1141, "42000"},
	{sql.ErrGrantRevokeIllegalPrivilege, 1144, "42000"},
	{sql.ErrCollationUnknown, 1273, "HY000"},
	{sql.ErrCharSetUnknown, 1115, "42000"},
	{sql.ErrStarUnsupported, mysql.ERParseError, "42000"},
	{sql.ErrNoTablesUsed, 1096, "HY000"},
	{sql.ErrUnknownConstraint, 3940, "HY000"},
}

// storeConditions maps the store's kinds of failure, on data that the client may read, to MySQL's.
var storeConditions = map[store.Kind]struct {
	errno int
	state string
	text  string
}{
	store.DuplicateKey: {mysql.ERDupEntry, "23000", "Duplicate entry for a key"},
	store.NotNull:      {mysql.ERBadNullError, "23000", "A NOT NULL column cannot be null"},
	store.ForeignKey:   {mysql.ErNoReferencedRow2, "23000", "Cannot add or update a child row: a foreign key constraint fails"},
	store.Check:        {3819, "HY000", "A check constraint is violated"},
	store.Conflict:     {mysql.ERLockDeadlock, "40001", "Conflict with another transaction; try restarting transaction"},
	store.Aborted:      {mysql.ERLockDeadlock, "40001", "The transaction was aborted by an earlier error; ROLLBACK, then try restarting transaction"},
	store.OutOfMemory:  {1041, "HY000", "Out of memory"},
	store.DiskFull:     {1021, "HY000", "Disk full"},
	store.BadValue:     {mysql.ERTruncatedWrongValueForField, "HY000", "Incorrect value for a column"},
	store.NotFound:     {mysql.ERNoSuchTable, "42S02", "No such table or column"},
	store.Exists:       {1050, "42S01", "The name is already in use"},
	store.Dependency:   {3108, "HY000", "Something else still depends on it"},
	store.Unsupported:  {1235, "42000", "The store does not support this"},
}
