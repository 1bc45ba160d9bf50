package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/go-sql-driver/mysql"
	"github.com/rs/zerolog"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"scrim/engine"
	"scrim/engine/datadir"
)

// connect opens the connections of a shell; leave ends what they lead to.
func (a *asking) connect(ctx context.Context, s streams) (db *sql.DB, leave func() error, err error) {
	c := mysql.NewConfig()
	c.User, c.DBName, c.Logger, c.Timeout = a.user, a.database, &mysql.NopLogger{}, dialTimeout
	c.TLSConfig, c.AllowFallbackToPlaintext = "preferred", true
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
		err = fmt.Errorf("%w; --user names the account, --password-file or %s has its password", err, sqlPasswordVariable)
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("%w; no server listens there: scrim serve starts one", err)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("connecting to %s as %s: %w", c.Addr, c.User, err), leave())
	}
	return db, leave, nil
}

// at takes the server's place from HOST:PORT, or a socket's path.
func (a *asking) at(server string) error {
	if strings.HasPrefix(server, "/") {
		a.host = server
		return nil
	}
	host, port, err := net.SplitHostPort(server)
	if err == nil {
		a.host = host
		a.port, err = strconv.Atoi(port)
	}
	if err != nil || host == "" {
		return fmt.Errorf("--server %q: want HOST:PORT, as 127.0.0.1:3307, or the path of a socket", server)
	}
	return nil
}

// accountFlags registers whose connection it is, and how the server is known.
func (a *asking) accountFlags(f *pflag.FlagSet) {
	f.StringVarP(&a.user, "user", "u", engine.Root, "account on the server")
	f.StringVar(&a.passwordFile, "password-file", "", "file whose one line is the password")
	f.StringVar(&a.ca, "tls-ca", "", "PEM file of the certificates that the server's has to be signed by")
}

// reach says where the server is, and asks for the password.
func (a *asking) reach(s streams, c *mysql.Config) (err error) {
	if c.Net, c.Addr = "tcp", net.JoinHostPort(a.host, strconv.Itoa(a.port)); strings.HasPrefix(a.host, "/") {
		c.Net, c.Addr = "unix", a.host
	}
	if a.ca != "" {
		if err := trust(c, a.ca); err != nil {
			return err
		}
	} else if !near(c) {
		fmt.Fprintf(s.err, "scrim: WARNING: the connection to %s does not verify whom it reaches; --tls-ca FILE does\n", c.Addr)
	}
	c.Passwd, err = a.password(s)
	return err
}

// password is that of the account: of the file, of the environment, or typed.
func (a *asking) password(s streams) (string, error) {
	if a.passwordFile != "" {
		b, err := os.ReadFile(a.passwordFile)
		if err != nil {
			return "", fmt.Errorf("--password-file: %w", err)
		}
		word := strings.TrimRight(string(b), "\r\n")
		if word == "" || strings.Contains(word, "\n") {
			return "", fmt.Errorf("--password-file: %s: want one line, the password", a.passwordFile)
		}
		return word, nil
	}
	if word := os.Getenv(sqlPasswordVariable); word != "" {
		return word, nil
	}
	if s.in != os.Stdin || !term.IsTerminal(int(os.Stdin.Fd())) {
		return "", fmt.Errorf("there is no terminal to ask for the password of %s; want --password-file, or the environment variable %s", a.user, sqlPasswordVariable)
	}
	fmt.Fprintf(s.err, "Password of %s: ", a.user)
	word, err := term.ReadPassword(int(os.Stdin.Fd()))
	fmt.Fprintln(s.err)
	return string(word), err
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
