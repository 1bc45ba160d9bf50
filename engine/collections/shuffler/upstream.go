package shuffler

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"scrim/internal/refuse"
)

// Part is one part of a bag, as dp_load_batch takes it.
type Part struct {
	Collection  string
	Round       int
	Stratum     string
	Cell        uint32
	Batch       uint32
	Reports     uint64
	Part, Parts int // from 1
	Sealed      []byte
}

// Upstream is the server behind the shuffler.
type Upstream interface {
	// Params returns the canonical parameters that have a fingerprint.
	Params(ctx context.Context, fingerprint [32]byte) ([]byte, error)
	// Load hands a part over; done tells that the batch is whole and stored. What the server
	// refuses is a *Rejected.
	Load(ctx context.Context, part Part) (done bool, err error)
}

// Rejected is a refusal of the server.
type Rejected struct{ State, Text string }

func (r *Rejected) Error() string { return "the server refuses (" + r.State + "): " + r.Text }

func rejected(err error) *Rejected {
	var r *Rejected
	errors.As(err, &r)
	return r
}

// forever tells whether the server will never take a batch that it has refused so.
func (r *Rejected) forever() bool {
	return r != nil && (r.State == refuse.Lookup(refuse.BatchReplay).SQLState || r.State == refuse.Lookup(refuse.BatchWindow).SQLState)
}

// server is the Upstream over the MySQL protocol.
type server struct{ db *sql.DB }

// maxText bounds what is read of parameters, and maxAnswer how long a part may take to be opened.
const (
	maxText   = 1 << 20
	maxAnswer = 10 * time.Minute
)

// Dial returns the server of a DSN of go-sql-driver, such as
// shuffler:password@tcp(127.0.0.1:3307)/. It connects when it is first asked. Statements are
// prepared at the server, so that no bag is ever a text.
func Dial(dsn string) (Upstream, error) {
	c, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, errors.New("shuffler: the upstream's DSN cannot be read; want user:password@tcp(host:port)/")
	}
	c.InterpolateParams, c.MultiStatements, c.AllowAllFiles, c.Logger = false, false, false, &mysql.NopLogger{}
	c.Timeout, c.ReadTimeout, c.WriteTimeout = 10*time.Second, maxAnswer, time.Minute
	c.TLSConfig = cmp.Or(c.TLSConfig, "preferred")
	if host, _, err := net.SplitHostPort(c.Addr); c.Net == "tcp" && (err != nil || !loopback(host)) && (c.TLSConfig == "preferred" || c.TLSConfig == "false") {
		return nil, fmt.Errorf("shuffler: the upstream %s is another machine: give its DSN ?tls=true, or who stands between could pass for it", c.Addr)
	}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("shuffler: upstream: %w", err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(2)
	db.SetConnMaxIdleTime(time.Minute)
	return &server{db}, nil
}

// Params implements Upstream.
func (u *server) Params(ctx context.Context, fingerprint [32]byte) ([]byte, error) {
	var text string
	err := u.db.QueryRowContext(ctx, "SELECT params FROM dp.collection_rounds WHERE fingerprint = ?", fingerprint[:]).Scan(&text)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, errors.New("the server has no parameters of this fingerprint; SELECT collection, round, stratum, HEX(fingerprint) FROM dp.collection_rounds tells what it has")
	case err != nil:
		return nil, outward(err)
	case len(text) > maxText:
		return nil, errors.New("the server has sent parameters that are too long")
	}
	return []byte(text), nil
}

// Load implements Upstream.
func (u *server) Load(ctx context.Context, p Part) (done bool, err error) {
	if p.Sealed == nil {
		p.Sealed = []byte{}
	}
	var state string
	err = u.db.QueryRowContext(ctx, "CALL dp_load_batch(?, ?, ?, ?, ?, ?, ?, ?, ?)",
		p.Collection, p.Round, p.Stratum, p.Cell, p.Batch, p.Reports, p.Part, p.Parts, p.Sealed).Scan(&state)
	if err != nil {
		return false, outward(err)
	}
	return state == "loaded", nil
}

// outward makes a refusal of the server's an error of this package.
func outward(err error) error {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return &Rejected{State: string(e.SQLState[:]), Text: e.Message}
	}
	return err
}

// loopback reports whether a host can be reached from this machine only.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
