package engine

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

func TestReload(t *testing.T) {
	cert, key, roots := certificateFiles(t)
	i := start(t, "", func(c *Config) { c.TLSCert, c.TLSKey, c.ContributeListen = cert, key, "127.0.0.1:0" })
	root := i.root()
	login := func(name string) error {
		if err := mysql.RegisterTLSConfig(name, &tls.Config{RootCAs: roots, ServerName: "localhost"}); err != nil {
			t.Fatal(err)
		}
		_, err := i.dial("root", rootPassword, func(c *mysql.Config) { c.TLSConfig = name })
		return err
	}
	if err := login("first"); err != nil {
		t.Fatal(err)
	}

	// Another certificate under the same names; what is wrong elsewhere keeps it out.
	other, otherKey, otherRoots := certificateFiles(t)
	for from, to := range map[string]string{other: cert, otherKey: key} {
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	next := i.cfg
	next.MaxConnections, next.AuthTimeout, next.AuditDays = -1, 2*time.Second, 7
	var p *Problem
	if err := i.Reload(next, ""); !errors.As(err, &p) || p.Field != "MaxConnections" {
		t.Errorf("got %v, want the problem of MaxConnections", err)
	}
	if err := login("still the first"); err != nil {
		t.Errorf("the certificate has changed although something was wrong: %v", err)
	}
	next.MaxConnections = 4 // one for this test's session, two from the logins above, and one more
	if err := i.Reload(next, "max-connections"); err != nil {
		t.Fatal(err)
	}
	roots = otherRoots
	if err := login("the second"); err != nil {
		t.Errorf("the new certificate is not shown: %v", err)
	}
	i.root() // the one beyond the limit
	if _, err := i.dial("root", rootPassword); err == nil || !strings.Contains(err.Error(), "Too many connections") {
		t.Errorf("got %v, want the new limit of connections", err)
	}
	// contributors over HTTPS: of five connections where there may be four the oldest is closed
	var open []*tls.Conn
	for range 5 {
		c, err := tls.DialWithDialer(&net.Dialer{Timeout: time.Minute}, "tcp", i.ContributeAddr().String(), &tls.Config{RootCAs: otherRoots, ServerName: "localhost"})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		open = append(open, c)
	}
	for n, wait := range []time.Duration{time.Minute, 20 * time.Millisecond} {
		_ = open[n].SetReadDeadline(time.Now().Add(wait))
		_, err := open[n].Read(make([]byte, 1))
		var late net.Error
		if gone := !errors.As(err, &late) || !late.Timeout(); gone != (n == 0) {
			t.Errorf("connection %d of 5 of a contributor: %v", n+1, err)
		}
	}
	if got := root.value("SELECT 1"); got != "1" {
		t.Errorf("got %s in the session that was open before", got)
	}
}
