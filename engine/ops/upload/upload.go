package upload

import (
	"bufio"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"scrim/engine/ops/datadir/fileimport"
	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/sqltext"
)

// What a table's being there or not forbids.
var (
	ErrExists  = errors.New("the table exists")
	ErrMissing = errors.New("there is no such table")
)

// errEnded is why no more rows can be sent: the statement has ended.
var errEnded = errors.New("the server has ended the load")

// load is one load on its way.
type load struct {
	db            *sql.DB
	conn          *sql.Conn
	schema, table string
	o             fileimport.Options
	known         map[string]string // types of the table's columns, by name; none where it is not there
	made          bool              // the table, by this load
	columns       int
	to            *bufio.Writer // what the server reads; nil before
	pipe          *io.PipeWriter
	done          chan error // of the statement
}

// Load reads a file, and those of o.Also, into a table of the server, given as schema.table. Types
// of a new table are found out from the file, and lines that cannot be read are refused, as by
// fileimport.Load. A refusal of the server's is its *mysql.MySQLError.
func Load(ctx context.Context, db *sql.DB, file, table string, o fileimport.Options, progress func(done, total int64)) (fileimport.Result, error) {
	l := &load{db: db, o: o}
	l.schema, l.table, _ = strings.Cut(strings.ToLower(table), ".")
	var err error
	if l.conn, err = db.Conn(ctx); err != nil {
		return fileimport.Result{}, err
	}
	defer l.conn.Close()
	if err := l.look(ctx); err != nil {
		return fileimport.Result{}, err
	}
	l.o.Into = map[string]string{}
	for name, t := range l.known {
		l.o.Into[name] = fileimport.StoreType(t)
	}
	out, err := fileimport.Stream(ctx, file, l.o, func(d fileimport.Described) error { return l.start(ctx, d) }, l.send, progress)
	return out, l.end(ctx, err)
}

func (l *load) name() string { return sqltext.Name(l.schema) + "." + sqltext.Name(l.table) }

// look asks for the table's columns.
func (l *load) look(ctx context.Context) (err error) {
	rows, err := l.conn.QueryContext(ctx, "SELECT column_name, column_type FROM information_schema.columns WHERE table_schema = ? AND table_name = ?", l.schema, l.table)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	l.known = map[string]string{}
	for rows.Next() {
		var name, t string
		if err := rows.Scan(&name, &t); err != nil {
			return err
		}
		l.known[strings.ToLower(name)] = t
	}
	switch there := len(l.known) > 0; {
	case rows.Err() != nil:
		return rows.Err()
	case there && l.o.Mode == fileimport.Create:
		return ErrExists
	case !there && l.o.Mode == fileimport.Append:
		return ErrMissing
	}
	return nil
}

// start makes the table where there is none, announces the load, and sends its statement, which
// waits for rows.
func (l *load) start(ctx context.Context, d fileimport.Described) error {
	l.columns = len(d.Columns)
	into := lists.Map(d.Columns, sqltext.Name)
	if len(l.known) == 0 {
		if err := l.create(ctx, d); err != nil {
			return err
		}
	} else if err := l.fits(d.Columns); err != nil {
		return err
	}
	if err := l.announce(ctx, d.Files); err != nil {
		return err
	}
	r, w := io.Pipe()
	handler := "scrim-" + rand.Text()
	mysql.RegisterReaderHandler(handler, func() io.Reader { return struct{ io.Reader }{r} }) // the driver must not close it
	l.to, l.pipe, l.done = bufio.NewWriterSize(w, 256<<10), w, make(chan error, 1)
	go func() {
		defer mysql.DeregisterReaderHandler(handler)
		_, err := l.conn.ExecContext(ctx, "LOAD DATA LOCAL INFILE 'Reader::"+handler+"' INTO TABLE "+l.name()+" ("+sqltext.List(into)+")")
		_ = r.CloseWithError(errEnded)
		l.done <- err
	}()
	return nil
}

func (l *load) create(ctx context.Context, d fileimport.Described) error {
	columns := make([]string, len(d.Columns))
	for i, c := range d.Columns {
		columns[i] = sqltext.Name(c) + " " + fileimport.MySQLType(c, d.Types[i], l.o.Types)
	}
	for _, q := range []string{"CREATE DATABASE IF NOT EXISTS " + sqltext.Name(l.schema), "CREATE TABLE " + l.name() + " (" + sqltext.List(columns) + ")"} {
		if _, err := l.conn.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	l.made = true
	return nil
}

// fits refuses a column of the file that the table does not have.
func (l *load) fits(columns []string) error {
	for _, c := range columns {
		if _, ok := l.known[strings.ToLower(c)]; !ok {
			return fmt.Errorf("the table has no column %q; rename it in the file, or ALTER TABLE %s ADD COLUMN first", c, l.name())
		}
	}
	return nil
}

// send hands one line to the server.
func (l *load) send(line []byte) error {
	_, err := l.to.Write(line)
	return err
}

// end ends the statement, after err in reading the file, and undoes what a failed load has left.
func (l *load) end(ctx context.Context, err error) error {
	if l.done != nil {
		if err != nil {
			// The protocol has no other way to give a statement up: an end would complete it.
			_, _ = l.to.WriteString(strings.Repeat("\t", l.columns) + "\n")
		}
		_ = errors.Join(l.to.Flush(), l.pipe.Close()) // what is wrong with it, the statement tells
		if loaded := <-l.done; err == nil || errors.Is(err, errEnded) && loaded != nil {
			err = loaded
		}
	}
	if err == nil || !l.made {
		return err
	}
	if drop := l.drop(context.WithoutCancel(ctx)); drop != nil {
		return fmt.Errorf("%w\nthe table %s was made for it and may be left, without a row: DROP TABLE it, or import with --append", err, l.name())
	}
	return err
}

// A broken connection's statement may hold the table for a moment.
const (
	dropTries = 8
	dropWait  = 250 * time.Millisecond
)

// drop drops the table that the load has made.
func (l *load) drop(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*dropTries*dropWait)
	defer cancel()
	for range dropTries {
		if _, err = l.db.ExecContext(ctx, "DROP TABLE IF EXISTS "+l.name()); err == nil {
			return nil
		}
		time.Sleep(dropWait)
	}
	return err
}

// announced is the argument of dp_next_load.
type announced struct {
	Files   []announcedFile `json:"files"`
	Replace bool            `json:"replace"`
	Again   bool            `json:"again"`
}

type announcedFile struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// announce tells the server which files the next load is of. A new table has none of an earlier
// one's of its name.
func (l *load) announce(ctx context.Context, files []store.ImportedFile) error {
	a := announced{Replace: l.o.Mode == fileimport.Replace || l.made, Again: l.o.Again}
	for _, f := range files {
		a.Files = append(a.Files, announcedFile{Name: f.Name, SHA256: f.SHA256})
	}
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, err = l.conn.ExecContext(ctx, "CALL dp_next_load(?, ?)", l.schema+"."+l.table, string(text))
	return err
}
