package mcp

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options say whom a server of tools asks, and what an answer may be at most.
type Options struct {
	Connector driver.Connector // of the account, with Timeout as the statements' own limit
	Version   string
	Rows      int           // of an answer
	Bytes     int           // of an answer's values
	Timeout   time.Duration // of a statement
}

const instructions = `This server answers SQL (MySQL's dialect) with differential privacy. Start with describe, which lists tables,
functions and budgets; name a table to see its columns and public keys. Ask for aggregates (COUNT, SUM, AVG, DP_QUANTILE ...);
rows of protected tables are never shown. Every new question on a protected table is charged to a budget that does not come
back within its window: call price first, and group by a column rather than ask once for each of its values. The same
statement again is answered from store for nothing. Values carry noise: report them with their interval.`

// New returns a server with a connection of its own, for one session.
func New(o Options) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "scrim", Title: "Scrim", Version: o.Version}, &sdk.ServerOptions{Instructions: instructions})
	c := &session{Options: o}
	sdk.AddTool(s, tool("describe", "Tables with units and states, DP functions and budgets; with a table, its columns and public keys. Free."), serve(c, c.describe))
	sdk.AddTool(s, tool("price", "What a SELECT would cost for each budget, how many such questions fit, and its expected errors. Runs nothing; free."), serve(c, c.price))
	sdk.AddTool(s, tool("query", "Run one statement that only reads. A new question on a protected table is charged; the answer tells cost, ledger entry, what is left, warnings, and 95 % intervals."), serve(c, c.query))
	sdk.AddTool(s, tool("budget", "Budgets of this account: limits, what is spent and left, and for how many questions at the default loss. Free."), serve(c, c.budget))
	return s
}

// tool describes a tool. None changes data; query spends.
func tool(name, description string) *sdk.Tool {
	closed := false
	return &sdk.Tool{Name: name, Description: description, Annotations: &sdk.ToolAnnotations{ReadOnlyHint: name != "query", DestructiveHint: &closed, OpenWorldHint: &closed}}
}

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

const (
	idleSession = 30 * time.Minute
	maxRequest  = 1 << 20 // bytes; a statement is far shorter
)

// Handler serves the protocol's streamable HTTP, a session with a connection of its own each.
//
// A request that names an Origin comes from a page in a browser and is refused: a page that had its
// name point at this address could otherwise ask here. The SDK refuses foreign names of the host on
// loopback. With a token, a request has to bear it.
func Handler(o Options, token string) http.Handler {
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return New(o) }, &sdk.StreamableHTTPOptions{
		SessionTimeout: idleSession, MaxRequestBodyBytes: maxRequest, PropagateRequestCancellation: true,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header.Values("Origin")) > 0 {
			http.Error(w, "pages in a browser may not ask here; connect from a program of its own", http.StatusForbidden)
			return
		}
		if token != "" && !bears(r, token) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "want the header Authorization: Bearer TOKEN, with the token that the operator has set", http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// bears compares the token of a request in a time that tells nothing of it.
func bears(r *http.Request, token string) bool {
	scheme, got, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
