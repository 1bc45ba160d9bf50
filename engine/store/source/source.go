package source

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// Kind is a kind of server whose tables can be read.
type Kind interface {
	// Open connects to a server. What the snapshot reads is what the server has committed then, or
	// later, as Promise says.
	Open(ctx context.Context, at Endpoint) (Snapshot, error)
	// Port is the port of a server whose address names none.
	Port() string
	// Promise says in a few words what of a statement is of one moment.
	Promise() string
}

// Endpoint is where a server is, and the account that reads there.
type Endpoint struct {
	Address        string // host:port
	User, Password string
	TLS            *tls.Config // nil: in the clear
}

// Snapshot is one reading of a server. It is not safe for concurrent use. When a context ends the
// call ends, and the snapshot is of no use any more.
type Snapshot interface {
	// Look looks a table up. It fails with an Unfit where the table cannot be read at all.
	Look(ctx context.Context, database, table string) (*Table, error)
	// Version returns a text that differs after any committed change of the table, and after some
	// others. It is asked before Rows, and is of that state or of an earlier one. "" says that the
	// server does not tell.
	Version(ctx context.Context, database, table string) (string, error)
	// Rows hands over the columns named of all rows, in the order of columns and in no order of
	// rows. A batch is valid until each returns. It stops at each's first error.
	Rows(ctx context.Context, database, table string, columns []Column, each func(*Batch) error) error
	Close() error
}

// Table is a table of a server as it is at one moment.
type Table struct {
	Columns []Column
	// Left are columns of types that no table here has, with the server's own types.
	Left []Column
	// Identities name the data, whatever the address is that the server is reached by.
	Identities []string
}

// Column is a column of such a table.
type Column struct {
	Name string
	Type string // the store's type
	Null bool   // a row may have no value
}

// Unfit says why a table, or a server, cannot be read. It is for a DBA, and names nothing of rows.
type Unfit struct{ Cause, Remedy string }

// Error tells the cause.
func (u *Unfit) Error() string { return u.Cause }

// Database is a transaction in a database, in which Scrim's own queries read. All of them see one
// state of it.
type Database struct {
	Tx interface {
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
	In     string // what stands before the names of tables: a schema and a dot, or nothing
	Text   string // the type of texts in a CAST
	Tables string // a query of the names of the tables, without views
	Close  func()
}

// Databases is implemented by kinds of servers that may have the catalogue of a lake.
type Databases interface {
	// Database begins a transaction in a database of a server. Whoever gets it closes it.
	Database(ctx context.Context, at Endpoint, name string) (*Database, error)
}

// Origin is what is kept of a table of another server.
type Origin struct {
	Server   string `json:"server"` // as the operator calls it
	Database string `json:"database"`
	Table    string `json:"table"`
	// Identities are those of all data that the table ever was.
	Identities []string `json:"identities"`
	// Columns are the columns that the table has here, and had there.
	Columns []Column `json:"columns"`
}

// Is reports whether data of these identities are, or were, this table, in whole or in part.
func (o *Origin) Is(identities []string) bool {
	return slices.ContainsFunc(identities, func(i string) bool { return slices.Contains(o.Identities, i) })
}

// Same reports whether data of these identities are this table, and nothing else.
func (o *Origin) Same(identities []string) bool {
	return len(identities) > 0 && !slices.ContainsFunc(identities, func(i string) bool { return !slices.Contains(o.Identities, i) })
}

// Has reports whether a table has all columns of this one as they were.
func (o *Origin) Has(t *Table) bool {
	return !slices.ContainsFunc(o.Columns, func(c Column) bool { return !slices.Contains(t.Columns, c) })
}

// BatchRows is how many rows a batch has at most.
const BatchRows = 2048

// Batch is a run of rows, column by column.
type Batch struct {
	Len     int
	Columns []Vector
}

// Vector is one column of a batch. Which of the slices has the values follows from the type:
//
//	Ints    BOOLEAN (0, 1), all integers up to 64 bits (UBIGINT by its bits), DECIMAL of up to 18
//	        digits by its digits, DATE in days and TIME, TIMESTAMP in microseconds since 1970
//	Wide    DECIMAL of more digits, by its digits
//	Floats  FLOAT, DOUBLE
//	Texts   VARCHAR, which is UTF-8, and BLOB
//
// A value that is NULL stands for nothing.
type Vector struct {
	Ints   []int64
	Wide   []Int128
	Floats []float64
	Texts  []string
	Null   []bool
}

// Int128 is an integer of 128 bits.
type Int128 struct {
	Hi int64
	Lo uint64
}

// Shape is which slice of a Vector has a column's values.
type Shape uint8

// Shapes.
const (
	Ints Shape = iota
	Wide
	Floats
	Texts
)

// NewBatch returns an empty batch with room for BatchRows rows.
func NewBatch(columns []Column) *Batch {
	b := &Batch{Columns: make([]Vector, len(columns))}
	for i, c := range columns {
		v := &b.Columns[i]
		v.Null = make([]bool, BatchRows)
		switch ShapeOf(c.Type) {
		case Ints:
			v.Ints = make([]int64, BatchRows)
		case Wide:
			v.Wide = make([]Int128, BatchRows)
		case Floats:
			v.Floats = make([]float64, BatchRows)
		case Texts:
			v.Texts = make([]string, BatchRows)
		}
	}
	return b
}

// Int128Of returns an integer that has at most 127 bits and a sign.
func Int128Of(n *big.Int) Int128 {
	hi := new(big.Int).Rsh(n, 64) // towards minus infinity
	lo := new(big.Int).Sub(n, new(big.Int).Lsh(hi, 64))
	return Int128{hi.Int64(), lo.Uint64()}
}

// errStopped ends a reading because a batch could not be handed over.
var errStopped = errors.New("source: a batch was not taken")

// Piped lets rows be read while those before are handed over. read fills the batch that it is given
// first, and gets an empty one for each full one from next, whose errors it returns; it returns the
// last one, which may be a part. Piped returns the first error of each, or else that of read.
func Piped(columns []Column, each func(*Batch) error, read func(first *Batch, next func(*Batch) (*Batch, error)) (last *Batch, err error)) (err error) {
	p := &pipe{full: make(chan *Batch), free: make(chan *Batch, 1)}
	p.free <- NewBatch(columns)
	go p.run(each)
	defer func() {
		close(p.full)
		for range p.free { // until the other side is done
		}
		switch {
		case p.panicked != nil:
			panic(p.panicked)
		case p.err != nil:
			err = p.err
		}
	}()
	last, err := read(NewBatch(columns), p.next)
	if err == nil && last.Len > 0 {
		p.full <- last
	}
	return err
}

// pipe has two batches go to and fro.
type pipe struct {
	full, free chan *Batch
	failed     atomic.Bool
	err        error // of each
	panicked   any   // in each
}

func (p *pipe) run(each func(*Batch) error) {
	defer close(p.free)
	for b := range p.full {
		if !p.failed.Load() {
			p.one(b, each)
		}
		b.Len = 0
		p.free <- b
	}
}

// one hands over a batch. A panic is the reader's: nobody else would catch it.
func (p *pipe) one(b *Batch, each func(*Batch) error) {
	defer func() {
		if p.panicked = recover(); p.panicked != nil || p.err != nil {
			p.failed.Store(true)
		}
	}()
	p.err = each(b)
}

func (p *pipe) next(b *Batch) (*Batch, error) {
	p.full <- b
	b = <-p.free
	if p.failed.Load() {
		return nil, errStopped
	}
	return b, nil
}

var decimal = regexp.MustCompile(`^DECIMAL\(([0-9]+),([0-9]+)\)$`)

// Decimal returns how many digits a DECIMAL of the store has, and how many of them are behind the
// point.
func Decimal(typ string) (digits, scale int, ok bool) {
	m := decimal.FindStringSubmatch(typ)
	if m == nil {
		return 0, 0, false
	}
	digits, _ = strconv.Atoi(m[1])
	scale, _ = strconv.Atoi(m[2])
	return digits, scale, 0 < digits && digits <= 38 && scale <= digits
}

// ShapeOf returns which slice of a Vector has the values of a type of the store.
func ShapeOf(typ string) Shape {
	switch typ {
	case "VARCHAR", "BLOB":
		return Texts
	case "FLOAT", "DOUBLE":
		return Floats
	}
	if digits, _, ok := Decimal(typ); ok && digits > 18 {
		return Wide
	}
	return Ints
}

// Server is a server that the operator has declared.
type Server struct {
	Name, Kind string
	address    string
	user       string
	secret     string // where the password is: file:PATH or env:NAME, "" for none
	tls        string // "", "off", or ca:PATH
}

// Servers are all of them, by name.
type Servers map[string]Server

// serverName is what a server may be called.
var serverName = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

// ParseServers reads declarations such as
//
//	shop=mysql://scrim@127.0.0.1:3306?password=file:/etc/scrim/shop.secret&tls=off
//
// between commas. The password is in a file that nobody but its owner may read, or in a variable
// of the environment (env:NAME), and is read anew for each connection. Connections are over TLS,
// but to this machine itself; tls=off, or tls=ca:FILE with the authority that signed, say
// otherwise.
func ParseServers(list string, kinds map[string]Kind) (Servers, error) {
	out := Servers{}
	for text := range strings.SplitSeq(list, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		s, err := parseServer(text, kinds)
		if err != nil {
			return nil, fmt.Errorf("source %q: %w", text, err)
		}
		if _, twice := out[s.Name]; twice {
			return nil, fmt.Errorf("source %q: there is another source of that name", text)
		}
		out[s.Name] = s
	}
	return out, nil
}

func parseServer(text string, kinds map[string]Kind) (s Server, err error) {
	name, address, _ := strings.Cut(text, "=")
	u, err := url.Parse(address)
	if err != nil || !serverName.MatchString(name) || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.Fragment != "" {
		return s, fmt.Errorf("a source is written as NAME=KIND://USER@HOST:PORT?password=file:PATH")
	}
	kind := kinds[u.Scheme]
	if kind == nil {
		return s, fmt.Errorf("there is no kind of server %q", u.Scheme)
	}
	if _, there := u.User.Password(); there {
		return s, fmt.Errorf("a password does not stand in an address: write password=file:PATH or password=env:NAME")
	}
	port := u.Port()
	if port == "" {
		port = kind.Port()
	}
	s = Server{Name: name, Kind: u.Scheme, address: net.JoinHostPort(u.Hostname(), port), user: u.User.Username()}
	for key, values := range u.Query() {
		v := values[len(values)-1]
		switch {
		case key == "password" && (strings.HasPrefix(v, "file:/") || strings.HasPrefix(v, "env:")):
			s.secret = v
		case key == "tls" && (v == "off" || strings.HasPrefix(v, "ca:/")):
			s.tls = v
		default:
			return s, fmt.Errorf("%s=%s is no option: they are password=file:PATH or env:NAME, and tls=off or ca:FILE", key, v)
		}
	}
	return s, nil
}

// Open connects to the server.
func (s Server) Open(ctx context.Context, kinds map[string]Kind) (Snapshot, error) {
	at, err := s.endpoint()
	if err != nil {
		return nil, err
	}
	return kinds[s.Kind].Open(ctx, at)
}

// Database begins a transaction in a database of the server.
func (s Server) Database(ctx context.Context, kinds map[string]Kind, name string) (*Database, error) {
	of, ok := kinds[s.Kind].(Databases)
	if !ok {
		return nil, &Unfit{"a server of the kind " + s.Kind + " cannot have a catalogue", "Keep it in a file of DuckDB or SQLite, or in a database of PostgreSQL, MySQL or MariaDB."}
	}
	at, err := s.endpoint()
	if err != nil {
		return nil, err
	}
	return of.Database(ctx, at, name)
}

// endpoint is where the server is, and the account.
func (s Server) endpoint() (at Endpoint, err error) {
	at = Endpoint{Address: s.address, User: s.user}
	if at.Password, err = s.password(); err == nil {
		at.TLS, err = s.transport()
	}
	return at, err
}

// password reads the password. Errors do not have it.
func (s Server) password() (string, error) {
	if name, ok := strings.CutPrefix(s.secret, "env:"); ok {
		p, there := os.LookupEnv(name)
		if !there {
			return "", fmt.Errorf("the variable %s of the environment, which has the password of source %s, is not set", name, s.Name)
		}
		return p, nil
	}
	path, ok := strings.CutPrefix(s.secret, "file:")
	if !ok {
		return "", nil
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("the file with the password of source %s: %w", s.Name, err)
	case !info.Mode().IsRegular() || info.Mode().Perm()&(fs.ModePerm&0o077) != 0:
		return "", fmt.Errorf("the file %s with the password of source %s is not a file that its owner alone may read: chmod 600", path, s.Name)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("the file with the password of source %s: %w", s.Name, err)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// transport returns how connections are encrypted.
func (s Server) transport() (*tls.Config, error) {
	host, _, err := net.SplitHostPort(s.address)
	if err != nil {
		return nil, err
	}
	path, signed := strings.CutPrefix(s.tls, "ca:")
	if s.tls == "off" || !signed && (host == "localhost" || net.ParseIP(host).IsLoopback()) {
		return nil, nil
	}
	c := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if signed {
		pem, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("the certificate of the authority of source %s: %w", s.Name, err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("the file %s has no certificate", path)
		}
	}
	return c, nil
}
