package shuffler

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"scrim/engine/intake"
	"scrim/internal/durable"
)

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
