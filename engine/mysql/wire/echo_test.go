package wire_test

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"scrim/engine/mysql/wire"
)

// echo is a handler that answers without a database:
//
//	a text without a meaning below    one row that says whether the connection is in TLS
//	"rows N"                          N rows of a number and a text
//	"ok"                              an OK packet
//	"fail"                            error 1064
//	"late N"                          N rows and then error 1317
//	"echo"                            (prepared) one row of the parameters
//	"panic"                           a panic
type echo struct {
	mu       sync.Mutex
	sessions []string // what happened to sessions
	timeouts wire.Timeouts
}

func (e *echo) note(what string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sessions = append(e.sessions, what)
}

func (e *echo) noted() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.sessions, " ")
}

func (*echo) NewConnection(*mysql.Conn)                   {}
func (*echo) ConnectionClosed(*mysql.Conn)                {}
func (*echo) ConnectionAborted(*mysql.Conn, string) error { return nil }
func (e *echo) ConnectionAuthenticated(c *mysql.Conn) error {
	e.note("in:" + c.User)
	return nil
}
func (e *echo) LeaveSession(c *mysql.Conn)             { e.note("out:" + c.User) }
func (e *echo) ComResetConnection(c *mysql.Conn) error { e.note("reset:" + c.User); return nil }
func (e *echo) ComInitDB(_ *mysql.Conn, db string) error {
	if db == "missing" {
		return mysql.NewSQLError(1049, "42000", "Unknown database 'missing'")
	}
	e.note("use:" + db)
	return nil
}
func (*echo) WarningCount(*mysql.Conn) uint16         { return 0 }
func (*echo) Statistics(*mysql.Conn) string           { return "Uptime: 7  Threads: 1" }
func (e *echo) Timeouts(*mysql.Conn) wire.Timeouts    { return e.timeouts }
func (e *echo) Forget(_ *mysql.Conn, p wire.Prepared) { e.note("forget:" + p.Text) }

func (*echo) Fields(_ context.Context, _ *mysql.Conn, table string) ([]*querypb.Field, error) {
	if table == "missing" {
		return nil, mysql.NewSQLError(1146, "42S02", "Table 'missing' doesn't exist")
	}
	return []*querypb.Field{{Name: "id", Type: sqltypes.Int64}, {Name: "name", Type: sqltypes.VarChar}}, nil
}

func (e *echo) Query(_ context.Context, c *mysql.Conn, text string, multi bool, send wire.Send) (string, error) {
	rest := ""
	if multi {
		text, rest, _ = strings.Cut(text, ";")
	}
	return rest, e.answer(c, strings.TrimSpace(text), rest != "", send)
}

func (e *echo) answer(c *mysql.Conn, text string, more bool, send wire.Send) error {
	var n int
	switch {
	case text == "ok":
		return send(&sqltypes.Result{RowsAffected: 3, InsertID: 300, Info: "Rows matched: 3  Changed: 3  Warnings: 0"}, more)
	case text == "fail":
		return mysql.NewSQLError(1064, "42000", "syntax error")
	case text == "panic":
		panic("echo")
	case scan(text, "rows %d", &n), scan(text, "late %d", &n):
		if err := numbers(n, more, send); err != nil || strings.HasPrefix(text, "rows") {
			return err
		}
		return mysql.NewSQLError(1317, "70100", "Query execution was interrupted")
	}
	return send(one("secure", fmt.Sprint(c.TLSEnabled())), more)
}

func scan(text, format string, n *int) bool {
	got, _ := fmt.Sscanf(text, format, n)
	return got == 1
}

func numbers(n int, more bool, send wire.Send) error {
	fields := []*querypb.Field{{Name: "n", Type: sqltypes.Int64}, {Name: "text", Type: sqltypes.VarChar}}
	if err := send(&sqltypes.Result{Fields: fields}, more); err != nil {
		return err
	}
	for i := range n {
		row := []sqltypes.Value{sqltypes.NewInt64(int64(i)), sqltypes.NewVarChar(strings.Repeat("x", i%300))}
		if i%5 == 4 {
			row[1] = sqltypes.NULL
		}
		if err := send(&sqltypes.Result{Fields: fields, Rows: [][]sqltypes.Value{row}}, more); err != nil {
			return err
		}
	}
	return nil
}

func one(name, value string) *sqltypes.Result {
	return &sqltypes.Result{
		Fields: []*querypb.Field{{Name: name, Type: sqltypes.VarChar}},
		Rows:   [][]sqltypes.Value{{sqltypes.NewVarChar(value)}},
	}
}

func (e *echo) Prepare(_ context.Context, _ *mysql.Conn, text string) (wire.Prepared, error) {
	if text == "fail" {
		return wire.Prepared{}, mysql.NewSQLError(1064, "42000", "syntax error")
	}
	p := wire.Prepared{Text: text, Params: strings.Count(text, "?")}
	if strings.HasPrefix(text, "echo") {
		p.Fields = one("values", "").Fields
	}
	return p, nil
}

func (e *echo) Execute(_ context.Context, c *mysql.Conn, p wire.Prepared, values map[string]*querypb.BindVariable, send wire.Send) error {
	if !strings.HasPrefix(p.Text, "echo") {
		return e.answer(c, p.Text, false, send)
	}
	var all []string
	for i := range p.Params {
		v := values[fmt.Sprintf("v%d", i+1)]
		all = append(all, fmt.Sprintf("%v %s", v.Type, v.Value))
	}
	return send(one("values", strings.Join(all, "; ")), false)
}
