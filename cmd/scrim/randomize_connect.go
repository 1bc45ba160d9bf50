package main

import (
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"scrim/engine/contribute"
)

// dsnVariable is the environment's variable for --dsn.
const dsnVariable = "SCRIM_DSN"

// shufflerUser logs in at a shuffler that is named by its address alone: there, the token is what
// counts.
const shufflerUser = "contributor"

// server opens the connections to the server.
func (r *randomizing) server(warn io.Writer) (*sql.DB, error) {
	c, err := r.serverConfig()
	if err != nil {
		return nil, err
	}
	return r.pool(c, "server", warn)
}

func (r *randomizing) serverConfig() (*mysql.Config, error) {
	dsn := r.dsn
	if dsn == "" {
		dsn = os.Getenv(dsnVariable)
	}
	if dsn == "" {
		return nil, fmt.Errorf("want --dsn or %s, such as contributor:password@tcp(survey.example.org:3307)/?tls=true", dsnVariable)
	}
	c, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("--dsn: %w; want USER:PASSWORD@tcp(HOST:PORT)/?tls=true", err)
	}
	return c, nil
}

// mixer opens the connections to the shuffler, which must not be the server: what reaches that
// without being mixed is not private.
func (r *randomizing) mixer(warn io.Writer) (*sql.DB, error) {
	if r.shuffler == "" {
		return nil, errors.New("this is a collection of the shuffle model; want --shuffler, the shuffler's HOST:PORT. Nothing was made or sent")
	}
	c, err := r.shufflerConfig()
	if err != nil {
		return nil, err
	}
	server, err := r.serverConfig()
	if err != nil {
		return nil, err
	}
	if sameAddress(c, server) {
		return nil, fmt.Errorf("--shuffler %s is the server's own address; a bundle that reaches the server is not private. Nothing was made or sent", c.Addr)
	}
	return r.pool(c, "shuffler", warn)
}

// sameAddress tells whether two addresses are plainly of one listener. Where they are so in another
// way, the server says that it has pinned nothing, and gets nothing.
func sameAddress(a, b *mysql.Config) bool {
	_, portA, _ := net.SplitHostPort(a.Addr)
	_, portB, _ := net.SplitHostPort(b.Addr)
	return a.Net == b.Net && (a.Addr == b.Addr || near(a) && near(b) && portA == portB && a.Net != "unix")
}

func (r *randomizing) shufflerConfig() (*mysql.Config, error) {
	if strings.ContainsAny(r.shuffler, "@/") {
		c, err := mysql.ParseDSN(r.shuffler)
		if err != nil {
			return nil, fmt.Errorf("--shuffler: %w; want HOST:PORT, or USER:PASSWORD@tcp(HOST:PORT)/?tls=true", err)
		}
		return c, nil
	}
	if _, _, err := net.SplitHostPort(r.shuffler); err != nil {
		return nil, fmt.Errorf("--shuffler: %w; want HOST:PORT", err)
	}
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr = shufflerUser, "tcp", r.shuffler
	if !near(c) {
		host, _, _ := net.SplitHostPort(r.shuffler)
		c.TLS = &tls.Config{ServerName: host}
	}
	return c, nil
}

// How long a server may be silent where the DSN does not say so.
const (
	dialTimeout = 15 * time.Second
	readTimeout = time.Minute
)

// pool opens connections by a configuration, hardened: the other side need not be honest. It can
// neither have files of this device, nor send without end.
func (r *randomizing) pool(c *mysql.Config, who string, warn io.Writer) (*sql.DB, error) {
	if err := r.secure(c, who, warn); err != nil {
		return nil, err
	}
	c.AllowAllFiles, c.MultiStatements, c.InterpolateParams = false, false, false
	c.Logger = &mysql.NopLogger{}
	c.DialFunc = contribute.LimitDial(nil, contribute.DialBytes)
	if c.Timeout == 0 {
		c.Timeout = dialTimeout
	}
	if c.ReadTimeout == 0 {
		c.ReadTimeout = readTimeout
	}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", who, err)
	}
	return sql.OpenDB(connector), nil
}

// secure sees to TLS: a connection to another machine that does not verify whom it reaches is
// refused, or with --unverified warned of.
func (r *randomizing) secure(c *mysql.Config, who string, warn io.Writer) error {
	if r.ca != "" && c.Net != "unix" {
		if err := trust(c, r.ca); err != nil {
			return err
		}
	}
	if verified(c) || near(c) {
		return nil
	}
	if !r.unverified {
		return fmt.Errorf("the connection to the %s at %s would not verify whom it reaches, so that somebody in between could show you a collection of their own, "+
			"or take your token; want tls=true in the DSN, or --tls-ca with its certificate; --unverified connects nevertheless", who, c.Addr)
	}
	fmt.Fprintf(warn, "scrim: WARNING: the connection to the %s at %s does not verify whom it reaches. Compare the fingerprint with one that was published elsewhere.\n", who, c.Addr)
	return nil
}

// verified tells whether a connection is by TLS that verifies the other side.
func verified(c *mysql.Config) bool {
	return c.TLS != nil && !c.TLS.InsecureSkipVerify && !c.AllowFallbackToPlaintext
}

// near tells whether the other side is this machine.
func near(c *mysql.Config) bool {
	if c.Net == "unix" {
		return true
	}
	host, _, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// trust has a connection verify by the certificates of a file.
func trust(c *mysql.Config, file string) error {
	pem, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("--tls-ca: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return fmt.Errorf("--tls-ca: %s has no certificate in PEM", file)
	}
	host, _, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return fmt.Errorf("--tls-ca: %w", err)
	}
	c.TLS, c.TLSConfig, c.AllowFallbackToPlaintext = &tls.Config{RootCAs: roots, ServerName: host}, "", false
	return nil
}
