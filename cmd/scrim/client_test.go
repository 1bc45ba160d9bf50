package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"scrim/test/testenv"
)

// mariadb is the command-line client with the account that it uses.
type mariadb struct {
	t              *testing.T
	path           string
	addr           string
	user, password string
	flags          []string
}

// newClient returns the client for root without TLS.
func newClient(t *testing.T, p *process) *mariadb {
	t.Helper()
	c := &mariadb{t: t, path: clientPath(t), user: "root", password: rootPassword, flags: []string{"--skip-ssl"}}
	if p != nil {
		c.addr = p.addr
	}
	return c
}

// clientPath finds MariaDB's client; Oracle's spells the options of TLS otherwise.
func clientPath(t *testing.T) string {
	t.Helper()
	path := testenv.Program(t, "mariadb", "mysql")
	if v, err := exec.Command(path, "--version").Output(); err != nil || !strings.Contains(string(v), "MariaDB") {
		testenv.Skip(t, "%s is not MariaDB's client", path)
	}
	return path
}

// try sends the statements in one session and returns what the client wrote.
func (c *mariadb) try(input string, flags ...string) (out, errs string, err error) {
	host, port, splitErr := net.SplitHostPort(c.addr)
	if splitErr != nil {
		c.t.Fatal(splitErr)
	}
	args := append([]string{"--no-defaults", "-h", host, "-P", port, "--protocol=TCP", "-u", c.user, "--default-character-set=utf8mb4"}, c.flags...)
	cmd := exec.Command(c.path, append(args, flags...)...)
	cmd.Env = append(os.Environ(), "MYSQL_PWD="+c.password)
	cmd.Stdin = strings.NewReader(input)
	var o, e strings.Builder
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	return o.String(), e.String(), err
}

func (c *mariadb) must(input string, flags ...string) string {
	c.t.Helper()
	out, errs, err := c.try(input, flags...)
	if err != nil {
		c.t.Fatalf("%s: %v: %s", input, err, errs)
	}
	return out
}

const clientSetup = `
CREATE DATABASE shop;
USE shop;
CREATE TABLE orders (id INT PRIMARY KEY, who INT NOT NULL, region VARCHAR(20), amount DOUBLE);
INSERT INTO orders VALUES (1, 10, 'Süd', 1.25), (2, 11, '北', 2.5), (3, 12, 'Zoë', NULL);
CREATE TABLE regions (name VARCHAR(20) PRIMARY KEY, share DOUBLE);
INSERT INTO regions VALUES ('Süd', 0.125), ('北', 1e-7), ('🎭', 1234567.5);
CALL dp_public('regions');
CALL dp_protect('orders', 'who', 'customer');
CALL dp_set_budget('orders', '*', 20, 1e-6, 'never');
`

func TestClient(t *testing.T) {
	clientPath(t)
	p := serveFor(t, filepath.Join(t.TempDir(), "data"))
	c := newClient(t, p)
	c.must(clientSetup)
	spent := func() float64 {
		return number(t, strings.TrimSpace(c.must("SELECT spent_rho FROM dp.budgets WHERE account = 'shop.orders'", "-N")))
	}

	t.Run("hints need --comments", func(t *testing.T) {
		cost := func(n string, flags ...string) float64 {
			before := spent()
			c.must("SELECT /*+ SET_VAR(dp_epsilon=0.01) */ COUNT(*) FROM shop.orders WHERE id < "+n, flags...)
			return spent() - before
		}
		with, without := cost("100", "--comments"), cost("101", "--skip-comments")
		if with <= 0 || without < 100*with {
			t.Errorf("cost %v with the hint and %v where the client strips it; ε = 0.01 should cost far less than the default", with, without)
		}
		if got := c.must("SELECT statement FROM dp.ledger WHERE entry = 'charge'", "-N"); strings.Count(got, "SET_VAR") != 2 {
			t.Errorf("ledger: %s; want the hint once for the table and once for the entity", got)
		}
	})

	t.Run("doubles keep their digits", func(t *testing.T) {
		out := c.must("SELECT share, share * 2 AS twice FROM shop.regions ORDER BY share DESC", "-t")
		var got []float64
		for _, cell := range regexp.MustCompile(`[-+.0-9e]*\d[-+.0-9e]*`).FindAllString(out, -1) {
			got = append(got, number(t, cell))
		}
		if want := []float64{1234567.5, 2469135, 0.125, 0.25, 1e-7, 2e-7}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v, from\n%s", got, want, out)
		}
		// The noise of a private mean or total is fine: a whole number would be chance.
		whole := regexp.MustCompile(`^-?\d+$`)
		answers, rounded := 0, 0
		for _, n := range []string{"200", "201", "202", "203", "204", "205"} {
			got := strings.TrimSpace(c.must("SELECT DP_SUM(amount, 'epsilon=0.5') + 0.0 FROM shop.orders WHERE id < "+n, "-N", "--comments"))
			if got == "NULL" {
				continue
			}
			if answers++; whole.MatchString(got) {
				rounded++
			}
		}
		if answers > 0 && rounded == answers {
			t.Errorf("all of %d totals are whole numbers", answers)
		}
	})

	t.Run("errors carry number, state and remedy", func(t *testing.T) {
		for _, e := range []struct{ query, want string }{
			{"SELECT * FROM shop.orders", `(?m)^ERROR 1644 \(45002\) at line 1: .+SELECT COUNT`},
			{"SELECT GROUP_CONCAT(amount) FROM shop.orders", `(?m)^ERROR 1644 \(45005\) at line 1: .+GROUP BY`},
			{"SELECT /*+ SET_VAR(dp_epsilon=-1) */ COUNT(*) FROM shop.orders", `(?m)^ERROR 1644 \(45007\)`},
			{"SELECT nothing FROM shop.regions", `(?m)^ERROR 1054 \(42S22\)`},
			{"SELECT * FROM shop.nowhere", `(?m)^ERROR 1146 \(42S02\)`},
			{"SELEC 1", `(?m)^ERROR 1064 \(42000\)`},
			{"INSERT INTO shop.regions VALUES ('北', 1)", `(?m)^ERROR 1062 \(23000\)`},
		} {
			_, errs, err := c.try(e.query, "--comments")
			if err == nil || !regexp.MustCompile(e.want).MatchString(errs) {
				t.Errorf("%s: got %v, %q, want %s", e.query, err, errs, e.want)
			}
		}
		// A session goes on after an error.
		if out, _, _ := c.try("SELECT * FROM shop.orders; SELECT 'still here';", "-f", "-N"); !strings.Contains(out, "still here") {
			t.Errorf("after an error: %q", out)
		}
	})

	t.Run("the client's own questions", func(t *testing.T) {
		out := c.must("\\s\nSHOW DATABASES; USE shop; SHOW TABLES; SHOW CREATE TABLE orders; DESCRIBE orders; SHOW WARNINGS; SHOW VARIABLES LIKE 'version%'; SELECT 'end' AS x;", "-t")
		for _, want := range []string{"Server version:", "8.0.", "utf8mb4", "information_schema", "orders", "regions", "PRIMARY KEY", "| end"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
	})

	t.Run("text of all the world", func(t *testing.T) {
		if got := c.must("SELECT name FROM shop.regions WHERE name IN ('北', '🎭', 'Süd') ORDER BY share", "-N"); got != "北\nSüd\n🎭\n" {
			t.Errorf("got %q", got)
		}
		if got := c.must("SELECT 'naïve 北 🎭' AS `größe`"); got != "größe\nnaïve 北 🎭\n" {
			t.Errorf("got %q", got)
		}
		c.must("CALL dp_set_domain('shop.orders', 'region', '[\"北\",\"Süd\"]')")
		if got := c.must("SELECT region, COUNT(*) AS n FROM shop.orders GROUP BY region ORDER BY region", "-N"); !regexp.MustCompile(`^Süd\t(\d+|NULL)\n北\t(\d+|NULL)\n$`).MatchString(got) {
			t.Errorf("got %q", got)
		}
	})

	t.Run("accounts", func(t *testing.T) {
		for _, who := range []struct{ user, password string }{{"root", "wrong"}, {"root", ""}, {"nobody", "x"}, {"", ""}} {
			a := newClient(t, p)
			a.user, a.password = who.user, who.password
			if who.user == "" {
				a.user = "''"
			}
			if _, errs, err := a.try("SELECT 1"); err == nil || !strings.Contains(errs, "ERROR 1045 (28000)") {
				t.Errorf("%q with %q: %v, %q, want to be refused", who.user, who.password, err, errs)
			}
		}
	})
}

func TestClientWithTLS(t *testing.T) {
	clientPath(t)
	dir := t.TempDir()
	cert, key := selfSigned(t, dir)
	withTLS := []string{"--ssl", "--ssl-ca=" + cert}

	p := serveFor(t, filepath.Join(dir, "data"), "--tls-cert", cert, "--tls-key", key)
	c := newClient(t, p)
	if got := c.must("SELECT 'plain'", "-N"); got != "plain\n" {
		t.Errorf("plain where TLS is offered: %q", got)
	}
	c.flags = withTLS
	if got := c.must("\\s\nSELECT 'secret'"); !regexp.MustCompile(`SSL:\s+Cipher in use`).MatchString(got) || !strings.Contains(got, "secret") {
		t.Errorf("with TLS: %q", got)
	}
	if err := p.stop(); err != nil {
		t.Error(err)
	}

	p = serveFor(t, filepath.Join(dir, "data"), "--tls-cert", cert, "--tls-key", key, "--require-tls")
	c = newClient(t, p)
	if out, errs, err := c.try("SELECT 'plain'"); err == nil {
		t.Errorf("plain where TLS is required: %q, %q", out, errs)
	}
	c.flags = withTLS
	if got := c.must("SELECT 'secret'", "-N"); got != "secret\n" {
		t.Errorf("with TLS where it is required: %q", got)
	}
	wirePlainIsClosed(t, p.addr)
}

// wirePlainIsClosed logs in by hand without asking for TLS and wants the connection closed, with
// nothing to say about the account.
func wirePlainIsClosed(t *testing.T, addr string) {
	t.Helper()
	if s, err := connect(addr, "root", rootPassword); err == nil {
		s.close()
		t.Error("the driver logged in without TLS where it is required")
	} else if strings.Contains(err.Error(), "1045") {
		t.Errorf("the server looked at the password without TLS: %v", err)
	}
}

// selfSigned makes a certificate for the loopback address.
func selfSigned(t *testing.T, dir string) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "127.0.0.1"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", secret)
}
