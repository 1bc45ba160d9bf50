// Package postgres starts a server of PostgreSQL for a test, with its own data.
package postgres

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"scrim/test/testenv"
)

// Start starts a server, whose superuser is scrim with the password "sesame", or skips the test
// where PostgreSQL is not installed. It returns its address, and the database postgres there.
func Start(t testing.TB) (addr string, db *sql.DB) {
	t.Helper()
	initdb := testenv.Program(t, "initdb", newest("initdb"))
	dir, err := os.MkdirTemp("", "scrim-postgres")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	data, secret, port := filepath.Join(dir, "data"), filepath.Join(dir, "secret"), testenv.Ports(t, 1)[0]
	if err := os.WriteFile(secret, []byte("sesame\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	as := nobody(t, dir, secret)
	create := exec.Command(initdb, "-D", data, "-U", "scrim", "-A", "scram-sha-256", "--pwfile", secret, "--no-sync", "-E", "UTF8", "--locale=C")
	create.SysProcAttr, create.Dir = as, dir
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	server := exec.Command(filepath.Join(filepath.Dir(initdb), "postgres"), "-D", data, "-F", "-k", "", "-h", "127.0.0.1", "-p", strconv.Itoa(port))
	said := &testenv.Log{}
	server.SysProcAttr, server.Dir, server.Stdout, server.Stderr = as, dir, said, said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Signal(syscall.SIGQUIT) //nolint:errcheck // its data are thrown away
		server.Wait()                          //nolint:errcheck // likewise
	})
	addr = fmt.Sprintf("127.0.0.1:%d", port)
	db, err = sql.Open("pgx", "postgres://scrim:sesame@"+addr+"/postgres?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	testenv.Succeeds(t, 30*time.Second, "PostgreSQL", func() error {
		if err := db.Ping(); err != nil {
			return fmt.Errorf("%w\n%s", err, said)
		}
		return nil
	})
	return addr, db
}

// newest is a program of the newest version that Debian's packages have put there.
func newest(name string) string {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil || len(found) == 0 {
		return name
	}
	return found[len(found)-1]
}

// nobody has programs run as another account where this process is root's, which they refuse, and
// gives it files.
func nobody(t testing.TB, files ...string) *syscall.SysProcAttr {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	account, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	uid, err1 := strconv.Atoi(account.Uid)
	gid, err2 := strconv.Atoi(account.Gid)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	for _, f := range files {
		if err := os.Chown(f, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}
