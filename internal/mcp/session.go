package mcp

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// session is what one client of the protocol has: at most one connection to the database, which is
// opened at the first call, closed with the session, and used by one call after another.
type session struct {
	Options
	mu sync.Mutex
	db *sql.DB
}

// call is one call of a tool on the session's connection.
type call struct {
	*session
	conn *sql.Conn
}

// grace is how much longer than a statement a call may take: its price, intervals and cost.
const grace = 15 * time.Second

// serve makes a tool of what answers a call.
func serve[In, Out any](s *session, answer func(context.Context, *call, In) (Out, error)) sdk.ToolHandlerFor[In, Out] {
	return func(ctx context.Context, r *sdk.CallToolRequest, in In) (_ *sdk.CallToolResult, out Out, err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		ctx, end := context.WithTimeout(ctx, s.Timeout+grace)
		defer end()
		c, err := s.open(ctx, r.Session)
		if err != nil {
			return nil, out, told(err)
		}
		defer c.conn.Close()
		out, err = answer(ctx, c, in)
		return nil, out, told(err)
	}
}

// open takes the session's connection, and a new one where it has ended.
func (s *session) open(ctx context.Context, of *sdk.ServerSession) (*call, error) {
	if s.db == nil {
		s.db = sql.OpenDB(s.Connector)
		s.db.SetMaxOpenConns(1)
		go func(db *sql.DB) {
			_ = of.Wait()
			_ = db.Close()
		}(s.db)
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	c := &call{session: s, conn: conn}
	if err := Admit(ctx, conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

// querier is a connection or several.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Admit returns an error for a connection of a DBA: a model is not to hold what can change policies
// and budgets.
func Admit(ctx context.Context, q querier) error {
	var account string
	var dba bool
	err := q.QueryRowContext(ctx, "SELECT CURRENT_USER(), COALESCE((SELECT MAX(is_dba = 'yes') FROM dp.accounts WHERE account = CURRENT_USER()), 0)").Scan(&account, &dba)
	if err == nil && dba {
		err = fmt.Errorf("%s is an account of a DBA, which could change policies and budgets. Have a DBA make one that can only read: "+
			"CREATE USER 'agent'@'%%' IDENTIFIED BY '…'; GRANT SELECT ON shop.* TO 'agent'@'%%'; CALL dp_set_budget('shop.orders', 'agent@%%', 1, 1e-7, 'month')", account)
	}
	return err
}
