package inbox

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/internal/refuse"
)

// The columns of every table of the database.
const (
	columnToken  = "token"
	columnReport = "report"
)

// Destination tells whether a statement inserts into a table of this database, and into which one.
func Destination(s sqlparser.Statement, current string) (table string, ok bool) {
	in, isInsert := s.(*sqlparser.Insert)
	if !isInsert {
		return "", false
	}
	if q := in.Table.DbQualifier.String(); q != "" {
		current = q
	}
	return in.Table.Name.String(), strings.EqualFold(current, Name)
}

// Form is an INSERT of constants and parameters.
type Form struct {
	rows          sqlparser.Values
	token, report int // their places in a row
}

// Plain refuses the forms of INSERT that have no meaning for reports.
func Plain(s sqlparser.Statement) error {
	if in, ok := s.(*sqlparser.Insert); ok && (in.Action == sqlparser.ReplaceStr || in.Ignore != "" || len(in.OnDup) > 0) {
		return refuse.New(refuse.Unsupported, "A report is taken or refused: REPLACE, IGNORE and ON DUPLICATE KEY UPDATE have no meaning for it.").
			With("Use a plain INSERT; sending the same report again is harmless.")
	}
	return nil
}

// FormOf reads a statement that Destination knows; ok is false for one that the SQL engine has to
// look at: because it computes, or because something is wrong with it.
func FormOf(s sqlparser.Statement) (f Form, ok bool) {
	in, isInsert := s.(*sqlparser.Insert)
	if !isInsert || Plain(s) != nil || in.With != nil || len(in.Partitions) > 0 || len(in.Returning) > 0 {
		return Form{}, false
	}
	switch rows := in.Rows.(type) {
	case sqlparser.Values:
		f.rows = rows
	case *sqlparser.AliasedValues:
		if !rows.As.IsEmpty() || len(rows.Columns) > 0 {
			return Form{}, false
		}
		f.rows = rows.Values
	default:
		return Form{}, false
	}
	if f.token, f.report, ok = places(in.Columns); !ok {
		return Form{}, false
	}
	if slices.ContainsFunc(f.rows, func(row sqlparser.ValTuple) bool { return len(row) != 2 || !constant(row[0]) || !constant(row[1]) }) {
		return Form{}, false
	}
	return f, len(f.rows) > 0
}

// places finds the two columns.
func places(list sqlparser.Columns) (token, report int, ok bool) {
	if len(list) == 0 {
		return 0, 1, true
	}
	if len(list) != 2 {
		return 0, 0, false
	}
	first, second := list[0].Lowered(), list[1].Lowered()
	switch {
	case first == columnToken && second == columnReport:
		return 0, 1, true
	case first == columnReport && second == columnToken:
		return 1, 0, true
	}
	return 0, 0, false
}

// constant reports whether value can read an expression, whatever parameters stand in it.
func constant(e sqlparser.Expr) bool {
	switch e := e.(type) {
	case *sqlparser.NullVal:
		return true
	case *sqlparser.SQLVal:
		switch e.Type {
		case sqlparser.StrVal, sqlparser.ValArg:
			return true
		case sqlparser.HexVal, sqlparser.HexNum:
			return len(e.Val)%2 == 0
		}
	case *sqlparser.ParenExpr:
		return constant(e.Expr)
	case *sqlparser.UnaryExpr:
		return e.Operator == sqlparser.UBinaryStr && constant(e.Expr)
	case *sqlparser.FuncExpr:
		arg, ok := unhex(e)
		return ok && constant(arg)
	}
	return false
}

// unhex returns the argument of UNHEX.
func unhex(e *sqlparser.FuncExpr) (arg sqlparser.Expr, ok bool) {
	if e.Name.Lowered() != "unhex" || !e.Qualifier.IsEmpty() || len(e.Exprs) != 1 || e.Distinct || e.Over != nil {
		return nil, false
	}
	a, ok := e.Exprs[0].(*sqlparser.AliasedExpr)
	if !ok {
		return nil, false
	}
	return a.Expr, true
}

// Submissions reads the rows with the values of the parameters; ok is false where one is neither
// bytes nor text. A NULL is MySQL's error.
func (f Form) Submissions(bindings map[string]sqlparser.Expr) (list []Submission, ok bool, err error) {
	list = make([]Submission, len(f.rows))
	for i, row := range f.rows {
		token, ok := value(row[f.token], bindings)
		if !ok {
			return nil, false, nil
		}
		report, ok := value(row[f.report], bindings)
		switch {
		case !ok:
			return nil, false, nil
		case token == nil:
			return nil, true, null(columnToken)
		case report == nil:
			return nil, true, null(columnReport)
		}
		list[i] = Submission{Token: token, Report: report}
	}
	return list, true, nil
}

func null(column string) error {
	return mysql.NewSQLError(mysql.ERBadNullError, mysql.SSConstraintViolation, "Column '%s' cannot be null", column)
}

// value reads an expression that is constant; nil for NULL.
func value(e sqlparser.Expr, bindings map[string]sqlparser.Expr) (b []byte, ok bool) {
	switch e := e.(type) {
	case *sqlparser.NullVal:
		return nil, true
	case *sqlparser.ParenExpr:
		return value(e.Expr, bindings)
	case *sqlparser.UnaryExpr:
		return value(e.Expr, bindings)
	case *sqlparser.FuncExpr:
		arg, _ := unhex(e)
		b, ok := value(arg, bindings)
		return decoded(b), ok
	case *sqlparser.SQLVal:
		switch e.Type {
		case sqlparser.StrVal:
			return append([]byte{}, e.Val...), true
		case sqlparser.HexVal:
			return decoded(e.Val), true
		case sqlparser.HexNum: // 0x…
			return decoded(e.Val[2:]), true
		case sqlparser.ValArg:
			bound, ok := bindings[strings.TrimPrefix(string(e.Val), ":")]
			if !ok {
				return nil, false
			}
			if v, isValue := bound.(*sqlparser.SQLVal); isValue && v.Type != sqlparser.StrVal {
				return nil, false // a number: the SQL engine says what it is as text
			}
			return value(bound, nil)
		}
	}
	return nil, false
}

// decoded reads hexadecimal digits, as UNHEX does: NULL where they are none. An odd number of them
// has a zero in front.
func decoded(digits []byte) []byte {
	if digits == nil {
		return nil
	}
	if len(digits)%2 == 1 {
		digits = append([]byte("0"), digits...)
	}
	out := make([]byte, len(digits)/2)
	if _, err := hex.Decode(out, digits); err != nil {
		return nil
	}
	return out
}
