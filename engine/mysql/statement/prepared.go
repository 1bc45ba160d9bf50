package statement

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/mysql/dialect"
	"scrim/engine/mysql/session"
	"scrim/engine/mysql/statement/result"
	"scrim/engine/mysql/wire"
)

// parseOne parses a text that must be one statement.
func (h *Handler) parseOne(ctx *sql.Context, text string) (sqlparser.Statement, error) {
	s, end, err := h.Engine.Parser.ParseOneWithOptions(ctx, text, sql.LoadSqlMode(ctx).ParserOptions())
	switch {
	case err != nil:
		return nil, unparsed(err)
	case end > 0 && end < len(text) && !blank(text[end:]):
		return nil, sql.ErrSyntaxError.New("syntax error: one statement can be prepared at a time")
	}
	return s, nil
}

// bind parses a statement that will be executed later, and binds it to learn its result's columns.
func (h *Handler) bind(ctx *sql.Context, text string) (p wire.Prepared, err error) {
	text = sql.RemoveSpaceAndDelimiter(text, ';')
	s, err := h.parseOne(ctx, text)
	if err != nil {
		return p, err
	}
	if err := h.check(ctx, text, s); err != nil {
		return p, err
	}
	if !preparable(s) {
		return p, mysql.NewSQLError(1295, "HY000", "This command is not supported in the prepared statement protocol yet")
	}
	if p, ok, err := h.reports().Prepare(ctx, text, s); ok || err != nil {
		return p, err
	}
	node, err := h.Engine.PrepareParsedQuery(ctx, text, text, s)
	ctx.Session.UnprepareQuery(text)
	if err != nil {
		return p, err
	}
	p = wire.Prepared{Text: text, Params: dialect.Placeholders(ctx, text), Handle: s}
	if schema := node.Schema(ctx); !returnsNoRows(node) && !types.IsOkResultSchema(schema) {
		p.Fields = result.Fields(ctx, schema)
	}
	return p, nil
}

// preparable reports whether MySQL prepares a statement: none that prepares or loads, and no
// definition of a trigger, a procedure or an event.
func preparable(s sqlparser.Statement) bool {
	switch s := s.(type) {
	case *sqlparser.Prepare, *sqlparser.Execute, *sqlparser.Deallocate, *sqlparser.Load:
		return false
	case *sqlparser.DDL:
		return s.TriggerSpec == nil && s.ProcedureSpec == nil && s.EventSpec == nil
	}
	return true
}

// blank reports whether nothing but space, delimiters and comments is left of a text.
func blank(text string) bool {
	for t := sqlparser.NewStringTokenizer(text); ; {
		switch kind, _ := t.Scan(); kind {
		case 0:
			return true
		case sqlparser.COMMENT, ';':
		default:
			return false
		}
	}
}

// named carries out PREPARE and DEALLOCATE PREPARE. A statement under a name is the session's: it
// goes through everything that another text goes through when it is executed.
func (h *Handler) named(ctx *sql.Context, s sqlparser.Statement) error {
	own, ok := session.From(ctx)
	if !ok {
		return fmt.Errorf("engine: no session")
	}
	switch s := s.(type) {
	case *sqlparser.Prepare:
		own.Forget(s.Name)
		text, err := preparedText(ctx, s.Expr)
		if err != nil {
			return err
		}
		p, err := h.bind(ctx, text)
		if err != nil {
			return err
		}
		return own.Remember(s.Name, session.Prepared{Text: p.Text, Params: p.Params, Statement: p.Handle.(sqlparser.Statement)})
	case *sqlparser.Deallocate:
		if !own.Forget(s.Name) {
			return unknownPrepared(s.Name, "DEALLOCATE PREPARE")
		}
	}
	return nil
}

func unknownPrepared(name, statement string) error {
	return mysql.NewSQLError(1243, "HY000", "Unknown prepared statement handler (%s) given to %s", name, statement)
}

// preparedText is the text behind FROM, or the value of the variable that is named there.
func preparedText(ctx *sql.Context, expr string) (string, error) {
	name, variable := strings.CutPrefix(expr, "@")
	if !variable {
		return expr, nil
	}
	_, value, err := ctx.GetUserVariable(ctx, strings.Trim(name, "`'\""))
	if err != nil {
		return "", err
	}
	switch v := value.(type) {
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	case nil:
		return "NULL", nil // which MySQL takes for the text, too
	}
	return fmt.Sprint(value), nil
}

// executed turns EXECUTE into the statement that it names, with the values of the variables that it
// names in the place of the question marks.
func (h *Handler) executed(ctx *sql.Context, s *sqlparser.Execute) (command, error) {
	own, _ := session.From(ctx)
	if own == nil {
		return command{}, unknownPrepared(s.Name, "EXECUTE")
	}
	p, ok := own.Prepared(s.Name)
	switch {
	case !ok:
		return command{}, unknownPrepared(s.Name, "EXECUTE")
	case p.Params != len(s.VarList):
		return command{}, mysql.NewSQLError(1210, "HY000", "Incorrect arguments to EXECUTE")
	}
	cmd := command{text: p.Text, prepared: p.Statement, bindings: map[string]sqlparser.Expr{}}
	for i, name := range s.VarList {
		value, err := userVariable(ctx, strings.Trim(strings.TrimPrefix(name, "@"), "`'\""))
		if err != nil {
			return command{}, err
		}
		cmd.bindings["v"+strconv.Itoa(i+1)] = value
	}
	return cmd, nil
}

// userVariable is the value of a variable as an expression.
func userVariable(ctx *sql.Context, name string) (sqlparser.Expr, error) {
	t, v, err := ctx.GetUserVariable(ctx, name)
	if err != nil || v == nil || t == nil {
		return &sqlparser.NullVal{}, err
	}
	value, err := t.SQL(converting, nil, v) // in UTF-8, whatever the client wants
	if err != nil {
		return nil, err
	}
	if !value.IsIntegral() && !value.IsFloat() && value.Type() != sqltypes.Decimal {
		return sqlparser.NewStrVal(value.Raw()), nil
	}
	return sqlparser.ExprFromValue(value)
}
