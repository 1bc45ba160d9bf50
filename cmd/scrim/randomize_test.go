package main

import (
	"io"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// TestHardenedConnection: whatever a DSN allows, the other side gets no files of this device and cannot send without end.
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

// TestVerifiedConnections: other machines are reached by TLS that verifies, or with --unverified and a warning.
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

// TestShufflerAddress: an address alone is reached as the contributor, other machines by TLS; the server itself is no shuffler.
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
