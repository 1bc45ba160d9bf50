package console

import (
	"context"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net"
	"sync"

	"github.com/go-sql-driver/mysql"
)

// account is who is logged in: two connections and no password.
type account struct {
	name string // user@host as the ledger has it
	id   int64  // of the connection that runs statements
	dbs  [2]*sql.DB
	main *sql.Conn // runs statements
	side *sql.Conn // asks meanwhile

	running, asking sync.Mutex // of main and side
}

// open logs in on behalf of a browser.
func open(ctx context.Context, o Options, user, password string, from net.Addr) (*account, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net = user, password, "within"
	cfg.Addr = "server" // for the driver's own checks; o.Dial knows where it is
	cfg.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return o.Dial(ctx, from) }
	cfg.Logger = quiet{}
	if o.Secure {
		// the other end is this process: there is nobody to verify
		cfg.TLS = &tls.Config{InsecureSkipVerify: true}
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	a := &account{}
	for i, to := range []**sql.Conn{&a.main, &a.side} {
		c, err := connector.Connect(ctx)
		if err != nil {
			a.close()
			return nil, err
		}
		a.dbs[i] = sql.OpenDB(once{take: handOver(c)})
		if *to, err = a.dbs[i].Conn(ctx); err != nil {
			a.close()
			return nil, err
		}
	}
	if err := a.main.QueryRowContext(ctx, "SELECT CONNECTION_ID(), CURRENT_USER()").Scan(&a.id, &a.name); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// close ends the connections, and with them what still runs.
func (a *account) close() {
	for _, db := range a.dbs {
		if db != nil {
			_ = db.Close()
		}
	}
}

// quiet keeps the driver from writing to standard error what is told to the browser.
type quiet struct{}

func (quiet) Print(...any) {}

// once is a connector of one connection that is open already. When that has ended there is no
// other: the password is not kept.
type once struct{ take chan driver.Conn }

var errEnded = errors.New("the connection has ended: log in again")

func handOver(c driver.Conn) chan driver.Conn {
	take := make(chan driver.Conn, 1)
	take <- c
	return take
}

// Connect implements driver.Connector.
func (o once) Connect(context.Context) (driver.Conn, error) {
	select {
	case c := <-o.take:
		return c, nil
	default:
		return nil, errEnded
	}
}

// Driver implements driver.Connector.
func (o once) Driver() driver.Driver { return mysql.MySQLDriver{} }
