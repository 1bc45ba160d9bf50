package shuffler

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/rs/zerolog"

	"scrim/engine/collections/intake"
	"scrim/engine/mysql/wire"
	"scrim/internal/durable"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/internal/release"
	"scrim/internal/selfsigned"
)

// version is what the shuffler calls itself to clients: some want a number of MySQL's.
const version = "8.0.36-scrim-shuffler-" + release.Version

// maxPacket bounds a statement: a bundle, in hex, with room.
const maxPacket = 16 << 20

// Server is a shuffler that listens.
type Server struct {
	*Shuffler
	config   Config
	listener *wire.Listener
	wire     *wire.Server
	intake   *intake.Server // nil without one
}

// Listen opens the data directory, pins what the configuration names, and listens. Serve answers
// clients.
func Listen(ctx context.Context, c Config) (*Server, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	upstream, err := Dial(c.Upstream)
	if err != nil {
		return nil, err
	}
	s, err := Start(c.DataDir, Options{Upstream: upstream, When: c.When, At: c.CloseAt, Logger: c.Logger})
	if err != nil {
		return nil, err
	}
	server := &Server{Shuffler: s, config: c}
	if err := server.open(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return server, nil
}

func (s *Server) open(ctx context.Context) error {
	for _, text := range s.config.Pins {
		name, fingerprint, err := ParsePin(text)
		if err != nil {
			return err
		}
		if _, err := s.Pin(ctx, name, fingerprint); err != nil {
			return fmt.Errorf("--pin %s: %w", name, err)
		}
	}
	password, err := operatorPassword(s.config)
	if err != nil {
		return err
	}
	tls, err := certificate(s.config)
	if err != nil {
		return err
	}
	inner, err := net.Listen("tcp", s.config.Listen)
	if err != nil {
		return fmt.Errorf("shuffler: %w", err)
	}
	if s.intake, err = listenContributors(s.Shuffler, s.config, tls); err != nil {
		return errors.Join(err, inner.Close())
	}
	s.listener = wire.NewListener(inner, wire.Config{
		TLS: tls, RequireTLS: s.config.RequireTLS, MaxConnections: s.config.MaxConnections, AuthTimeout: s.config.AuthTimeout, MaxPacket: maxPacket,
	})
	accounts := newLogins(map[string]secret{Contributor: newSecret(s.config.ContributorPassword), Operator: newSecret(password)}, s.log)
	s.wire = wire.NewServer(s.listener, &handler{shuffler: s.Shuffler, log: s.log, open: s.listener.Connections}, accounts.login, version, wire.CachingSHA2)
	return durable.Replace(filepath.Join(s.config.DataDir, FileAddress), 0o600, durable.Bytes([]byte(s.Addr().String()+"\n")))
}

// Addr is the address that the server listens on.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// ContributeAddr is the address of contributors over HTTPS; nil without one.
func (s *Server) ContributeAddr() net.Addr { return s.intake.Addr() }

// Pinned names what is pinned, for the operator to compare.
func (s *Server) Pinned() (list []string) {
	return lists.Map(s.pinned(), func(p *pin) string { return Describe(p.params) })
}

// Serve answers clients until ctx ends, and then those under way. Statements that take long have
// some seconds.
func (s *Server) Serve(ctx context.Context) error {
	go s.wire.Accept()
	go s.intake.Serve()
	<-ctx.Done()
	return s.Close()
}

// Close stops listening, ends connections and closes the store.
func (s *Server) Close() error {
	s.wire.Close()
	s.intake.Close()
	err := s.Shuffler.Close() // answers those who wait
	time.Sleep(50 * time.Millisecond)
	s.listener.CloseConnections()
	return errors.Join(err, durable.Remove(filepath.Join(s.config.DataDir, FileAddress)))
}

// The shuffler's own certificate, in its data directory, for who gives none. A contributor who
// would know the shuffler by it takes the file as the authority to trust.
const (
	fileCertificate = "server-cert.pem"
	fileKey         = "server-key.pem"
)

// certificate loads the operator's certificate, or the shuffler's own, which it makes where there
// is none.
func certificate(c Config) (*tls.Config, error) {
	certFile, keyFile := c.TLSCert, c.TLSKey
	if certFile == "" {
		certFile, keyFile = filepath.Join(c.DataDir, fileCertificate), filepath.Join(c.DataDir, fileKey)
		if err := selfsigned.Make(certFile, keyFile, "Scrim shuffler", c.Listen); err != nil {
			return nil, fmt.Errorf("shuffler: TLS certificate: %w", err)
		}
	}
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil && c.TLSCert == "" {
		return nil, fmt.Errorf("shuffler: TLS certificate: %w; remove %s and %s, and others are made", err, certFile, keyFile)
	}
	if err != nil {
		return nil, fmt.Errorf("shuffler: TLS certificate: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// Config is what a serving shuffler is made of.
type Config struct {
	DataDir        string
	Listen         string // loopback by default
	TLSCert        string // PEM files; the shuffler makes its own without
	TLSKey         string
	RequireTLS     bool
	MaxConnections int
	AuthTimeout    time.Duration

	// ContributeListen is the TCP address of contributors over HTTPS; "" for none.
	// ContributeOrigins lists the origins whose pages may send bundles from browsers; "*" for all.
	ContributeListen, ContributeOrigins string

	ContributorPassword string // "": none
	OperatorPassword    string // "": one is made at the first start, and kept in the data directory

	Upstream string   // DSN of the server
	Pins     []string // NAME:FINGERPRINT
	When     When
	CloseAt  time.Time
	Logger   zerolog.Logger
}

// DefaultConfig returns the defaults.
func DefaultConfig() Config {
	return Config{Listen: "127.0.0.1:3308", MaxConnections: 1024, AuthTimeout: 10 * time.Second, When: AtMax, Logger: zerolog.Nop()}
}

// Validate reports every problem at once.
func (c Config) Validate() error {
	var problems []error
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if c.DataDir == "" {
		bad("the data directory is missing: give --data")
	}
	if host, _, err := net.SplitHostPort(c.Listen); err != nil {
		bad("address to listen on %q: %w", c.Listen, err)
	} else if !loopback(host) && !c.RequireTLS {
		bad("address to listen on %q: tokens would cross the network in clear: add --require-tls, or listen on a loopback address such as 127.0.0.1:3308", c.Listen)
	}
	if _, _, err := net.SplitHostPort(c.ContributeListen); c.ContributeListen != "" && err != nil {
		bad("address for contributors %q: %w", c.ContributeListen, err)
	}
	if _, err := intake.ParseOrigins(c.ContributeOrigins); err != nil {
		bad("origins of contributors' pages: %w", err)
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		bad("a TLS certificate and its key belong together: give both or none")
	}
	if c.Upstream == "" {
		bad("the server behind is missing: give --upstream 'mixer:password@tcp(host:port)/'")
	} else if _, err := Dial(c.Upstream); err != nil {
		bad("%w", err)
	}
	for _, p := range c.Pins {
		if _, _, err := ParsePin(p); err != nil {
			bad("%w", err)
		}
	}
	if c.When != AtMax && c.When != AtExpected && c.When != AtMin {
		bad("close-when %q: want max, expected or min", c.When)
	}
	if c.MaxConnections < 1 || c.AuthTimeout <= 0 {
		bad("max-connections and login-timeout have to be positive")
	}
	return errors.Join(problems...)
}

// Files of the data directory that the operator's commands read.
const (
	FilePassword = "operator"
	FileAddress  = "address"
)

// operatorPassword returns the password of the operator's account, which the first start makes.
func operatorPassword(c Config) (string, error) {
	path := filepath.Join(c.DataDir, FilePassword)
	if c.OperatorPassword != "" {
		return c.OperatorPassword, nil
	}
	b, err := os.ReadFile(path)
	if err == nil {
		if p := strings.TrimSpace(string(b)); p != "" {
			return p, nil
		}
		return "", fmt.Errorf("shuffler: %s is empty; remove it, and another password is made", path)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	random := make([]byte, 18)
	rand.Read(random) // never fails: it ends the program instead
	password := base64.RawURLEncoding.EncodeToString(random)
	return password, durable.Replace(path, 0o600, durable.Bytes([]byte(password+"\n")))
}

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
