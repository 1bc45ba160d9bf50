// Package served starts a real server in this process, over a directory of its own, and asks it as
// a client does.
package served

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-sql-driver/mysql"

	"scrim/engine"
	"scrim/engine/ops/datadir/fileimport"
)

// Server is a server with two threads over a directory. It stands still until Start.
type Server struct {
	dir      string
	password string
	address  string
	stop     func() error
}

// New returns the server of a directory.
func New(dir string) *Server { return &Server{dir: dir} }

// secret is the file of the administrator's password, which a copy of the directory has too.
const secret = "password"

// know reads the password, or makes one where the directory has none.
func (s *Server) know() error {
	name := filepath.Join(s.dir, secret)
	have, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		have = []byte(rand.Text())
		err = os.WriteFile(name, have, 0o600)
	}
	s.password = string(have)
	return err
}

func (s *Server) config() engine.Config {
	c := engine.DefaultConfig(filepath.Join(s.dir, "data"))
	c.Listen, c.RootPassword, c.Threads = "127.0.0.1:0", s.password, 2
	c.ReplayMemory = 1 // nothing is asked twice
	return c
}

// Start serves the directory.
func (s *Server) Start() error {
	if err := s.know(); err != nil {
		return err
	}
	srv, err := engine.Open(s.config())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ctx) }()
	s.address = srv.Addr().String()
	s.stop = func() error {
		cancel()
		return errors.Join(<-done, srv.Close())
	}
	return nil
}

// Stop ends what Start began.
func (s *Server) Stop() error { return s.stop() }

// Declare runs statements on a server that is started for them alone.
func (s *Server) Declare(ctx context.Context, list []string) error {
	if err := s.Start(); err != nil {
		return err
	}
	return errors.Join(s.Execute(ctx, list), s.Stop())
}

// Load appends the rows of a file to a table while the server stands still.
func (s *Server) Load(ctx context.Context, file, table string) error {
	_, err := fileimport.Load(ctx, s.config().Place(), file, table, fileimport.Options{Mode: fileimport.Append}, nil)
	return err
}

// Execute runs statements as the administrator, on one connection.
func (s *Server) Execute(ctx context.Context, list []string) error {
	c, err := s.Connect(ctx, "")
	if err != nil {
		return err
	}
	defer c.Close()
	for _, text := range list {
		if _, err := c.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("served: %.200s: %w", text, err)
		}
	}
	return nil
}

// Session is one connection of a pool of its own.
type Session struct {
	*sql.Conn
	pool *sql.DB
}

// Close ends the connection.
func (s Session) Close() error { return errors.Join(s.Conn.Close(), s.pool.Close()) }

// Connect returns a connection of the administrator's.
func (s *Server) Connect(ctx context.Context, database string) (Session, error) {
	m := mysql.NewConfig()
	m.User, m.Passwd, m.Net, m.Addr, m.DBName = "root", s.password, "tcp", s.address, database
	connector, err := mysql.NewConnector(m)
	if err != nil {
		return Session{}, err
	}
	pool := sql.OpenDB(connector)
	conn, err := pool.Conn(ctx)
	if err != nil {
		return Session{}, errors.Join(err, pool.Close())
	}
	return Session{conn, pool}, nil
}

// Query returns all rows of an answer; a NULL is nil.
func (s Session) Query(ctx context.Context, text string) ([][]*string, error) {
	_, rows, err := s.Table(ctx, text)
	return rows, err
}

// Table is Query with the names of the columns.
func (s Session) Table(ctx context.Context, text string) (names []string, out [][]*string, err error) {
	rows, err := s.QueryContext(ctx, text)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	if names, err = rows.Columns(); err != nil {
		return nil, nil, err
	}
	for rows.Next() {
		row := make([]*string, len(names))
		into := make([]any, len(names))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, nil, err
		}
		out = append(out, row)
	}
	return names, out, rows.Err()
}
