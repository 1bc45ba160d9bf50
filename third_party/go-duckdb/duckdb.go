// Package duckdb gives the driver of DuckDB its former import path. The project
// github.com/marcboeker/go-duckdb ended with DuckDB 1.4.1 and goes on as
// github.com/duckdb/duckdb-go; this module re-exports what Scrim uses of the successor, and
// Scrim's go.mod replaces the former by it. docs/dependencies.md says why, and how to leave.
package duckdb

import duckdb "github.com/duckdb/duckdb-go/v2"

type (
	Conn      = duckdb.Conn
	Connector = duckdb.Connector
	Decimal   = duckdb.Decimal
	Error     = duckdb.Error
	ErrorType = duckdb.ErrorType
	Interval  = duckdb.Interval
	Stmt      = duckdb.Stmt
	StmtType  = duckdb.StmtType
	Type      = duckdb.Type
)

const (
	ErrorTypeAutoLoad             = duckdb.ErrorTypeAutoLoad
	ErrorTypeBinder               = duckdb.ErrorTypeBinder
	ErrorTypeCatalog              = duckdb.ErrorTypeCatalog
	ErrorTypeConstraint           = duckdb.ErrorTypeConstraint
	ErrorTypeConversion           = duckdb.ErrorTypeConversion
	ErrorTypeDecimal              = duckdb.ErrorTypeDecimal
	ErrorTypeDependency           = duckdb.ErrorTypeDependency
	ErrorTypeDivideByZero         = duckdb.ErrorTypeDivideByZero
	ErrorTypeFatal                = duckdb.ErrorTypeFatal
	ErrorTypeIO                   = duckdb.ErrorTypeIO
	ErrorTypeInternal             = duckdb.ErrorTypeInternal
	ErrorTypeInterrupt            = duckdb.ErrorTypeInterrupt
	ErrorTypeInvalid              = duckdb.ErrorTypeInvalid
	ErrorTypeInvalidInput         = duckdb.ErrorTypeInvalidInput
	ErrorTypeInvalidType          = duckdb.ErrorTypeInvalidType
	ErrorTypeMismatchType         = duckdb.ErrorTypeMismatchType
	ErrorTypeMissingExtension     = duckdb.ErrorTypeMissingExtension
	ErrorTypeNotImplemented       = duckdb.ErrorTypeNotImplemented
	ErrorTypeObjectSize           = duckdb.ErrorTypeObjectSize
	ErrorTypeOutOfMemory          = duckdb.ErrorTypeOutOfMemory
	ErrorTypeOutOfRange           = duckdb.ErrorTypeOutOfRange
	ErrorTypeParameterNotAllowed  = duckdb.ErrorTypeParameterNotAllowed
	ErrorTypeParameterNotResolved = duckdb.ErrorTypeParameterNotResolved
	ErrorTypeParser               = duckdb.ErrorTypeParser
	ErrorTypePermission           = duckdb.ErrorTypePermission
	ErrorTypePlanner              = duckdb.ErrorTypePlanner
	ErrorTypeSyntax               = duckdb.ErrorTypeSyntax
	ErrorTypeTransaction          = duckdb.ErrorTypeTransaction
	STATEMENT_TYPE_ALTER          = duckdb.STATEMENT_TYPE_ALTER
	STATEMENT_TYPE_CREATE         = duckdb.STATEMENT_TYPE_CREATE
	STATEMENT_TYPE_CREATE_FUNC    = duckdb.STATEMENT_TYPE_CREATE_FUNC
	STATEMENT_TYPE_DELETE         = duckdb.STATEMENT_TYPE_DELETE
	STATEMENT_TYPE_DROP           = duckdb.STATEMENT_TYPE_DROP
	STATEMENT_TYPE_INSERT         = duckdb.STATEMENT_TYPE_INSERT
	STATEMENT_TYPE_SELECT         = duckdb.STATEMENT_TYPE_SELECT
	STATEMENT_TYPE_UPDATE         = duckdb.STATEMENT_TYPE_UPDATE
	TYPE_BIGINT                   = duckdb.TYPE_BIGINT
	TYPE_BLOB                     = duckdb.TYPE_BLOB
	TYPE_BOOLEAN                  = duckdb.TYPE_BOOLEAN
	TYPE_DOUBLE                   = duckdb.TYPE_DOUBLE
	TYPE_INTERVAL                 = duckdb.TYPE_INTERVAL
	TYPE_INVALID                  = duckdb.TYPE_INVALID
	TYPE_TIMESTAMP                = duckdb.TYPE_TIMESTAMP
	TYPE_UBIGINT                  = duckdb.TYPE_UBIGINT
	TYPE_VARCHAR                  = duckdb.TYPE_VARCHAR
)

var (
	GetInstanceCache = duckdb.GetInstanceCache
	NewAppender      = duckdb.NewAppender
	NewConnector     = duckdb.NewConnector
)
