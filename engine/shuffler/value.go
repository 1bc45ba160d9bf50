package shuffler

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/dolthub/vitess/go/mysql"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/internal/refuse"
)

// bindings are the values of a prepared statement's parameters, v1, v2, …
type bindings map[string]*querypb.BindVariable

// constant reports whether value can read an expression.
func constant(e sqlparser.Expr) bool {
	switch e := e.(type) {
	case *sqlparser.NullVal, sqlparser.BoolVal:
		return true
	case *sqlparser.SQLVal:
		return e.Type == sqlparser.StrVal || e.Type == sqlparser.ValArg || e.Type == sqlparser.HexVal || e.Type == sqlparser.HexNum || e.Type == sqlparser.IntVal
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

func unhex(e *sqlparser.FuncExpr) (arg sqlparser.Expr, ok bool) {
	if e.Name.Lowered() != "unhex" || len(e.Exprs) != 1 || e.Distinct || e.Over != nil {
		return nil, false
	}
	a, ok := e.Exprs[0].(*sqlparser.AliasedExpr)
	if !ok {
		return nil, false
	}
	return a.Expr, true
}

// value reads a constant expression; nil is NULL.
func (v bindings) value(e sqlparser.Expr) []byte {
	switch e := e.(type) {
	case sqlparser.BoolVal:
		if e {
			return []byte("1")
		}
		return []byte("0")
	case *sqlparser.ParenExpr:
		return v.value(e.Expr)
	case *sqlparser.UnaryExpr:
		return v.value(e.Expr)
	case *sqlparser.FuncExpr:
		arg, _ := unhex(e)
		return decoded(v.value(arg))
	case *sqlparser.SQLVal:
		switch e.Type {
		case sqlparser.HexVal:
			return decoded(e.Val)
		case sqlparser.HexNum: // 0x…
			return decoded(e.Val[2:])
		case sqlparser.ValArg:
			b := v[strings.TrimPrefix(string(e.Val), ":")]
			if b == nil || b.Type == querypb.Type_NULL_TYPE {
				return nil
			}
			return append([]byte{}, b.Value...)
		}
		return append([]byte{}, e.Val...)
	}
	return nil
}

// decoded reads hexadecimal digits; nil where they are none.
func decoded(digits []byte) []byte {
	if digits == nil {
		return nil
	}
	out := make([]byte, hex.DecodedLen(len(digits)))
	if _, err := hex.Decode(out, digits); err != nil {
		return nil
	}
	return out
}

// bytes reads a value that is not NULL.
func (v bindings) bytes(name string, e sqlparser.Expr) ([]byte, error) {
	if b := v.value(e); b != nil {
		return b, nil
	}
	return nil, mysql.NewSQLError(mysql.ERBadNullError, mysql.SSConstraintViolation, "Column '%s' cannot be null", name)
}

// number reads a whole number of at most so many bits; none where it is NULL.
func (v bindings) number(name string, e sqlparser.Expr, bits int) (n uint64, none bool, err error) {
	b := v.value(e)
	if b == nil {
		return 0, true, nil
	}
	n, err = strconv.ParseUint(string(b), 10, bits)
	if err != nil {
		return 0, false, refuse.New(refuse.CollectionParameter, "The %s %.40q is not a whole number, or too large.", name, b)
	}
	return n, false, nil
}
