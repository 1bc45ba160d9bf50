package main

import (
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// TestHardenedConnection: whatever a DSN allows, the other side gets no files of this device and
// cannot send without end.
func TestHardenedConnection(t *testing.T) {
	c, err := mysql.ParseDSN("u:p@tcp(127.0.0.1:3307)/?allowAllFiles=true&multiStatements=true&interpolateParams=true")
	if err != nil {
		t.Fatal(err)
	}
	db, err := new(randomizing).pool(c, "server", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if c.AllowAllFiles || c.MultiStatements || c.InterpolateParams || c.DialFunc == nil || c.Timeout == 0 || c.ReadTimeout == 0 {
		t.Errorf("%+v", c)
	}
}

// TestVerifiedConnections: other machines are reached by TLS that verifies, or with --unverified
// and a warning.
func TestVerifiedConnections(t *testing.T) {
	for dsn, ok := range map[string]bool{
		"u:p@tcp(127.0.0.1:3307)/": true, "u:p@tcp([::1]:3307)/": true, "u:p@tcp(localhost:3307)/": true, "u:p@unix(/tmp/s)/": true,
		"u:p@tcp(example.org:3307)/?tls=true": true,
		"u:p@tcp(example.org:3307)/":          false, "u:p@tcp(example.org:3307)/?tls=false": false,
		"u:p@tcp(example.org:3307)/?tls=skip-verify": false, "u:p@tcp(example.org:3307)/?tls=preferred": false,
		"u:p@tcp(127.0.0.1.example.org:3307)/": false, "u:p@tcp(localhost.example.org:3307)/": false,
		"u:p@tcp(example.org:3307)/?tls=true&allowFallbackToPlaintext=true": false,
	} {
		c, err := mysql.ParseDSN(dsn)
		if err != nil {
			t.Fatal(err)
		}
		var warned strings.Builder
		if err := new(randomizing).secure(c, "server", &warned); (err == nil) != ok {
			t.Errorf("%s: %v", dsn, err)
		}
		if warned.Len() > 0 {
			t.Errorf("%s: warned of what is refused or safe: %s", dsn, warned.String())
		}
		r := randomizing{unverified: true}
		if err := r.secure(c, "server", &warned); err != nil || strings.Contains(warned.String(), "WARNING") == ok {
			t.Errorf("%s, unverified: %v, %q", dsn, err, warned.String())
		}
	}
}

// TestShufflerAddress: an address alone is reached as the contributor, other machines by TLS; the
// server itself is no shuffler.
func TestShufflerAddress(t *testing.T) {
	for shuffler, want := range map[string]string{
		"127.0.0.1:3308": "", "mix.example.net:3308": "", "someone:pw@tcp(mix.example.net:3308)/?tls=true": "",
		"": "want --shuffler", "mix": "want HOST:PORT", "127.0.0.1:3307": "server's own address", "localhost:3307": "server's own address", "x@y/z)": "--shuffler",
		"someone@tcp(mix.example.net:3308)/": "would not verify",
	} {
		r := randomizing{dsn: "u:p@tcp(127.0.0.1:3307)/", shuffler: shuffler}
		db, err := r.mixer(io.Discard)
		if want == "" && err == nil {
			_ = db.Close()
			continue
		}
		if want == "" || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", shuffler, err, want)
		}
	}
	r := randomizing{shuffler: "mix.example.net:3308"}
	if c, err := r.shufflerConfig(); err != nil || c.User != shufflerUser || c.Passwd != "" || !verified(c) {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestTokenOfTwoWallets: a token that another wallet has used is refused by the server as soon as
// the report differs, which of one bit it does every other time. The report stays charged and
// pending, until it is given up.
func TestTokenOfTwoWallets(t *testing.T) {
	p := serveFor(t, filepath.Join(t.TempDir(), "data"))
	root := p.root(t)
	root.must(t, "CREATE DATABASE survey",
		`CALL dp_create_collection('survey.commute', 'LDP_BIT', '{"epsilon":1,"lo":0,"hi":600,"n_expected":200}')`,
		"CREATE USER contributor IDENTIFIED BY 'c-pw'", "GRANT INSERT ON dp_in.* TO contributor")
	token := strings.Join(root.must(t, "CALL dp_issue_tokens('commute', 1)")[0], " ")
	root.must(t, "CALL dp_open_collection('commute')")
	dir := t.TempDir()
	scrim := func(args ...string) (string, error) {
		c := exec.Command("scrim", args...)
		c.Dir, c.Stdin = dir, strings.NewReader(token)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	report := func(wallet string) (string, error) {
		return scrim("randomize", "--dsn", fmt.Sprintf("contributor:c-pw@tcp(%s)/", p.addr), "--collection", "commute", "--token-file", "-", "--value", "300", "--wallet", wallet)
	}
	if out, err := report("mine"); err != nil {
		t.Fatal(out)
	}
	for i := range 40 { // 2^-40 that all are equal
		wallet := fmt.Sprint("other", i)
		out, err := report(wallet)
		if err == nil {
			continue
		}
		if !strings.Contains(out, "45D22") || !strings.Contains(out, "kept and charged, and was not taken") {
			t.Errorf("refused with %s", out)
		}
		for _, x := range [][2]string{{"show", "pending"}, {"abandon --collection survey.commute", "given up; it still counts as epsilon 1"}, {"show", "abandoned"}} {
			if out, err := scrim(append(append([]string{"wallet"}, strings.Fields(x[0])...), "--wallet", wallet)...); err != nil || !strings.Contains(out, x[1]) {
				t.Errorf("%s: %v, %s", x[0], err, out)
			}
		}
		if out, err := report(wallet); err != nil || !strings.Contains(out, "was given up; nobody reports twice") {
			t.Errorf("%v, %s", err, out)
		}
		if n := root.must(t, "SELECT SUM(n_received) FROM dp.collection_cells")[0][0]; n != "1" {
			t.Errorf("%s reports arrived", n)
		}
		return
	}
	t.Error("forty reports of one bit are equal, or none is refused")
}
