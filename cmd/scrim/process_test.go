package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"scrim/test/testenv"

	"github.com/go-sql-driver/mysql"
)

// patience bounds the start and the end of a process, and every wait, on a machine that is busy.
const patience = 3 * time.Minute

// process is a running `scrim serve`, or `scrim shuffle`.
type process struct {
	cmd  *exec.Cmd
	addr string
	out  *output // standard output
	err  *output // standard error
	done chan error
}

// output collects what a process writes; it may be read meanwhile.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// waitFor waits until a text is said.
func (o *output) waitFor(t *testing.T, text string) {
	t.Helper()
	testenv.Succeeds(t, patience, text, func() error {
		if said := o.String(); !strings.Contains(said, text) {
			return errors.New(said)
		}
		return nil
	})
}

// launch serves dir on a free port with more arguments, and waits for the ready line. A server that
// ends before it is ready gives an error with what it said.
func launch(env []string, workdir, dir string, args ...string) (*process, error) {
	return begin(env, workdir, append([]string{"serve", "--data", dir, "--listen", "127.0.0.1:0", "--threads", "2"}, args...)...)
}

// begin runs the program until it says that it is ready.
func begin(env []string, workdir string, args ...string) (*process, error) {
	cmd := exec.Command(cmp.Or(*faultServer, "scrim"), args...)
	cmd.Dir = workdir
	return begun(cmd, env)
}

// begun runs a command as a process of the program.
func begun(cmd *exec.Cmd, env []string) (*process, error) {
	p := &process{cmd: cmd, out: &output{}, err: &output{}, done: make(chan error, 1)}
	p.cmd.Env, p.cmd.Stderr = env, p.err
	pipe, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	ready := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(io.TeeReader(pipe, p.out))
		for lines.Scan() {
			if addr, ok := strings.CutPrefix(lines.Text(), "scrim: ready on "); ok {
				ready <- addr
			}
		}
		p.done <- p.cmd.Wait()
	}()
	select {
	case p.addr = <-ready:
		return p, nil
	case err := <-p.done:
		return nil, fmt.Errorf("the server ended before it was ready: %v\n%s", err, p.err)
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		return nil, errors.New("the server was not ready in time")
	}
}

// stop ends the process by SIGTERM and returns how it ended: nil for exit code 0.
func (p *process) stop() error { return p.end(syscall.SIGTERM) }

// kill ends the process without a chance to tidy up.
func (p *process) kill() { _ = p.end(syscall.SIGKILL) }

func (p *process) end(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return err
	}
	select {
	case err := <-p.done:
		return err
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		return errors.New("the server did not end in time")
	}
}

// serveFor is launch for a test, with a known password of root; the process ends with the test.
func serveFor(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	p, err := launch(withPassword(), "", dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	return p
}

// connect opens one session.
func connect(addr, user, password string) (*session, error) {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.Logger = user, password, "tcp", addr, &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	conn, err := db.Conn(context.Background())
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return &session{db, conn}, nil
}

// session is one connection to a server.
type session struct {
	db   *sql.DB
	conn *sql.Conn
}

func (s *session) close() {
	_ = s.conn.Close()
	_ = s.db.Close()
}

// ask runs one statement and returns its rows as text.
func (s *session) ask(statement string) ([][]string, error) {
	rows, err := s.conn.QueryContext(context.Background(), statement)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var out [][]string
	for rows.Next() {
		cells, to := make([]sql.NullString, len(cols)), make([]any, len(cols))
		for i := range cells {
			to[i] = &cells[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		row := make([]string, len(cols))
		for i, c := range cells {
			row[i] = "NULL"
			if c.Valid {
				row[i] = c.String
			}
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// root opens a session of the DBA.
func (p *process) root(t *testing.T) *session {
	t.Helper()
	s, err := connect(p.addr, "root", rootPassword)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

// must runs statements that may not fail, and returns the last one's rows.
func (s *session) must(t *testing.T, statements ...string) (rows [][]string) {
	t.Helper()
	for _, q := range statements {
		var err error
		if rows, err = s.ask(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	return rows
}
