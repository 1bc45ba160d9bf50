package duckdb

import (
	"context"
	"errors"
	"regexp"
	"strings"

	duckdb "github.com/marcboeker/go-duckdb/v2"

	"scrim/engine/store"
)

// classify turns an error of the driver into a typed one, whose text holds nothing of rows.
func classify(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var typed *store.Error
	if errors.As(err, &typed) || errors.Is(err, store.ErrClosed) {
		return err
	}
	if errors.Is(err, errType) {
		return &store.Error{Kind: store.Refused, Driver: err.Error()}
	}
	var de *duckdb.Error
	if errors.As(err, &de) {
		return typedError(ctx, de.Type, de.Msg)
	}
	if c := ctx.Err(); c != nil && errors.Is(err, c) {
		return &store.Error{Kind: store.Interrupted, Cause: c}
	}
	typ, msg := findPrefix(err.Error())
	return typedError(ctx, typ, msg)
}

// typedError decides by DuckDB's type of error, and by its wording where one type covers several of
// our kinds. Only wording that comes before any value is looked at, or wording that as a value
// would be harmless.
func typedError(ctx context.Context, typ duckdb.ErrorType, msg string) error {
	e := &store.Error{Driver: msg}
	switch typ {
	case duckdb.ErrorTypeConstraint:
		constraint(e, msg)
	case duckdb.ErrorTypeTransaction:
		e.Kind = transaction(e, msg)
	case duckdb.ErrorTypeInterrupt:
		e.Kind, e.Cause = store.Interrupted, ctx.Err()
	case duckdb.ErrorTypeOutOfMemory:
		e.Kind = pick(msg, store.OutOfMemory, "max_temp_directory_size", store.DiskFull, "No space left", store.DiskFull)
	case duckdb.ErrorTypeIO:
		if corrupt(e, msg) {
			break
		}
		e.Kind = pick(msg, store.Internal, "No space left", store.DiskFull, "not enough space", store.DiskFull,
			"Disk quota exceeded", store.DiskFull)
	case duckdb.ErrorTypeCatalog:
		e.Kind = pick(msg, store.Syntax, "write-write conflict", store.Conflict, "has been altered", store.Conflict,
			"already exists", store.Exists, "does not exist", store.NotFound, "main key table", store.Dependency)
	case duckdb.ErrorTypeDependency:
		e.Kind = store.Dependency
	case duckdb.ErrorTypeParser, duckdb.ErrorTypeSyntax, duckdb.ErrorTypeBinder, duckdb.ErrorTypePlanner,
		duckdb.ErrorTypeParameterNotResolved, duckdb.ErrorTypeParameterNotAllowed:
		e.Kind = store.Syntax
	case duckdb.ErrorTypeConversion, duckdb.ErrorTypeOutOfRange, duckdb.ErrorTypeDivideByZero, duckdb.ErrorTypeDecimal,
		duckdb.ErrorTypeMismatchType, duckdb.ErrorTypeObjectSize, duckdb.ErrorTypeInvalidType:
		e.Kind = store.BadValue
	case duckdb.ErrorTypeInvalidInput:
		e.Kind = pick(msg, store.BadValue, "configuration has been locked", store.Refused,
			"Values were not provided", store.Internal)
	case duckdb.ErrorTypePermission, duckdb.ErrorTypeMissingExtension, duckdb.ErrorTypeAutoLoad:
		e.Kind = store.Refused
	case duckdb.ErrorTypeNotImplemented:
		e.Kind = store.Unsupported
	case duckdb.ErrorTypeFatal:
		e.Kind = store.Damaged
	}
	if e.Kind == store.OutOfMemory || e.Kind == store.DiskFull {
		e.Detail = e.Kind.String() + sizes(msg)
	}
	return e
}

var (
	wantedSize = regexp.MustCompile(`of size ([0-9.]+ (?:bytes|[KMGT]iB))`)
	usedSize   = regexp.MustCompile(`\(([0-9.]+ (?:bytes|[KMGT]iB))/([0-9.]+ (?:bytes|[KMGT]iB)) used\)`)
)

// sizes takes the sizes out of DuckDB's message about memory or disk, and nothing else of it.
func sizes(msg string) (out string) {
	if m := wantedSize.FindStringSubmatch(msg); m != nil {
		out = ": wanted " + m[1]
	}
	if m := usedSize.FindStringSubmatch(msg); m != nil {
		out += ", " + m[1] + " of " + m[2] + " in use"
	}
	return out
}

var (
	notNull = regexp.MustCompile(`NOT NULL constraint failed: ([^\s.]+)\.([^\s.]+)$`)
	check   = regexp.MustCompile(`CHECK constraint failed on table (\S+) `)
)

func constraint(e *store.Error, msg string) {
	switch {
	case strings.Contains(msg, "NOT NULL constraint"):
		e.Kind = store.NotNull
		if m := notNull.FindStringSubmatch(msg); m != nil {
			e.Table, e.Column = m[1], m[2]
		}
	case strings.Contains(msg, "CHECK constraint failed"):
		e.Kind = store.Check
		if m := check.FindStringSubmatch(msg); m != nil {
			e.Table = m[1]
		}
	case strings.Contains(msg, "foreign key"):
		e.Kind = store.ForeignKey
	case strings.Contains(msg, "uplicate key"), strings.Contains(msg, "UNIQUE"):
		e.Kind = store.DuplicateKey
		e.Primary = strings.Contains(msg, "violates primary key")
	default:
		e.Kind = store.Internal
	}
}

func transaction(e *store.Error, msg string) store.Kind {
	if strings.Contains(msg, "PRIMARY KEY or UNIQUE constraint") || strings.Contains(msg, "uplicate key") {
		e.Primary = strings.Contains(msg, "violates primary key")
		return store.DuplicateKey
	}
	return pick(msg, store.Internal, "No space left", store.DiskFull, "is aborted", store.Aborted, "onflict", store.Conflict,
		"has been altered", store.Conflict, "foreign key", store.ForeignKey, "read-only mode", store.Refused)
}

// pick returns the kind after the first text that msg contains, or otherwise.
func pick(msg string, otherwise store.Kind, pairs ...any) store.Kind {
	for i := 0; i+1 < len(pairs); i += 2 {
		if strings.Contains(msg, pairs[i].(string)) {
			return pairs[i+1].(store.Kind)
		}
	}
	return otherwise
}

// prefixes are the beginnings of DuckDB's messages where only the text is left of an error, as in
// the driver's appender.
var prefixes = []struct {
	text string
	typ  duckdb.ErrorType
}{
	{"Constraint Error: ", duckdb.ErrorTypeConstraint},
	{"TransactionContext Error: ", duckdb.ErrorTypeTransaction},
	{"INTERRUPT Error: ", duckdb.ErrorTypeInterrupt},
	{"Out of Memory Error: ", duckdb.ErrorTypeOutOfMemory},
	{"IO Error: ", duckdb.ErrorTypeIO},
	{"Catalog Error: ", duckdb.ErrorTypeCatalog},
	{"Dependency Error: ", duckdb.ErrorTypeDependency},
	{"Binder Error: ", duckdb.ErrorTypeBinder},
	{"Parser Error: ", duckdb.ErrorTypeParser},
	{"Conversion Error: ", duckdb.ErrorTypeConversion},
	{"Out of Range Error: ", duckdb.ErrorTypeOutOfRange},
	{"Invalid Input Error: ", duckdb.ErrorTypeInvalidInput},
	{"Permission Error: ", duckdb.ErrorTypePermission},
	{"Not implemented Error: ", duckdb.ErrorTypeNotImplemented},
	{"FATAL Error: ", duckdb.ErrorTypeFatal},
}

// findPrefix finds the earliest known prefix: what follows it may be a value that looks like one.
func findPrefix(msg string) (duckdb.ErrorType, string) {
	typ, at := duckdb.ErrorTypeInvalid, len(msg)
	for _, p := range prefixes {
		if i := strings.Index(msg, p.text); i >= 0 && i < at {
			typ, at = p.typ, i
		}
	}
	if at == len(msg) {
		at = 0
	}
	return typ, msg[at:]
}
