package mysqlerr

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer/analyzererrors"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	goerrors "gopkg.in/src-d/go-errors.v1"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/days"
	"scrim/engine/store"
	"scrim/internal/refuse"
)

// mapping is a kind of go-mysql-server's, and MySQL's number, SQLSTATE and words for it.
type mapping struct {
	kind  *goerrors.Kind
	errno int
	state string
	text  string
}

const unbound = "You have an error in your SQL syntax: '?' stands only in statements that are prepared"

// conditions maps go-mysql-server's kinds that speak of the statement's text to MySQL's error
// numbers and words. What is not here keeps its text under 1105, and on protected data is not told
// at all.
//
// In text, $1, $2, … are the values that the kind's own message holds, and {clause}, {command} and
// {table} are read off the statement; an empty text is the kind's own message.
var conditions = []mapping{
	{sql.ErrSyntaxError, mysql.ERParseError, "42000", ""},
	{sql.ErrInvalidSyntax, mysql.ERParseError, "42000", ""},
	{sql.ErrUnsupportedSyntax, mysql.ERParseError, "42000", ""},
	{sql.ErrUnsupportedFeature, 1235, "42000", ""},
	{sql.ErrDuplicateEntrySet, 1291, "HY000", "A SET has the member '$1' twice, by its collation"},
	{sql.ErrCharSetNotYetImplementedTemp, 1235, "42000", "The character set $1 is not supported. Use utf8mb4, utf8mb3, latin1, ascii or binary."},
	{sql.ErrCollationNotYetImplementedTemp, 1235, "42000", "The collation $1 is not supported. Use another one of utf8mb4, utf8mb3, latin1, ascii or binary."},
	{sql.ErrCollationInvalidForCharSet, 1253, "42000", ""},
	{sql.ErrUnknownWindowName, 3579, "HY000", "Window name '$1' is not defined."},
	{sql.ErrCircularWindowInheritance, 3580, "HY000", "There is a circularity in the window dependency graph."},
	{sql.ErrInvalidWindowInheritance, 3581, "HY000", "A window which depends on another cannot define what that does: $3."},
	{sql.ErrTableNotFound, mysql.ERNoSuchTable, "42S02", "Table '{qualified $1}' doesn't exist"},
	{sql.ErrUnknownTable, 1051, "42S02", "Unknown table '{qualified $1}'"},
	{sql.ErrViewDoesNotExist, 1051, "42S02", "Unknown table '$1.$2'"},
	{sql.ErrTableAlreadyExists, 1050, "42S01", "Table '$1' already exists"},
	{sql.ErrExistingView, 1050, "42S01", "Table '$2' already exists"},
	{sql.ErrDatabaseNotFound, mysql.ERBadDb, "42000", "Unknown database '$1'"},
	{sql.ErrDatabaseExists, mysql.ERDbCreateExists, "HY000", "Can't create database '$1'; database exists"},
	{sql.ErrNoDatabaseSelected, mysql.ERNoDb, "3D000", "No database selected"},
	{sql.ErrColumnNotFound, mysql.ERBadFieldError, "42S22", "Unknown column '$1' in '{clause $1}'"},
	{sql.ErrTableColumnNotFound, mysql.ERBadFieldError, "42S22", "Unknown column '$1.$2' in '{clause $2}'"},
	{sql.ErrUnknownColumn, mysql.ERBadFieldError, "42S22", "Unknown column '$1' in '{clause $1}'"},
	{sql.ErrMisusedAlias, mysql.ERBadFieldError, "42S22", "Unknown column '$1' in '{clause $1}'"},
	{sql.ErrAmbiguousColumnName, mysql.ERNonUniq, "23000", "Column '$1' in {clause $1} is ambiguous"},
	{sql.ErrAmbiguousColumnOrAliasName, mysql.ERNonUniq, "23000", "Column '$1' in {clause $1} is ambiguous"},
	{sql.ErrAmbiguousColumnInOrderBy, mysql.ERNonUniq, "23000", "Column '$1' in order clause is ambiguous"},
	{sql.ErrDuplicateAliasOrTable, 1066, "42000", "Not unique table/alias: '$1'"},
	{sql.ErrColumnExists, 1060, "42S21", "Duplicate column name '$1'"},
	{sql.ErrDuplicateColumn, 1060, "42S21", "Duplicate column name '$1'"},
	{sql.ErrFunctionNotFound, 1305, "42000", "FUNCTION $1 does not exist"},
	{sql.ErrTableFunctionNotFound, 1305, "42000", "FUNCTION $1 does not exist"},
	{sql.ErrStoredProcedureDoesNotExist, 1305, "42000", "PROCEDURE $1 does not exist"},
	{sql.ErrCallIncorrectParameterCount, 1318, "42000", "Incorrect number of arguments for PROCEDURE $1; expected $2, got $3"},
	{sql.ErrInvalidArgumentNumber, 1582, "42000", "Incorrect parameter count in the call to native function '$1'"},
	{sql.ErrPrivilegeCheckFailed, 1142, "42000", "{command} command denied to user $1{table}"},
	{sql.ErrTableAccessDeniedForUser, 1142, "42000", "{command} command denied to user $1 for table '$2'"},
	{sql.ErrDatabaseAccessDeniedForUser, mysql.ERDBAccessDenied, "42000", ""},
	{sql.ErrPrimaryKeyViolation, mysql.ERDupEntry, "23000", ""},
	{sql.ErrUniqueKeyViolation, mysql.ERDupEntry, "23000", ""},
	{sql.ErrDuplicateEntry, mysql.ERDupEntry, "23000", ""},
	{sql.ErrInsertIntoNonNullableProvidedNull, mysql.ERBadNullError, "23000", "Column '$1' cannot be null"},
	{sql.ErrInsertIntoNonNullableDefaultNullColumn, 1364, "HY000", ""},
	{sql.ErrInsertIntoMismatchValueCount, 1136, "21S01", "Column count doesn't match value count at row 1"},
	{sql.ErrColValCountMismatch, 1136, "21S01", ""},
	{sql.ErrColumnSpecifiedTwice, mysql.ERFieldSpecifiedTwice, "42000", "Column '$1' specified twice"},
	{sql.ErrColumnNumberDoesNotMatch, 1222, "21000", ""},
	{sql.ErrColumnCountMismatch, 1353, "HY000", ""},
	{sql.ErrInvalidOperandColumns, mysql.EROperandColumns, "21000", "Operand should contain $1 column(s)"},
	{sql.ErrExpectedSingleRow, mysql.ERSubqueryNo1Row, "21000", "Subquery returns more than 1 row"},
	{sql.ErrNonAggregatedColumnWithoutGroupBy, mysql.ERMixOfGroupFuncAndFields, "42000", "{capital}"},
	{sql.ErrUnknownSystemVariable, mysql.ERUnknownSystemVariable, "HY000", "Unknown system variable '{bare $1}'"},
	{sql.ErrSystemVariableReadOnly, 1238, "HY000", ""},
	{sql.ErrSystemVariableSessionOnly, 1228, "HY000", ""},
	{sql.ErrSystemVariableGlobalOnly, 1229, "HY000", ""},
	{sql.ErrInvalidSystemVariableValue, 1231, "42000", ""},
	{sql.ErrUnknownPreparedStatement, 1243, "HY000", ""},
	{sql.ErrUnboundPreparedStatementVariable, mysql.ERParseError, "42000", unbound},
	{sql.ErrSecureFilePriv, 1290, "HY000", ""},
	{sql.ErrReadOnly, 1290, "HY000", ""},
	{sql.ErrReadOnlyTransaction, 1792, "25006", ""},
	{sql.ErrLockDeadlock, mysql.ERLockDeadlock, "40001", ""},
	{sql.ErrForeignKeyChildViolation, mysql.ErNoReferencedRow2, "23000", ""},
	{sql.ErrForeignKeyParentViolation, mysql.ERRowIsReferenced2, "23000", ""},
	{sql.ErrForeignKeyChildViolation, mysql.ErNoReferencedRow2, "23000", "Cannot add or update a child row: a foreign key constraint fails ($1)"},
	{sql.ErrForeignKeySetDefault, 1215, "HY000", "Cannot add foreign key constraint"},
	{sql.ErrCheckConstraintViolated, 3819, "HY000", "Check constraint '$1' is violated."},
	{sql.ErrCheckConstraintInvalidatedByColumnAlter, 3959, "HY000", "Check constraint '$2' uses column '$1', hence column cannot be dropped or renamed."},
	{sql.ErrInvalidConstraintFunctionNotSupported, 3815, "HY000", "An expression of a check constraint contains disallowed function."},
	{sql.ErrInvalidConstraintSubqueryNotSupported, 3815, "HY000", "An expression of a check constraint contains disallowed function."},
	{sql.ErrColumnDefaultSubquery, 3769, "HY000", "Default value expression of column '$1' contains a disallowed function."},
	{sql.ErrColumnDefaultUserVariable, 3772, "HY000", ""},
	{sql.ErrGeneratedColumnWithDefault, 1221, "HY000", "Incorrect usage of DEFAULT and generated column"},
	{sql.ErrVirtualColumnPrimaryKey, 3106, "HY000", "'Defining a virtual generated column as primary key' is not supported for generated columns."},
	{sql.ErrMultiplePrimaryKeysDefined, mysql.ERMultiplePriKey, "42000", "Multiple primary key defined"},
	{sql.ErrWrongAutoKey, mysql.ERWrongAutoKey, "42000", "Incorrect table definition; there can be only one auto column and it must be defined as a key"},
	{sql.ErrInvalidAutoIncCols, mysql.ERWrongAutoKey, "42000", "Incorrect table definition; there can be only one auto column and it must be defined as a key"},
	{sql.ErrKeyColumnDoesNotExist, mysql.ERKeyColumnDoesNotExist, "42000", "Key column '$1' doesn't exist in table"},
	{sql.ErrCantDropFieldOrKey, mysql.ERCantDropFieldOrKey, "42000", "Can't DROP '$1'; check that column/key exists"},
	{sql.ErrInvalidBlobTextKey, 1170, "42000", "BLOB/TEXT column '$1' used in key specification without a key length"},
	{sql.ErrJSONIndex, 3152, "42000", "JSON column '$1' supports indexing only via generated columns on a specified JSON path."},
	{sql.ErrKeyTooLong, 1071, "42000", "Specified key was too long; max key length is 3072 bytes"},
	{sql.ErrKeyZero, 1391, "HY000", "Key part '$1' length cannot be 0"},
	{sql.ErrInvalidIndexPrefix, 1089, "HY000", "Incorrect prefix key; the used key part isn't a string, the used length is longer than the key part, " +
		"or the storage engine doesn't support unique prefix keys"},
	{sql.ErrDuplicateKey, 1061, "42000", ""},
	{sql.ErrIdentifierIsTooLong, 1059, "42000", ""},
	{sql.ErrUserCreationFailure, 1396, "HY000", ""},
	{sql.ErrUserAlterFailure, 1396, "HY000", ""},
	{sql.ErrUserDeletionFailure, 1396, "HY000", ""},
	{sql.ErrGrantUserDoesNotExist, 1410, "42000", ""},
	{sql.ErrRevokeUserDoesNotExist, 1141, "42000", ""},
	{sql.ErrShowGrantsUserDoesNotExist, 1141, "42000", ""},
	{sql.ErrGrantRevokeIllegalPrivilege, 1144, "42000", ""},
	{sql.ErrCollationUnknown, 1273, "HY000", "Unknown collation: '$1'"},
	{sql.ErrCharSetUnknown, 1115, "42000", "Unknown character set: '$1'"},
	{sql.ErrStarUnsupported, mysql.ERParseError, "42000", ""},
	{sql.ErrNoTablesUsed, 1096, "HY000", ""},
	{sql.ErrInvalidTimeZone, 1298, "HY000", "Unknown or incorrect time zone: '$1'"},
	{sql.ErrTriggerDoesNotExist, 1360, "HY000", "Trigger does not exist"},
	{sql.ErrUnknownEvent, 1539, "HY000", ""},
	{sql.ErrEventDoesNotExist, 1539, "HY000", "Unknown event '$1'"},
	{sql.ErrMoreThanOneRow, 1172, "42000", "Result consisted of more than one row"},
	{sql.ErrUnknownUserVariable, 1193, "HY000", ""},
	{analyzererrors.ErrValidationGroupBy, 1055, "42000", "{capital}"},
	{analyzererrors.ErrValidationGroupByOrderBy, 1055, "42000", "{capital}"},
	{analyzererrors.ErrReadOnlyDatabase, 1290, "HY000", ""},
	{planbuilder.ErrSelectsDifferentLength, 1222, "21000", "The used SELECT statements have a different number of columns"},
	{sql.ErrUnknownConstraint, 3940, "HY000", ""},
}

// valueConditions are the kinds that speak of values. On protected data, where the values may be a
// person's, they are not told.
var valueConditions = []mapping{
	{sql.ErrInvalidValue, 1366, "HY000", "Incorrect {kind $2} value: '$1'"},
	{sql.ErrValueOutOfRange, 1264, "22003", "Out of range value for column: $1 is no $2"},
	{sql.ErrTruncatedIncorrect, 1292, "22007", "Truncated incorrect $1 value: '$2'"},
	{sql.ErrInvalidJSONText, 3141, "22032", ""},
	{sql.ErrInvalidJson, 3140, "22032", ""},
	{types.ErrLengthBeyondLimit, 1406, "22001", "Data too long for column '$2' at row 1"},
	{types.ErrConvertingToTime, 1292, "22007", ""},
	{types.ErrDataTruncatedForColumn, 1265, "01000", ""},
	{types.ErrDataTruncatedForColumnAtRow, 1265, "01000", ""},
	{types.ErrConvertingToDecimal, 1366, "HY000", "Incorrect decimal value: '$1'"},
	{types.ErrConvertToDecimalLimit, 1264, "22003", "Out of range value for column of a decimal type"},
	{types.ErrBadCharsetString, 1366, "HY000", ""},
	{types.ErrConvertingToEnum, 1265, "01000", "Data truncated: $1 is not of the enum"},
	{sql.ErrInvalidSetValue, 1265, "01000", "Data truncated: $1 is not of the set"},
}

// textConditions are the errors of go-mysql-server's that are of no kind: how their texts read, and
// MySQL's words, in which $1 is the first group.
var textConditions = []struct {
	reads *regexp.Regexp
	errno int
	state string
	text  string
}{
	{regexp.MustCompile(`(?s)^incorrect parameter count in the call to native function (.*)$`), 1582, "42000", "Incorrect parameter count in the call to native function '$1'"},
	{regexp.MustCompile(`(?s)^incorrect arguments to: (.*)$`), 1210, "HY000", "Incorrect arguments to $1"},
	{regexp.MustCompile(`(?s)^The oneOrAll argument to json_contains_path.*$`), 3154, "42000", "The oneOrAll argument to json_contains_path may take these values: 'one' or 'all'."},
	{regexp.MustCompile(`(?s)^missing value for JSON_TABLE column (.*)$`), 3665, "22035", "Missing value for JSON_TABLE column $1"},
	{regexp.MustCompile(`^((?:missing mandatory attribute|the spatial reference system name can't be|the organization name can't be) .*)$`), mysql.ERUnknownError, "HY000", "Of a spatial reference system: $1."},
	{regexp.MustCompile(`^attempted to evaluate unbound placeholder variable`), mysql.ERParseError, "42000", unbound},
	{regexp.MustCompile(`^invalid AS OF expression type`), mysql.ERParseError, "42000", "AS OF is no part of MySQL's grammar."},
	{regexp.MustCompile(`(?s)^unable to drop database: (.*)$`), 3552, "HY000", "Access to system schema '$1' is rejected."},
	{regexp.MustCompile(`^(\w+) is not a valid character set for (\w+)$`), 1253, "42000", "COLLATION '$2' is not valid for CHARACTER SET '$1'"},
	{regexp.MustCompile(`(?s)^duplicate entry: (.*)$`), 1291, "HY000", "An ENUM has the member '$1' twice, by its collation"},
	{regexp.MustCompile(`^unknown using join type: (.*)$`), 1235, "42000", "A full join by NATURAL or USING is not supported. Write FULL OUTER JOIN with ON."},
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
	store.InDoubt:      {1180, "HY000", "Got an error during COMMIT: writing to the disk failed. Whether the change is kept shows when the server has opened its data anew, which it does once the disk has room"},
	store.Halted:       {1836, "HY000", "Writing to the disk failed, and nothing is read or changed until the server has opened its data anew, which it does once the disk has room; its log says more"},
	store.Damaged:      {1836, "HY000", "The store has stopped after a failure, and nothing is read or changed until the server has opened its data anew, which it does once the disk has room; its log says more"},
	store.Corrupt:      {1194, "HY000", "The server's data file is damaged where the statement reads it. An operator has to restore a backup; the server's log says where the damage is"},
	store.BadValue:     {mysql.ERTruncatedWrongValueForField, "HY000", "Incorrect value for a column"},
	store.NotFound:     {mysql.ERNoSuchTable, "42S02", "No such table or column"},
	store.Exists:       {1050, "42S01", "The name is already in use"},
	store.Dependency:   {3108, "HY000", "Something else still depends on it"},
	store.Source:       {1030, "HY000", "What an attached table is read from cannot be read, does not have its columns, or changed meanwhile"},
	store.Unsupported:  {1235, "42000", "The store does not support this"},
}

// exhausted words the refusal of a charge: everything in it is known to the client beforehand, or
// is the client's own spending. What is left of a budget that is shared with others tells what they
// spent, and is not told.
func exhausted(e *accounting.ExhaustedError) *refuse.Error {
	role, ofRole := strings.CutPrefix(e.Scope, budget.RolePrefix)
	whose, shared := "your budget", true
	switch {
	case e.Scope == budget.All:
		whose = "the budget of all principals together"
	case ofRole:
		whose = "the budget of the role " + role
	default:
		shared = false
	}
	name := named(e.Table, e.Account)
	if e.Entity {
		name = "entity " + e.Account
	}
	cost, left := amounts(e)
	if e.Renews {
		return refuse.New(refuse.BudgetExhausted, "A series costs %s of %s on %s once in each window in which days are released, and %s remains until %s: nothing is released now.", cost, whose, name, left, until(e.WindowEnds)).
			With("The days come later, at no other cost, by CALL dp_continue or at the next due time: wait until the window ends, or raise the budget with CALL dp_alter_budget. CALL dp_drop_continual drops the series.")
	}
	if whole, persons := budget.OfPersons(e.Account); e.Entity && persons {
		return overPeriods(e, whose, whole, shared)
	}
	on := whose + " on " + name
	switch {
	case !shared:
		on += blocks(e.Blocks)
	case e.Asked != nil: // which of them lack room tells what others spent
		on += blocks([]days.Span{*e.Asked})
	}
	switch {
	case e.NotPure:
		return refuse.New(refuse.BudgetExhausted, "%s has delta 0, and the query was planned with mechanisms that have no pure epsilon.", capital(on)).
			With("Ask again: a budget has changed since the query was planned, and it will be planned with pure mechanisms.")
	case e.SpentNotPure:
		return refuse.New(refuse.BudgetExhausted, "%s has delta 0, and its window holds spending without a pure epsilon.", capital(on)).
			With("Wait for the next window, if it has an end, or have a DBA set a budget with delta > 0, or one with a shorter window.")
	case e.NoSlack && e.LimitRho == 0:
		return refuse.New(refuse.BudgetExhausted, "The query's delta does not fit into what is left of the share for it in the delta %.3g of %s: %.3g for selected keys and %.3g for methods that may fail, as most is for rho.", float64(e.Delta), on, float64(e.EventShare), float64(e.TVShare)).
			With("Ask with a smaller dp_delta, or without group keys that are selected privately, or have a DBA set a budget with a larger delta.")
	case e.NoSlack:
		return refuse.New(refuse.BudgetExhausted, "The query's delta does not fit into the delta %.3g of %s.", float64(e.Delta), on).
			With("Ask without group keys that are selected privately, or have a DBA set a budget with a larger delta.")
	}
	if shared {
		return refuse.New(refuse.BudgetExhausted, "The query would cost %s of %s, and less remains until %s.", cost, on, until(e.WindowEnds)).
			With("Ask with a smaller dp_epsilon%s, or have a DBA raise the budget.", waiting(e))
	}
	return remedied(refuse.New(refuse.BudgetExhausted, "The query would cost %s of %s, of which %s remains until %s.", cost, on, left, until(e.WindowEnds)), e)
}

// overPeriods words the refusal of a budget on what a person loses over all periods.
func overPeriods(e *accounting.ExhaustedError, whose, entity string, shared bool) *refuse.Error {
	on := capital(whose) + " caps what one person of entity " + entity + " loses over all periods"
	fewer := "Ask about fewer periods at a time: a statement on n of them counts for n² times its rho. Or ask with a smaller dp_epsilon%s, or have a DBA raise the budget of 'entity:" + budget.OverPeriods(entity) + "'."
	switch cost, left := amounts(e); {
	case e.NoBound:
		return refuse.New(refuse.BudgetExhausted, "%s, and the query has no bound on that.", on).
			With("Say a first and a last day, as in WHERE placed >= '2025-06-01' AND placed < '2025-07-01'; group by declared keys there, or ask about one period at a time.")
	case e.NotPure:
		return refuse.New(refuse.BudgetExhausted, "%s, with delta 0, and the query was planned with mechanisms that have no pure epsilon.", on).
			With("Ask again: a budget has changed since the query was planned, and it will be planned with pure mechanisms.")
	case e.SpentNotPure, e.NoSlack:
		return refuse.New(refuse.BudgetExhausted, "%s, and the delta of the query, or of what its window holds, does not fit into its delta %.3g.", on, float64(e.Delta)).
			With("Wait for the next window, if it has an end, or have a DBA set a budget with a larger delta.")
	case shared:
		return refuse.New(refuse.BudgetExhausted, "%s, the query would cost %s of it, and less remains until %s.", on, cost, until(e.WindowEnds)).With(fewer, waiting(e))
	default:
		return refuse.New(refuse.BudgetExhausted, "%s, the query would cost %s of it, and %s remains until %s.", on, cost, left, until(e.WindowEnds)).With(fewer, waiting(e))
	}
}

// namedBlocks is how many stretches of periods the refusal of one's own budget names.
const namedBlocks = 4

// blocks words the periods on which a charge does not fit: they follow from charges alone.
func blocks(list []days.Span) string {
	var words []string
	for i, on := range list {
		if i == namedBlocks {
			words = append(words, fmt.Sprintf("%d more stretches", len(list)-i))
			break
		}
		words = append(words, on.String())
	}
	if len(words) == 0 {
		return ""
	}
	return " for the periods " + strings.Join(words, ", ")
}

// amounts words what a charge costs, and what is left, in the terms of its budget.
func amounts(e *accounting.ExhaustedError) (cost, left string) {
	switch {
	case e.LimitRho > 0:
		return fmt.Sprintf("rho %.4g", e.RequestedRho.Float()), fmt.Sprintf("rho %.4g", e.RemainingRho.Float())
	case e.Delta == 0:
		return fmt.Sprintf("the pure epsilon %.6g", float64(e.Requested)), fmt.Sprintf("%.6g", float64(e.Remaining))
	}
	return fmt.Sprintf("epsilon %.4g (rho %.4g)", float64(e.Requested), e.RequestedRho.Float()),
		fmt.Sprintf("epsilon %.4g (rho %.4g)", float64(e.Remaining), e.RemainingRho.Float())
}

func waiting(e *accounting.ExhaustedError) string {
	if e.WindowEnds.IsZero() {
		return ""
	}
	return ", wait for the next window"
}

// remedied says what to do where nothing remains.
func remedied(r *refuse.Error, e *accounting.ExhaustedError) *refuse.Error {
	switch {
	case e.Remaining > 0 || e.RemainingRho > 0:
		return r
	case e.WindowEnds.IsZero():
		return r.With("A DBA may raise the budget with CALL dp_alter_budget.")
	}
	return r.With("Wait for the next window, or have a DBA raise the budget with CALL dp_alter_budget.")
}
