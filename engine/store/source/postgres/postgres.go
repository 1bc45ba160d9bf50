// Package postgres reads databases of PostgreSQL in which lakes have their catalogues. Tables of
// such a server cannot be attached.
//
// A reading is one transaction of REPEATABLE READ, which writes nothing. The server's environment
// does not decide where it connects to, nor how.
package postgres

import (
	"context"
	"database/sql"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"scrim/engine/store/source"
)

// Kind is source.Kind of PostgreSQL.
type Kind struct{}

// reach is how long a connection may take to be made.
const reach = 10 * time.Second

// Port implements source.Kind.
func (Kind) Port() string { return "5432" }

// Promise implements source.Kind.
func (Kind) Promise() string { return "one transaction of the server" }

// Open implements source.Kind: it fails.
func (Kind) Open(context.Context, source.Endpoint) (source.Snapshot, error) {
	return nil, &source.Unfit{Cause: "tables of PostgreSQL are not read, only catalogues of lakes that it has", Remedy: "Copy the table: psql's \\copy … csv, and scrim import."}
}

// Database implements source.Databases. Tables are those of the schema public, where DuckLake makes
// them.
func (Kind) Database(ctx context.Context, at source.Endpoint, name string) (*source.Database, error) {
	c, err := config(at, name)
	if err != nil {
		return nil, err
	}
	db := stdlib.OpenDB(*c)
	db.SetMaxOpenConns(1)
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		db.Close()
		return nil, err
	}
	end := func() {
		tx.Rollback() //nolint:errcheck // nothing was written
		db.Close()
	}
	return &source.Database{Tx: tx, In: "public.", Text: "VARCHAR", Close: end,
		Tables: "SELECT table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE' AND table_schema = 'public'"}, nil
}

// config says where to connect to. What the library takes from the environment is overwritten.
func config(at source.Endpoint, database string) (*pgx.ConnConfig, error) {
	host, port, err := net.SplitHostPort(at.Address)
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, err
	}
	c, err := pgx.ParseConfig("host=127.0.0.1 sslmode=disable")
	if err != nil {
		return nil, err
	}
	c.Host, c.Port, c.User, c.Password, c.Database = host, uint16(n), at.User, at.Password, database
	c.TLSConfig, c.Fallbacks, c.ConnectTimeout = at.TLS, nil, reach
	c.RuntimeParams = map[string]string{"application_name": "scrim"}
	return c, nil
}
