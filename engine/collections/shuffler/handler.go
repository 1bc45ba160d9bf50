package shuffler

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/rs/zerolog"

	"scrim/engine/mysql/wire"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// handler answers the few statements that a shuffler knows. Nothing of a statement, of who sent it,
// or of when is logged.
type handler struct {
	shuffler *Shuffler
	log      zerolog.Logger
	open     func() int // connections
}

var _ wire.Handler = (*handler)(nil)

// idle is how long a client may be silent.
const idle = 5 * time.Minute

// The parts of wire.Handler that keep nothing: there are no sessions.
func (*handler) NewConnection(*mysql.Conn)                   {}
func (*handler) ConnectionClosed(*mysql.Conn)                {}
func (*handler) ConnectionAborted(*mysql.Conn, string) error { return nil }
func (*handler) ConnectionAuthenticated(*mysql.Conn) error   { return nil }
func (*handler) ComInitDB(*mysql.Conn, string) error         { return nil } // any name will do
func (*handler) ComResetConnection(*mysql.Conn) error        { return nil }
func (*handler) LeaveSession(*mysql.Conn)                    {}
func (*handler) Forget(*mysql.Conn, wire.Prepared)           {}
func (*handler) WarningCount(*mysql.Conn) uint16             { return 0 }
func (*handler) Timeouts(*mysql.Conn) wire.Timeouts          { return wire.Timeouts{Idle: idle} }

// Statistics implements wire.Handler.
func (h *handler) Statistics(*mysql.Conn) string {
	return fmt.Sprintf("Uptime: 1  Threads: %d  Questions: 0  Slow queries: 0  Opens: 0  Flush tables: 0  Open tables: 0  Queries per second avg: 0", h.open())
}

// Fields implements wire.Handler.
func (h *handler) Fields(_ context.Context, c *mysql.Conn, table string) ([]*querypb.Field, error) {
	t, err := h.table(table, isOperator(c))
	if err != nil {
		return nil, h.outward(err)
	}
	return t.fields, nil
}

// Query implements wire.Handler. Several statements in one text are refused.
func (h *handler) Query(ctx context.Context, c *mysql.Conn, text string, _ bool, send wire.Send) (string, error) {
	a, err := h.bind(c, text)
	if err == nil {
		err = h.run(ctx, a, nil, send)
	}
	return "", h.outward(err)
}

// Prepare implements wire.Handler.
func (h *handler) Prepare(_ context.Context, c *mysql.Conn, text string) (wire.Prepared, error) {
	a, err := h.bind(c, text)
	if err != nil {
		return wire.Prepared{}, h.outward(err)
	}
	return wire.Prepared{Text: text, Params: a.params, Fields: a.fields, Handle: a}, nil
}

// Execute implements wire.Handler.
func (h *handler) Execute(ctx context.Context, _ *mysql.Conn, p wire.Prepared, values map[string]*querypb.BindVariable, send wire.Send) error {
	a, _ := p.Handle.(*answer)
	return h.outward(h.run(ctx, a, values, send))
}

// answer is a statement that was understood. Without fields it is answered by OK.
type answer struct {
	fields []*querypb.Field
	params int
	run    func(ctx context.Context, v bindings) (*sqltypes.Result, error)
}

func (h *handler) run(ctx context.Context, a *answer, values bindings, send wire.Send) (err error) {
	defer func() {
		if p := recover(); p != nil { // its text could hold a statement
			err = errors.New("shuffler: a statement could not be answered")
		}
	}()
	r := &sqltypes.Result{}
	if a.run != nil {
		if r, err = a.run(ctx, values); err != nil {
			return err
		}
	}
	r.Fields = a.fields
	return send(r, false)
}

// outward turns errors into what the client is told.
func (h *handler) outward(err error) error {
	var own *mysql.SQLError
	switch r, ok := refuse.As(err); {
	case err == nil:
		return nil
	case ok:
		return mysql.NewSQLError(refuse.MySQLErrno, refuse.Lookup(r.Code).SQLState, "%s", r.Error())
	case errors.As(err, &own):
		return own
	case errors.Is(err, errClosed):
		return mysql.NewSQLError(mysql.ERServerShutdown, mysql.SSServerShutdown, "Server shutdown in progress")
	}
	h.log.Error().Err(err).Msg("a statement failed")
	return mysql.NewSQLError(mysql.ERUnknownError, "HY000", "internal error; whether the bundle was taken is not known: send it again unchanged")
}

func isOperator(c *mysql.Conn) bool {
	a, ok := c.UserData.(account)
	return ok && a.name == Operator
}

// bind understands a statement, or says what there is.
func (h *handler) bind(c *mysql.Conn, text string) (*answer, error) {
	text = strings.TrimRight(strings.TrimSpace(text), "; \t\r\n")
	s, err := sqlparser.Parse(text)
	if err != nil {
		return nil, unknown()
	}
	a, err := h.understand(c, s)
	if err != nil {
		return nil, err
	}
	a.params = parameters(s)
	return a, nil
}

func (h *handler) understand(c *mysql.Conn, s sqlparser.Statement) (*answer, error) {
	switch s := s.(type) {
	case *sqlparser.Insert:
		return h.insert(s)
	case *sqlparser.Select:
		if len(s.From) == 0 || isDual(s.From) {
			return constants(c, s)
		}
		return h.read(s, isOperator(c))
	case *sqlparser.Show:
		return h.show(s, isOperator(c))
	case *sqlparser.Call:
		if isOperator(c) {
			return h.call(s)
		}
		return nil, mysql.NewSQLError(mysql.ERSpecifiedAccessDenied, mysql.SSAccessDeniedError, "Access denied; the procedures of a shuffler are for its operator")
	case *sqlparser.Set, *sqlparser.Use, *sqlparser.Begin, *sqlparser.Commit, *sqlparser.Rollback:
		// every bundle is durable when it is answered; there is nothing to set
		return &answer{}, nil
	}
	return nil, unknown()
}

func unknown() error {
	return refuse.New(refuse.Unsupported, "A shuffler takes bundles, and runs no other SQL.").
		With("INSERT INTO inbox (token, bundle) VALUES (?, ?), or SELECT fingerprint FROM pins WHERE fingerprint = ?; queries are for the server behind it.")
}

func isDual(from sqlparser.TableExprs) bool { name, ok := tableName(from); return ok && name == "dual" }

// tableName returns the one table that a statement reads.
func tableName(from sqlparser.TableExprs) (string, bool) {
	if len(from) != 1 {
		return "", false
	}
	a, ok := from[0].(*sqlparser.AliasedTableExpr)
	if !ok {
		return "", false
	}
	name, ok := a.Expr.(sqlparser.TableName)
	return strings.ToLower(name.Name.String()), ok
}

// parameters counts the places of values.
func parameters(s sqlparser.Statement) (n int) {
	_ = sqlparser.Walk(func(node sqlparser.SQLNode) (bool, error) {
		if v, ok := node.(*sqlparser.SQLVal); ok && v.Type == sqlparser.ValArg {
			n++
		}
		return true, nil
	}, s)
	return n
}

// insert understands INSERT INTO inbox.
func (h *handler) insert(s *sqlparser.Insert) (*answer, error) {
	rows, ok := s.Rows.(sqlparser.Values)
	if v, aliased := s.Rows.(*sqlparser.AliasedValues); aliased {
		rows, ok = v.Values, v.As.IsEmpty() && len(v.Columns) == 0
	}
	if !strings.EqualFold(s.Table.Name.String(), "inbox") || s.Action != sqlparser.InsertStr || s.Ignore != "" || len(s.OnDup) > 0 || s.With != nil ||
		len(s.Partitions) > 0 || len(s.Returning) > 0 || !ok || len(rows) != 1 || len(rows[0]) != 2 {
		return nil, refuse.New(refuse.Unsupported, "A shuffler takes one bundle a statement.").With("INSERT INTO inbox (token, bundle) VALUES (?, ?)")
	}
	token, bundle := rows[0][0], rows[0][1]
	switch columns := lowered(s.Columns); {
	case len(columns) == 0, len(columns) == 2 && columns[0] == "token" && columns[1] == "bundle":
	case len(columns) == 2 && columns[0] == "bundle" && columns[1] == "token":
		token, bundle = bundle, token
	default:
		return nil, refuse.New(refuse.Unsupported, "The inbox has the columns token and bundle.").With("INSERT INTO inbox (token, bundle) VALUES (?, ?)")
	}
	if !constant(token) || !constant(bundle) {
		return nil, refuse.New(refuse.Unsupported, "Token and bundle are bytes, not expressions.").With("Send them as parameters, or as X'…'.")
	}
	return &answer{run: func(ctx context.Context, v bindings) (*sqltypes.Result, error) {
		t, err := v.bytes("token", token)
		if err != nil {
			return nil, err
		}
		b, err := v.bytes("bundle", bundle)
		if err != nil {
			return nil, err
		}
		return &sqltypes.Result{RowsAffected: 1}, h.shuffler.Accept(ctx, t, b)
	}}, nil
}

// lowered returns the names of columns; two, or none.
func lowered(list sqlparser.Columns) (out []string) {
	out = append(out, lists.Map(list, sqlparser.ColIdent.Lowered)...)
	if len(out) == 1 {
		out = append(out, "")
	}
	return out
}

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
