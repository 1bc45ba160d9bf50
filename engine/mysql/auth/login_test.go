package auth

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"math"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/mysql/wire"
	"scrim/test/testenv"
)

var salt = []byte("abcdefghijklmnopqrst")

// stored is how an account's password is kept for a plugin.
func stored(t *testing.T, plugin, password string) mysql_db.User {
	t.Helper()
	u := mysql_db.User{User: "ann", Host: "%", Plugin: plugin, PrivilegeSet: mysql_db.NewPrivilegeSet()}
	if plugin == wire.CachingSHA2 {
		b, err := mysql.SerializeCachingSha2PasswordAuthString(password, salt, mysql.DefaultCachingSha2PasswordHashIterations)
		if err != nil {
			t.Fatal(err)
		}
		u.AuthString = string(b)
		return u
	}
	db := mysql_db.CreateEmptyMySQLDb()
	ed := db.Editor()
	db.AddSuperUser(ed, "x", "%", password)
	ed.Close()
	rd := db.Reader()
	defer rd.Close()
	x, _ := rd.GetUser(mysql_db.UserPrimaryKey{User: "x", Host: "%"})
	u.AuthString = x.AuthString
	return u
}

func TestMatches(t *testing.T) {
	for _, plugin := range []string{wire.NativePassword, wire.CachingSHA2} {
		u := stored(t, plugin, "secret")
		for password, want := range map[string]bool{"secret": true, "Secret": false, "": false, "secret\x00": false, "secretsecret": false} {
			if got := Matches(&u, password); got != want {
				t.Errorf("%s, %q: got %v, want %v", plugin, password, got, want)
			}
		}
		nobody := nobody(plugin)
		if nobody.User != "" || Matches(&nobody, "secret") {
			t.Errorf("%s: somebody is nobody", plugin)
		}
		if plugin == wire.CachingSHA2 {
			if _, _, ok := sha2Salt(nobody.AuthString); !ok {
				t.Error("nobody's password takes no time to check")
			}
		}
	}
	for _, damaged := range []string{"", "$A$005$short", "$B$005$abcdefghijklmnopqrst0123456789012345678901234567890123456789012"} {
		if u := (mysql_db.User{Plugin: wire.CachingSHA2, AuthString: damaged}); Matches(&u, "secret") {
			t.Errorf("%q matches", damaged)
		}
	}
}

// fast is a client's response of caching_sha2_password.
func fast(password string) []byte {
	return mysql.ScrambleCachingSha2Password(salt, []byte(password))
}

func TestSeenPasswords(t *testing.T) {
	var s seen
	u := stored(t, wire.CachingSHA2, "secret")
	l := &wire.Login{Salt: salt, Response: fast("secret")}
	if s.matches(l, u) {
		t.Error("a password that nobody has shown matches")
	}
	s.add(u, "secret")
	if !s.matches(l, u) {
		t.Error("the password that was shown does not match")
	}
	if s.matches(&wire.Login{Salt: []byte("another salt, 20 byte"), Response: fast("secret")}, u) || s.matches(&wire.Login{Salt: salt, Response: fast("other")}, u) ||
		s.matches(&wire.Login{Salt: salt, Response: make([]byte, sha256.Size)}, u) || s.matches(&wire.Login{Salt: salt}, u) {
		t.Error("another response matches")
	}
	changed := u
	changed.AuthString = stored(t, wire.CachingSHA2, "new").AuthString
	if s.matches(l, changed) {
		t.Error("the old password matches after a change")
	}
	if s.matches(l, u) || len(s.by) != 0 {
		t.Error("the old password is kept after a change")
	}
}

func TestKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.pem")
	k, err := NewKey(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the key was made before anybody asked")
	}
	public, err := k.Public()
	if err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want mode 0600", fi, err)
	}
	block, _ := pem.Decode(public)
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	encrypted, err := mysql.EncryptPasswordWithPublicKey(salt, []byte("a password that is longer than the salt"), parsed.(*rsa.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	again, err := NewKey(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(again.decrypt(encrypted, salt)); got != "a password that is longer than the salt\x00" {
		t.Errorf("got %q", got)
	}
	encrypted[7] ^= 1
	random := make([]byte, 256)
	_, _ = rand.Read(random)
	other, err := rsa.EncryptOAEP(sha256.New(), rand.Reader, parsed.(*rsa.PublicKey), []byte("x"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{nil, {2}, encrypted, random, other, make([]byte, 1000)} {
		if got := again.decrypt(b, salt); got != nil {
			t.Errorf("%d bytes that nobody encrypted: got %q", len(b), got)
		}
	}
	empty, err := rsa.EncryptOAEP(sha1.New(), rand.Reader, parsed.(*rsa.PublicKey), nil, nil)
	if err != nil || len(again.decrypt(empty, salt)) != 0 {
		t.Errorf("an empty text: %v", err)
	}
	if err := os.WriteFile(path, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewKey(path); err == nil {
		t.Error("a damaged key was taken")
	}
}

// TestDecoys: a name without an account always gets the same plugin, and names are spread as
// accounts are.
func TestDecoys(t *testing.T) {
	db := mysql_db.CreateEmptyMySQLDb()
	ed := db.Editor()
	for i, plugin := range []string{wire.NativePassword, wire.NativePassword, wire.NativePassword, wire.CachingSHA2} {
		u := stored(t, plugin, "secret")
		u.User += string(rune('a' + i))
		ed.PutUser(&u)
	}
	ed.Close()
	s := NewServer(db, nil, nil)
	counts := map[string]int{}
	for i := range 4000 {
		l := &wire.Login{User: string(rune('0'+i%10)) + string(rune(0x4e00+i)), From: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}}
		u := s.account(l)
		if again := s.account(l); u.User != "" || again.Plugin != u.Plugin {
			t.Fatalf("%s: got %q and %q, want nobody twice", l.User, u.Plugin, again.Plugin)
		}
		counts[u.Plugin]++
	}
	// 1000, within seven standard deviations
	if n := counts[wire.CachingSHA2]; n < 800 || n > 1200 {
		t.Errorf("got %v, want a quarter by caching_sha2_password", counts)
	}
	if u := s.account(&wire.Login{User: "annd", From: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}}); u.User != "annd" || u.Plugin != wire.CachingSHA2 {
		t.Errorf("an account: got %+v", u)
	}
}

// TestAdmitRoot: the password is root's alone, beside nothing that is stored, and of no use to a
// root that is locked.
func TestAdmitRoot(t *testing.T) {
	db := mysql_db.CreateEmptyMySQLDb()
	db.SetPersister(&mysql_db.NoopPersister{})
	ed := db.Editor()
	db.AddSuperUser(ed, Root, RootHost, "root-pw")
	db.AddSuperUser(ed, "ann", "%", "ann-pw")
	ed.Close()
	s := NewServer(db, nil, nil)
	account := func(name string) *mysql_db.User {
		u := s.account(&wire.Login{User: name, From: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}})
		return &u
	}
	if !Matches(account(Root), "root-pw") {
		t.Fatal("root's own password is not root's")
	}
	password, err := s.AdmitRoot()
	if err != nil {
		t.Fatal(err)
	}
	if !Matches(account(Root), password) || Matches(account(Root), "root-pw") {
		t.Error("root is not admitted by the new password, or by the old one, too")
	}
	if !Matches(account("ann"), "ann-pw") || Matches(account("ann"), password) || Matches(account("bob"), password) {
		t.Error("another account is admitted by root's password")
	}
	ed = db.Editor()
	u, _ := ed.GetUser(mysql_db.UserPrimaryKey{User: Root, Host: RootHost})
	if want := native("root-pw"); u.AuthString != want {
		t.Errorf("stored is %q, want %q as before", u.AuthString, want)
	}
	u.Locked = true
	ed.PutUser(u)
	ed.Close()
	if Matches(account(Root), password) {
		t.Error("a locked root is admitted")
	}
}

// TestSameWork: a wrong password for an account, for one that was logged in to before, and for a
// name without an account take the same steps, which are counted by what they allocate, and about
// the same time.
func TestSameWork(t *testing.T) {
	for _, plugin := range []string{wire.NativePassword, wire.CachingSHA2} {
		u, nobody := stored(t, plugin, "secret"), nobody(plugin)
		s := NewServer(mysql_db.CreateEmptyMySQLDb(), nil, nil)
		l := &wire.Login{Salt: salt, Response: fast("wrong")}
		if plugin == wire.NativePassword {
			l.Response = l.Response[:20]
		}
		other := u
		other.User = "seen"
		s.seen.add(other, "secret")
		work := func(u mysql_db.User) func() {
			return func() {
				if checkNative(l, u) == nil || s.seen.matches(l, u) || Matches(&u, "wrong") {
					t.Error("a wrong password is right")
				}
			}
		}
		want := testing.AllocsPerRun(10, work(u))
		for name, x := range map[string]mysql_db.User{"seen": other, "nobody": nobody} {
			if got := testing.AllocsPerRun(10, work(x)); math.Abs(got-want) > want/100 {
				t.Errorf("%s, %s: got %v allocations, want %v as for an account", plugin, name, got, want)
			}
		}
		if plugin == wire.CachingSHA2 {
			known, unknown := fastest(t, work(u)), fastest(t, work(nobody))
			if unknown < known/2 || unknown > 2*known {
				t.Errorf("a wrong password takes %v for an account and %v for none", known, unknown)
			}
		}
	}
}

// fastest is the least processor time of several runs, which noise makes no shorter.
func fastest(t *testing.T, f func()) time.Duration {
	t.Helper()
	best := time.Hour
	for range 20 {
		best = min(best, testenv.Computes(t, f))
	}
	return best
}
