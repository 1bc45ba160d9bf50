package wire_test

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"database/sql"
	"errors"
	"io"
	"math/big"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/vitess/go/mysql"
	driver "github.com/go-sql-driver/mysql"

	"scrim/engine/mysql/auth"
	"scrim/engine/mysql/wire"
)

// serve starts a server with the accounts native (mysql_native_password) and sha2
// (caching_sha2_password), both with the password "secret".
func serve(t *testing.T, cfg wire.Config) *wire.Listener {
	t.Helper()
	return serveWith(t, cfg, &echo{})
}

// serveWith serves with a deadline for logins that no test waits for by accident.
func serveWith(t *testing.T, cfg wire.Config, h wire.Handler) *wire.Listener {
	t.Helper()
	cfg.AuthTimeout = cmp.Or(cfg.AuthTimeout, time.Hour)
	db := mysql_db.CreateEmptyMySQLDb()
	db.SetPersister(&mysql_db.NoopPersister{})
	ed := db.Editor()
	db.AddSuperUser(ed, "native", "%", "secret")
	salt := []byte("abcdefghijklmnopqrst")
	hash, err := mysql.SerializeCachingSha2PasswordAuthString("secret", salt, mysql.DefaultCachingSha2PasswordHashIterations)
	if err != nil {
		t.Fatal(err)
	}
	ed.PutUser(&mysql_db.User{User: "sha2", Host: "%", Plugin: string(mysql.CachingSha2Password), AuthString: string(hash), PrivilegeSet: mysql_db.NewPrivilegeSet()})
	ed.PutUser(&mysql_db.User{User: "open", Host: "%", Plugin: string(mysql.MysqlNativePassword), PrivilegeSet: mysql_db.NewPrivilegeSet()})
	ed.PutUser(&mysql_db.User{User: "", Host: "%", Plugin: string(mysql.MysqlNativePassword), PrivilegeSet: mysql_db.NewPrivilegeSet()})
	ed.Close()

	raw, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	key, err := auth.NewKey(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	l := wire.NewListener(raw, cfg)
	s := wire.NewServer(l, h, auth.NewServer(db, key, nil).Login, "8.0.0-test", auth.DefaultPlugin)
	go s.Accept()
	t.Cleanup(func() { s.Close(); l.CloseConnections() })
	return l
}

func certificate(t *testing.T) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}
}

// ask logs in and returns what the server says about TLS.
func ask(t *testing.T, l *wire.Listener, user, password, tlsMode string) (string, error) {
	t.Helper()
	cfg := driver.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr = user, password, "tcp", l.Addr().String()
	cfg.TLSConfig = tlsMode
	cfg.Timeout = 5 * time.Second
	cfg.AllowNativePasswords = true
	cfg.Logger = &driver.NopLogger{}
	db, err := sql.Open("mysql", cfg.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var s string
	err = db.QueryRow("SELECT 1").Scan(&s)
	return s, err
}

func TestLogin(t *testing.T) {
	plain := serve(t, wire.Config{})
	optional := serve(t, wire.Config{TLS: certificate(t)})
	required := serve(t, wire.Config{TLS: certificate(t), RequireTLS: true})
	for _, c := range []struct {
		name           string
		l              *wire.Listener
		user, pw, mode string
		want           string // "" for a refusal
	}{
		{"native in clear", plain, "native", "secret", "false", "false"},
		{"wrong password", plain, "native", "wrong", "false", ""},
		{"no password", plain, "native", "", "false", ""},
		{"unknown user", plain, "nobody", "secret", "false", ""},
		{"account without a password", plain, "open", "", "false", ""},
		{"anonymous account", plain, "", "", "false", ""},
		{"sha2 in clear", plain, "sha2", "secret", "false", "false"},
		{"sha2 in clear, again", plain, "sha2", "secret", "false", "false"},
		{"sha2 in clear, wrong password", plain, "sha2", "wrong", "false", ""},
		{"TLS not offered", plain, "native", "secret", "skip-verify", ""},
		{"native in TLS", optional, "native", "secret", "skip-verify", "true"},
		{"native in clear where TLS is offered", optional, "native", "secret", "false", "false"},
		{"sha2 in TLS", optional, "sha2", "secret", "skip-verify", "true"},
		{"sha2 in TLS, wrong password", optional, "sha2", "wrong", "skip-verify", ""},
		{"in clear where TLS is required", required, "native", "secret", "false", ""},
		{"in TLS where it is required", required, "native", "secret", "skip-verify", "true"},
		{"sha2 in TLS where it is required", required, "sha2", "secret", "skip-verify", "true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ask(t, c.l, c.user, c.pw, c.mode)
			if c.want == "" && err == nil {
				t.Errorf("got %q, want a refusal", got)
			}
			if c.want != "" && (err != nil || got != c.want) {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// greeting connects in clear and reads the server's greeting.
func greeting(t *testing.T, l *wire.Listener) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	var h [4]byte
	if _, err := io.ReadFull(c, h[:]); err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, c, int64(h[0])|int64(h[1])<<8); err != nil {
		t.Fatal(err)
	}
	return c
}

// ended reports whether the server closes c, whatever it says before.
func ended(c net.Conn) bool {
	_, err := io.Copy(io.Discard, c)
	var timeout net.Error
	return !(errors.As(err, &timeout) && timeout.Timeout())
}

func TestLoginIsBounded(t *testing.T) {
	t.Run("idle", func(t *testing.T) {
		l := serve(t, wire.Config{AuthTimeout: 300 * time.Millisecond})
		if c := greeting(t, l); !ended(c) {
			t.Error("an idle login is not closed, want it closed after 300ms")
		}
	})
	t.Run("dripping", func(t *testing.T) {
		l := serve(t, wire.Config{AuthTimeout: 500 * time.Millisecond})
		c := greeting(t, l)
		over := make(chan struct{})
		defer close(over)
		go func() { // for longer than greeting has patience
			for _, b := range append([]byte{0xd0, 7, 0, 1}, make([]byte, 2000)...) {
				_, _ = c.Write([]byte{b})
				select {
				case <-over:
					return
				case <-time.After(100 * time.Millisecond):
				}
			}
		}()
		if !ended(c) {
			t.Error("a dripping login is not closed, want it closed after 500ms")
		}
	})
	t.Run("oversize", func(t *testing.T) {
		l := serve(t, wire.Config{AuthTimeout: time.Hour, MaxPreAuthPacket: 4096})
		c := greeting(t, l)
		if _, err := c.Write([]byte{0xfe, 0xff, 0xff, 1}); err != nil {
			t.Fatal(err)
		}
		if !ended(c) {
			t.Error("a packet announced as 16 MB was waited for")
		}
	})
	t.Run("oversize in TLS", func(t *testing.T) {
		l := serve(t, wire.Config{TLS: certificate(t), AuthTimeout: time.Hour, MaxPreAuthPacket: 4096})
		c := greeting(t, l)
		request := make([]byte, 36)
		request[0], request[3] = 32, 1
		request[4], request[5] = 0x00, 0x0a // CLIENT_PROTOCOL_41 and CLIENT_SSL
		if _, err := c.Write(request); err != nil {
			t.Fatal(err)
		}
		s := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
		if err := s.Handshake(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write([]byte{0xfe, 0xff, 0xff, 2}); err != nil {
			t.Fatal(err)
		}
		if !ended(s) {
			t.Error("a packet announced as 16 MB in TLS was waited for")
		}
	})
	t.Run("required TLS closes", func(t *testing.T) {
		l := serve(t, wire.Config{TLS: certificate(t), RequireTLS: true})
		c := greeting(t, l)
		login := make([]byte, 4+40)
		login[0], login[3] = 40, 1
		login[5] = 0x02 // CLIENT_PROTOCOL_41 without CLIENT_SSL
		if _, err := c.Write(login); err != nil {
			t.Fatal(err)
		}
		if !ended(c) {
			t.Error("a client in clear was not closed")
		}
	})
}

// TestSlots: who holds all the places to log in and says nothing makes room for who logs in.
func TestSlots(t *testing.T) {
	l := serve(t, wire.Config{MaxConnections: 10, MaxLogins: 2, AuthTimeout: time.Hour})
	a, b := greeting(t, l), greeting(t, l)
	if got, err := ask(t, l, "native", "secret", "false"); err != nil {
		t.Errorf("got %q, %v with all login slots taken", got, err)
	}
	if !ended(a) {
		t.Error("the oldest of those that say nothing is open")
	}
	b.Close()
	settled(t, l, 0)
	for range 5 { // more logins than slots, one after another: each gives its slot back
		if _, err := ask(t, l, "native", "secret", "false"); err != nil {
			t.Fatalf("login after the slots are free: %v", err)
		}
	}
}
