package enginetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/go-sql-driver/mysql"
	kinds "gopkg.in/src-d/go-errors.v1"

	"scrim/engine"
)

// patience bounds one statement. None of them takes a second; a statement that hangs fails.
const patience = 2 * time.Minute

const password = "root-password"

// server is a server in this process and how to connect to it.
type server struct {
	address string
	opened  int // connections so far
}

// start serves an empty directory on loopback until the test ends.
func start(t *testing.T) *server {
	t.Helper()
	c := engine.DefaultConfig(t.TempDir())
	c.CollationServer = "utf8mb4_0900_bin" // go-mysql-server's
	c.Listen, c.RootPassword, c.Threads = "127.0.0.1:0", password, 2
	srv, err := engine.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	mode := map[string]any{"sql_mode": "NO_ENGINE_SUBSTITUTION,ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES"} // go-mysql-server's
	if err := gms.SystemVariables.AssignValues(mode); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-done, srv.Close()); err != nil {
			t.Error(err)
		}
	})
	return &server{address: srv.Addr().String()}
}

// session is one connection.
type session struct {
	pool *sql.DB
	conn *sql.Conn
}

// connect opens a connection of the administrator's with a current database, or with none.
func (s *server) connect(database string) (*session, error) {
	s.opened++
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = "root", password, "tcp", s.address, database
	c.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(connector)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return &session{pool, conn}, nil
}

func (s *session) close() { _ = errors.Join(s.conn.Close(), s.pool.Close()) }

// answer is what a statement gave.
type answer struct {
	affected, id int64    // of a statement without rows
	types        []string // the driver's names of the columns' types
	rows         [][]any  // int64, uint64, float32, float64, string (for every text) or nil
}

// exec runs a statement for its number of affected rows.
func (s *session) exec(text string) (answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := s.conn.ExecContext(ctx, text)
	if err != nil {
		return answer{}, err
	}
	n, err := r.RowsAffected()
	id, err2 := r.LastInsertId()
	return answer{affected: n, id: id}, errors.Join(err, err2)
}

// query runs a statement for its rows.
func (s *session) query(text string) (answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	rows, err := s.conn.QueryContext(ctx, text)
	if err != nil {
		return answer{}, err
	}
	defer rows.Close()
	columns, err := rows.ColumnTypes()
	if err != nil {
		return answer{}, err
	}
	var a answer
	for _, c := range columns {
		a.types = append(a.types, c.DatabaseTypeName())
	}
	for rows.Next() {
		row := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return answer{}, err
		}
		for i, v := range row {
			if b, ok := v.([]byte); ok {
				row[i] = string(b)
			}
		}
		a.rows = append(a.rows, row)
	}
	return a, rows.Err()
}

// refusal says whether an error is one of the server's refusals by name.
func refusal(err error) bool {
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		return false
	}
	return e.Number == 1235 || strings.HasPrefix(string(e.SQLState[:]), "45") && e.Number == 1644 ||
		strings.Contains(e.Message, "is not supported")
}

// missing says whether an error is that of a table that is not there.
func missing(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && e.Number == 1146
}

// internal says whether an error is the server's own fault, or not an answer of it at all.
func internal(err error) bool {
	var e *mysql.MySQLError
	return !errors.As(err, &e) || strings.Contains(strings.ToLower(e.Message), "internal error")
}

// otherNumber is the number that go-mysql-server gives an error of a kind, if it has one and the
// server's error has another.
func otherNumber(kind *kinds.Kind, err error) string {
	var e *mysql.MySQLError
	want := gms.CastSQLError(kind.New())
	if want.Num == 1105 || !errors.As(err, &e) || e.Number == uint16(want.Num) {
		return ""
	}
	return fmt.Sprintf("%d for %s", want.Num, kind.Message)
}

// describe is an error with its number and state.
func describe(err error) string {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return fmt.Sprintf("error %d (%s) %s", e.Number, e.SQLState[:], e.Message)
	}
	return "error " + err.Error()
}
