package tables

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/store"
	"scrim/functions/standard"
	"scrim/internal/collation"
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

// strict converts the value of a row, counted from 1, to a column's type, and fails where MySQL's
// strict mode does, in MySQL's words.
func strict(ctx *sql.Context, v any, t sql.Type, column string, row int) (any, error) {
	if v == nil {
		return nil, nil
	}
	if types.IsJSON(t) {
		v = standard.AsDocument(v)
	}
	var c any
	var in sql.ConvertInRange
	var err error
	if r, ok := t.(sql.RoundingNumberType); ok {
		c, in, err = r.ConvertRound(ctx, v)
	} else if set, ok := narrow(t); ok {
		if c, in, err = wide(t).Convert(ctx, v); err == nil {
			text, _ := c.(string)
			if at := collation.Outside(set, text); at >= 0 {
				return nil, errOutside(text, at, column, row)
			}
		}
	} else {
		c, in, err = t.Convert(ctx, v)
	}
	if err == nil && in == sql.InRange {
		return c, nil
	}
	refused := func(code int, state, text string) (any, error) {
		return nil, mysql.NewSQLError(code, state, "%s for column '%s' at row %d", text, column, row)
	}
	text, isText := v.(string)
	if b, ok := v.([]byte); ok {
		text, isText = string(b), true
	}
	if !isText {
		text = fmt.Sprint(v)
	}
	digits := isText && strings.IndexFunc(strings.TrimLeft(text, " \t+-."), unicode.IsDigit) == 0
	incorrect := func(code int, state, kind string) (any, error) {
		return refused(code, state, fmt.Sprintf("Incorrect %s value: '%.128s'", kind, text))
	}
	switch {
	case types.ErrBadCharsetString.Is(err):
		named := context.WithValue(context.WithValue(ctx.Context, types.ColumnNameKey, column), types.RowNumberKey, int64(row))
		_, _, err = t.Convert(ctx.WithContext(named), v)
		return nil, err
	case types.ErrLengthBeyondLimit.Is(err), types.IsBit(t) && !isText:
		return refused(mysql.ERDataTooLong, mysql.SSDataTooLong, "Data too long")
	case types.IsEnum(t), types.IsSet(t):
		return refused(1265, "01000", "Data truncated")
	case types.IsTime(t) || standard.IsTimespan(t):
		kind, _, _ := strings.Cut(strings.Replace(t.String(), "timestamp", "datetime", 1), "(")
		return incorrect(1292, "22007", kind)
	case err == nil || types.ErrConvertToDecimalLimit.Is(err) || sql.ErrValueOutOfRange.Is(err), types.IsNumber(t) && !isText:
		return refused(mysql.ERWarnDataOutOfRange, mysql.SSDataOutOfRange, "Out of range value")
	case types.IsNumber(t) && (digits || types.IsFloat(t)):
		return refused(1265, "01000", "Data truncated")
	case types.IsDecimal(t):
		return incorrect(mysql.ERTruncatedWrongValueForField, mysql.SSUnknownSQLState, "decimal")
	case types.IsNumber(t):
		return incorrect(mysql.ERTruncatedWrongValueForField, mysql.SSUnknownSQLState, "integer")
	}
	if sql.ErrInvalidJson.Is(err) {
		return nil, mysql.NewSQLError(3140, "22032", "%v in value for column '%s' at row %d", err, column, row)
	}
	return nil, err // of a document or a shape, which says what is wrong with it
}

// converted are the rows that an INSERT gets, as values of the columns that they go into. One that
// has no place there fails the statement with its column and row, unless IGNORE is said.
type converted struct {
	plan.UnaryNode
	schema sql.Schema
	ignore bool // with the nearest value, and a warning
}

var _ sql.ExecBuilderNode = (*converted)(nil)

// IsReadOnly implements sql.Node.
func (c *converted) IsReadOnly() bool { return c.Child.IsReadOnly() }

// String implements sql.Node.
func (c *converted) String() string { return c.Child.String() }

// WithChildren implements sql.Node.
func (c *converted) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return &converted{plan.UnaryNode{Child: children[0]}, c.schema, c.ignore}, nil
}

// BuildRowIter implements sql.ExecBuilderNode.
func (c *converted) BuildRowIter(ctx *sql.Context, b sql.NodeExecBuilder, row sql.Row) (sql.RowIter, error) {
	rows, err := b.Build(ctx, c.Child, row)
	return &convertedRows{RowIter: rows, schema: c.schema, ignore: c.ignore}, err
}

type convertedRows struct {
	sql.RowIter
	schema sql.Schema
	ignore bool
	n      int
}

// Next implements sql.RowIter.
func (r *convertedRows) Next(ctx *sql.Context) (sql.Row, error) {
	row, err := r.RowIter.Next(ctx)
	if err != nil {
		return row, err
	}
	r.n++
	out := slices.Clone(row)
	for i, c := range r.schema { // in front may be the row of a query around
		at := len(row) - len(r.schema) + i
		if r.ignore && row[at] != nil { // go-mysql-server knows what a NULL becomes
			out[at], err = lenient(ctx, within(ctx, row[at], c, r.n), c, r.n)
		} else {
			out[at], err = strict(ctx, row[at], c.Type, c.Name, r.n)
		}
		if err == nil {
			err = hasPlace(ctx, out[at], c.Type, c.Name, r.n)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
