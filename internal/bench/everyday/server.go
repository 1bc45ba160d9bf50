package everyday

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-sql-driver/mysql"

	"scrim/engine"
	"scrim/engine/datadir/fileimport"
	"scrim/engine/estimator"
)

// database is the one whose tables have a relation.
func database(r estimator.Relation) string {
	if r == estimator.ReplaceOne {
		return "replace_one"
	}
	return "add_remove"
}

// server is a running server with the tables in a database for each relation.
type server struct {
	dir      string
	password string
	address  string
	stop     func() error
}

// start loads tables into a new directory under dir and serves it.
func start(ctx context.Context, dir, data string, tables []*Table, asked []estimator.Relation) (*server, error) {
	s := &server{dir: dir, password: rand.Text()}
	if err := s.declare(ctx, tables, asked); err != nil {
		return nil, err
	}
	for _, t := range tables {
		file := filepath.Join(dir, t.Name+".csv")
		if err := writeTo(file, data, t); err != nil {
			return nil, fmt.Errorf("everyday: table %s: %w", t.Name, err)
		}
		for _, r := range asked {
			if _, err := fileimport.Load(ctx, s.config().Place(), file, database(r)+"."+t.Name, fileimport.Append, nil, nil); err != nil {
				return nil, err
			}
		}
		if err := os.Remove(file); err != nil {
			return nil, err
		}
	}
	if err := s.serve(); err != nil {
		return nil, err
	}
	if err := s.protect(ctx, tables, asked); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func writeTo(file, data string, t *Table) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(t.write(data, f), f.Close())
}

func (s *server) config() engine.Config {
	c := engine.DefaultConfig(filepath.Join(s.dir, "data"))
	c.Listen, c.RootPassword, c.Threads = "127.0.0.1:0", s.password, 2
	c.ReplayMemory = 1 // nothing is asked twice
	return c
}

func (s *server) serve() error {
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

// declare makes the tables, while the server runs for that alone.
func (s *server) declare(ctx context.Context, tables []*Table, asked []estimator.Relation) error {
	if err := s.serve(); err != nil {
		return err
	}
	var list []string
	for _, r := range asked {
		list = append(list, "CREATE DATABASE "+database(r))
		for _, t := range tables {
			list = append(list, "CREATE TABLE "+database(r)+"."+t.Name+" ("+t.Columns+")")
		}
	}
	return errors.Join(s.execute(ctx, list), s.stop())
}

// protect declares persons, keys and budgets. Budgets are without end: the bench is about answers.
func (s *server) protect(ctx context.Context, tables []*Table, asked []estimator.Relation) error {
	var list []string
	for _, r := range asked {
		db := database(r)
		list = append(list, "USE "+db)
		for _, t := range slices.Backward(tables) { // public ones come last, and domains name them
			if t.Unit == "" {
				list = append(list, fmt.Sprintf("CALL dp_public('%s.%s')", db, t.Name))
			}
		}
		for _, t := range tables {
			if t.Unit == "" {
				continue
			}
			name := db + "." + t.Name
			list = append(list, fmt.Sprintf("CALL dp_protect('%s', '%s', '%s_%s')", name, t.Unit, db, t.Name),
				fmt.Sprintf("CALL dp_set_neighbours('%s', '%v')", name, r),
				fmt.Sprintf("CALL dp_set_budget('%s', '*', 'rho=100000', 0.9, 'never')", name))
			if t.Defaults != "" {
				list = append(list, fmt.Sprintf("CALL dp_set_defaults('%s', '%s')", name, t.Defaults))
			}
			for _, d := range t.Domains {
				list = append(list, fmt.Sprintf("CALL dp_set_domain('%s', '%s', '%s')", name, d[0], d[1]))
			}
		}
	}
	return s.execute(ctx, list)
}

func (s *server) execute(ctx context.Context, list []string) error {
	c, err := s.connect(ctx, "")
	if err != nil {
		return err
	}
	defer c.Close()
	for _, text := range list {
		if _, err := c.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("everyday: %.200s: %w", text, err)
		}
	}
	return nil
}

// session is one connection of a pool of its own.
type session struct {
	*sql.Conn
	pool *sql.DB
}

// Close ends the connection.
func (s session) Close() error { return errors.Join(s.Conn.Close(), s.pool.Close()) }

func (s *server) connect(ctx context.Context, database string) (session, error) {
	m := mysql.NewConfig()
	m.User, m.Passwd, m.Net, m.Addr, m.DBName = "root", s.password, "tcp", s.address, database
	connector, err := mysql.NewConnector(m)
	if err != nil {
		return session{}, err
	}
	pool := sql.OpenDB(connector)
	conn, err := pool.Conn(ctx)
	if err != nil {
		return session{}, errors.Join(err, pool.Close())
	}
	return session{conn, pool}, nil
}

// query returns all rows of an answer; a NULL is nil.
func (s session) query(ctx context.Context, text string) ([][]*string, error) {
	rows, err := s.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var out [][]*string
	for rows.Next() {
		row := make([]*string, len(names))
		into := make([]any, len(names))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, rows.Err()
}
