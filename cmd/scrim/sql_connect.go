package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/go-sql-driver/mysql"
	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"scrim/engine"
	"scrim/engine/datadir"
)

// connect opens the connections of a shell; leave ends what they lead to.
func (a *asking) connect(ctx context.Context, s streams) (db *sql.DB, leave func() error, err error) {
	c := a.config()
	if a.raw {
		c.Params = map[string]string{"dp_raw": "ON"}
	}
	leave = func() error { return nil }
	if a.data != "" {
		if leave, err = a.serve(ctx, s, c); err != nil {
			return nil, nil, err
		}
	} else if err := a.reach(s, c); err != nil {
		return nil, nil, err
	}
	connector, err := mysql.NewConnector(c)
	if err == nil {
		db = sql.OpenDB(connector)
		err = db.PingContext(ctx)
	}
	var refused *mysql.MySQLError
	switch {
	case errors.As(err, &refused) && refused.Number == 1045:
		err = fmt.Errorf("%w; --user names the account, --password-file or %s has its password", err, clientPassword)
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("%w; no server listens there: scrim serve starts one", err)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("connecting to %s as %s: %w", c.Addr, c.User, err), leave())
	}
	return db, leave, nil
}

// serve serves the data directory on a free port of loopback, by the settings of scrim serve, and
// connects as root with a password that only this process knows, or as another account with its
// own.
func (a *asking) serve(ctx context.Context, s streams, c *mysql.Config) (leave func() error, err error) {
	if _, err := os.Stat(a.data); err != nil {
		return nil, fmt.Errorf("--data: %w; scrim import and scrim serve make a data directory", err)
	}
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	registerSettings(flags)
	for name, value := range map[string]string{"data": a.data, "listen": "127.0.0.1:0", "http": "", "log-level": "error"} {
		if err := flags.Set(name, value); err != nil {
			return nil, err
		}
	}
	l := load(flags, os.Environ())
	if err := l.err(); err != nil {
		return nil, err
	}
	l.Logger = zerolog.New(zerolog.ConsoleWriter{Out: s.err, NoColor: true}).Level(zerolog.ErrorLevel)
	srv, err := engine.Open(l.Config)
	if errors.Is(err, datadir.ErrInUse) {
		return nil, fmt.Errorf("%w; ask the server that has it: scrim sql --host HOST --port PORT --user USER", err)
	}
	if err != nil {
		return nil, err
	}
	if p := srv.RootPassword(); p != "" {
		fmt.Fprintf(s.err, "scrim: made the account root with the password %s (it is not shown again)\n", p)
	}
	if c.Net, c.Addr = "tcp", srv.Addr().String(); a.user == engine.Root {
		c.Passwd, err = srv.AdmitRoot()
	} else {
		c.Passwd, err = a.password(s)
	}
	if err != nil {
		return nil, errors.Join(err, srv.Close())
	}
	go func() { _ = srv.Serve(ctx) }()
	return srv.Close, nil
}
