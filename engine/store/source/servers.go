package source

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"regexp"
	"strings"
)

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
