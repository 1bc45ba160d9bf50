package lower

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/proto/query"

	"scrim/internal/refuse"
)

// maxPrecision is the store's limit of decimal digits; MySQL's is 65.
const maxPrecision = 38

// duckdb is the store's name of a type.
func (t Type) duckdb() string {
	switch t.Kind {
	case Bool:
		return "BOOLEAN"
	case Int:
		return "BIGINT"
	case UInt:
		return "UBIGINT"
	case Decimal:
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Precision, t.Scale)
	case Double:
		return "DOUBLE"
	case Date:
		return "DATE"
	case Datetime:
		return "TIMESTAMP"
	case Time:
		return "INTERVAL"
	case Array:
		return "DOUBLE[]"
	case Bytes:
		return "BLOB"
	}
	return "VARCHAR"
}

func isDate(t sql.Type) bool { return t != nil && t.Type() == sqltypes.Date }

// SQLType returns the SQL type that values of the type are read as.
func (t Type) SQLType() (sql.Type, error) { return MySQLType(t.duckdb()) }

// DuckDBType returns the store's column type for an SQL type in CREATE TABLE. Text is stored with
// the binary collation, whatever the declaration says.
func DuckDBType(t sql.Type) (string, error) {
	switch t.Type() {
	case sqltypes.Int8:
		if t == types.Boolean {
			return "BOOLEAN", nil
		}
		return "TINYINT", nil
	case sqltypes.Int16:
		return "SMALLINT", nil
	case sqltypes.Int24, sqltypes.Int32:
		return "INTEGER", nil
	case sqltypes.Int64:
		return "BIGINT", nil
	case sqltypes.Uint8:
		return "UTINYINT", nil
	case sqltypes.Uint16:
		return "USMALLINT", nil
	case sqltypes.Uint24, sqltypes.Uint32:
		return "UINTEGER", nil
	case sqltypes.Uint64, sqltypes.Bit:
		return "UBIGINT", nil
	case sqltypes.Year:
		return "SMALLINT", nil
	case sqltypes.Float32:
		return "FLOAT", nil
	case sqltypes.Float64:
		return "DOUBLE", nil
	case sqltypes.Decimal:
		d, ok := t.(sql.DecimalType)
		if !ok || int(d.Precision()) > maxPrecision {
			return "", refuse.New(refuse.Unsupported, "A DECIMAL column has at most %d digits here.", maxPrecision).
				With("Declare it with fewer digits, or as a DOUBLE or VARCHAR.")
		}
		return fmt.Sprintf("DECIMAL(%d,%d)", d.Precision(), d.Scale()), nil
	case sqltypes.Char, sqltypes.VarChar, sqltypes.Text, sqltypes.Enum, sqltypes.Set:
		return "VARCHAR", nil
	case sqltypes.Binary, sqltypes.VarBinary, sqltypes.Blob:
		return "BLOB", nil
	case sqltypes.Date:
		return "DATE", nil
	case sqltypes.Datetime, sqltypes.Timestamp:
		return "TIMESTAMP", nil
	case sqltypes.Time:
		return "TIME", nil
	case sqltypes.TypeJSON:
		return "JSON", nil
	}
	return "", refuse.New(refuse.Unsupported, "The type %s has no counterpart in the store.", t.String()).
		With("Keep the value as JSON, VARCHAR or BLOB.")
}

var (
	decimalType = regexp.MustCompile(`^DECIMAL\((\d+),\s*(\d+)\)$`)
	varcharType = regexp.MustCompile(`^VARCHAR\((\d+)\)$`)
)

// MySQLType returns the SQL type that a stored column of the given store type is shown as.
func MySQLType(duckdbType string) (sql.Type, error) {
	t := strings.ToUpper(strings.TrimSpace(duckdbType))
	if strings.HasSuffix(t, "]") || strings.HasPrefix(t, "STRUCT") || strings.HasPrefix(t, "MAP") || strings.HasPrefix(t, "UNION") {
		return types.JSON, nil
	}
	if m := decimalType.FindStringSubmatch(t); m != nil {
		p, _ := strconv.Atoi(m[1])
		s, _ := strconv.Atoi(m[2])
		if s > types.DecimalTypeMaxScale {
			s = types.DecimalTypeMaxScale
		}
		return types.MustCreateDecimalType(uint8(p), uint8(s)), nil
	}
	if m := varcharType.FindStringSubmatch(t); m != nil {
		if n, err := strconv.ParseInt(m[1], 10, 64); err == nil && n > 0 && n <= 16383 {
			return types.MustCreateString(query.Type_VARCHAR, n, sql.Collation_Default), nil
		}
		return types.LongText, nil
	}
	if strings.HasPrefix(t, "ENUM") {
		return types.MustCreateString(query.Type_VARCHAR, 255, sql.Collation_Default), nil
	}
	switch t {
	case "BOOLEAN":
		return types.Boolean, nil
	case "TINYINT":
		return types.Int8, nil
	case "SMALLINT":
		return types.Int16, nil
	case "INTEGER":
		return types.Int32, nil
	case "BIGINT":
		return types.Int64, nil
	case "UTINYINT":
		return types.Uint8, nil
	case "USMALLINT":
		return types.Uint16, nil
	case "UINTEGER":
		return types.Uint32, nil
	case "UBIGINT":
		return types.Uint64, nil
	case "HUGEINT", "UHUGEINT", "BIGNUM":
		return types.MustCreateDecimalType(maxPrecision, 0), nil
	case "FLOAT":
		return types.Float32, nil
	case "DOUBLE":
		return types.Float64, nil
	case "VARCHAR":
		return types.LongText, nil
	case "BLOB", "BIT":
		return types.LongBlob, nil
	case "DATE":
		return types.Date, nil
	case "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE":
		return types.DatetimeMaxPrecision, nil
	case "TIME", "INTERVAL":
		return types.Time, nil
	case "JSON":
		return types.JSON, nil
	case "UUID":
		return types.MustCreateString(query.Type_VARCHAR, 36, sql.Collation_Default), nil
	}
	return nil, refuse.New(refuse.Unsupported, "The store's type %s has no counterpart in SQL.", duckdbType).
		With("Leave the column out, or import it as a text.")
}

// narrowDigits is how many digits the integers of at most 32 bits have, with a sign or without.
var narrowDigits = map[string]int{"TINYINT": 3, "SMALLINT": 5, "INTEGER": 10}

// ReadColumn returns a stored column, given by its quoted name and its store type, in its canonical
// kind: DOUBLE without NaN and infinities, BIGINT for the smaller integers, dates and times within
// the years 1 to 9999, and so on; values outside are NULL. A column of a type without a
// counterpart is NULL.
func ReadColumn(quotedIdent, duckdbType string) Expr {
	c, t := quotedIdent, strings.ToUpper(strings.TrimSpace(duckdbType))
	if strings.HasSuffix(t, "]") {
		return Expr{SQL: c, Type: arrayOf(t), Nullable: true}
	}
	if m := decimalType.FindStringSubmatch(t); m != nil {
		p, _ := strconv.Atoi(m[1])
		s, _ := strconv.Atoi(m[2])
		return decimal(c, p, s, true)
	}
	within := func(kind Kind, from, to, value string) Expr {
		e := maybe(kind, "(CASE WHEN "+c+" BETWEEN "+from+" AND "+to+" THEN "+value+" END)")
		if value == c {
			e.read = read{text: e.SQL, moment: c}
		}
		return e
	}
	switch t {
	case "BOOLEAN":
		return maybe(Bool, c)
	case "BIGINT":
		return maybe(Int, c)
	case "TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER":
		e := maybe(Int, "CAST("+c+" AS BIGINT)")
		e.read = read{text: e.SQL, whole: c, digits: narrowDigits[strings.TrimPrefix(t, "U")]}
		return e
	case "UBIGINT":
		return maybe(UInt, c)
	case "HUGEINT", "UHUGEINT":
		return decimal("TRY_CAST("+c+" AS DECIMAL(38,0))", maxPrecision, 0, true)
	case "DOUBLE":
		e := maybe(Double, "(CASE WHEN isfinite("+c+") THEN "+c+" END)")
		e.read = read{text: e.SQL, bare: c}
		return e
	case "FLOAT":
		e := maybe(Double, "(CASE WHEN isfinite("+c+") THEN CAST("+c+" AS DOUBLE) END)")
		e.read = read{text: e.SQL, single: true}
		return e
	case "DATE":
		return within(Date, firstDay, lastDay, c)
	case "TIMESTAMP":
		return within(Datetime, firstMoment, lastMoment, c)
	case "TIMESTAMP_S", "TIMESTAMP_MS": // TRY_CAST raises beyond what TIMESTAMP holds
		before := "CAST('10000-01-01 00:00:00' AS " + t + ")"
		return maybe(Datetime, "(CASE WHEN "+c+" >= CAST('0001-01-01 00:00:00' AS "+t+") AND "+c+" < "+before+" THEN CAST("+c+" AS TIMESTAMP) END)")
	case "TIMESTAMP_NS":
		x := "TRY_CAST(" + c + " AS TIMESTAMP)"
		return maybe(Datetime, "(CASE WHEN "+x+" BETWEEN "+firstMoment+" AND "+lastMoment+" THEN "+x+" END)")
	case "TIMESTAMP WITH TIME ZONE":
		return within(Datetime, "TIMESTAMPTZ '0001-01-02 00:00:00+00'", "TIMESTAMPTZ '9999-12-30 00:00:00+00'", "make_timestamp(epoch_us("+c+"))")
	case "TIME":
		return maybe(Time, "to_microseconds(epoch_us("+c+"))")
	case "INTERVAL":
		return maybe(Time, c)
	case "JSON":
		return maybe(JSON, c)
	case "BLOB":
		return maybe(Bytes, c)
	}
	switch {
	case t == "VARCHAR", strings.HasPrefix(t, "VARCHAR("):
		return maybe(String, c)
	case t == "UUID", strings.HasPrefix(t, "ENUM"):
		return maybe(String, "CAST("+c+" AS VARCHAR)")
	}
	return null()
}

// Typed returns a stored column as one of an SQL type, whose values its store type does not tell.
func Typed(x Expr, t sql.Type) Expr {
	switch t := t.(type) {
	case sql.EnumType:
		x.Type.Members = strings.Join(append([]string{"enum"}, t.Values()...), "\x00")
	case sql.SetType:
		x.Type.Members = strings.Join(append([]string{"set"}, t.Values()...), "\x00")
	}
	x.Type.Bits = t != nil && types.IsBit(t)
	if d, ok := t.(sql.DatetimeType); ok && x.Type.Kind == Datetime {
		x.Type.Scale = d.Precision() // the digits that it has as a text
	}
	x.Type.Single = x.Type.Kind == Double && t == types.Float32
	return x
}

const (
	firstDay    = "DATE '0001-01-01'"
	lastDay     = "DATE '9999-12-31'"
	firstMoment = "TIMESTAMP '0001-01-01 00:00:00'"
	lastMoment  = "TIMESTAMP '9999-12-31 23:59:59.999999'"
)

// Exact reports whether a column of a store type is read as it is: where it is not NULL, neither is
// what ReadColumn makes of it. A DOUBLE is not, as it may be NaN, nor is a type whose range MySQL's
// does not cover.
func Exact(duckdbType string) bool {
	t := strings.ToUpper(strings.TrimSpace(duckdbType))
	switch t {
	case "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT":
		return true
	}
	return decimalType.FindStringSubmatch(t) != nil && !strings.HasSuffix(t, "]")
}
