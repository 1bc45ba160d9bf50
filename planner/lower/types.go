package lower

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/refuse"
)

// Identifier quotes a name for the store.
func Identifier(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// ColumnType returns the store type that a column of an SQL type is read as.
func ColumnType(t sql.Type) (Type, error) {
	return Type{}, refuse.New(refuse.Unsupported, "The type %s has no counterpart in the store.", t.String())
}

// DuckDBType returns the store's column type for an SQL type in CREATE TABLE.
func DuckDBType(t sql.Type) (string, error) {
	return "", refuse.New(refuse.Unsupported, "The type %s has no counterpart in the store.", t.String())
}

// MySQLType returns the SQL type that a stored column of the given store type is shown as.
func MySQLType(duckdbType string) (sql.Type, error) {
	return nil, refuse.New(refuse.Unsupported, "The store's type %s has no counterpart in SQL.", duckdbType)
}

// ReadColumn returns a stored column, given by its quoted name and its store type, in its canonical
// kind: DOUBLE without NaN and infinities, BIGINT for the smaller integers, and so on. A column of
// a type without a counterpart is NULL on every row.
func ReadColumn(quotedIdent, duckdbType string) Expr {
	return Expr{SQL: "NULL", Type: Type{Kind: Null}, Nullable: true}
}
