package engine

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"scrim/test/testenv"
)

// mariadb starts a MariaDB server of the test's own, on a socket in a directory of the test, and
// connects to it. No port is opened and no service of the machine is touched.
func mariadb(t *testing.T) *client {
	t.Helper()
	c, _ := mariadbWith(t, "--skip-networking", "--skip-grant-tables", "--skip-log-bin", "--collation-server=utf8mb4_nopad_bin")
	return c
}

// mariadbWith is mariadb with options. It returns the server's process, too.
// byBytes has a server compare texts as the one that mariadb starts.
func byBytes(c *Config) { c.CollationServer = "utf8mb4_0900_bin" }

func mariadbWith(t *testing.T, options ...string) (*client, *os.Process) {
	t.Helper()
	install := testenv.Program(t, "mariadb-install-db")
	daemon, err := exec.LookPath("mariadbd")
	if err != nil {
		daemon = testenv.Program(t, "mysqld", "/usr/sbin/mariadbd")
	}
	// A socket's path is short: the test's directory may be too deep.
	dir, err := os.MkdirTemp("", "scrim-mariadb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	data, socket := filepath.Join(dir, "data"), filepath.Join(dir, "sock")
	as := []string{"--no-defaults", "--datadir=" + data, "--tmpdir=" + dir} // servers that share one remove each other's files
	if os.Getuid() == 0 {
		as = append(as, "--user=root") // otherwise a MariaDB that root starts refuses
	}
	if out, err := exec.Command(install, append(as, "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")...).CombinedOutput(); err != nil {
		t.Fatalf("mariadb-install-db: %v\n%s", err, out)
	}
	as = append(as, "--socket="+socket, "--pid-file="+filepath.Join(dir, "pid"), "--innodb-buffer-pool-size=16M", "--innodb-flush-log-at-trx-commit=0", "--character-set-server=utf8mb4", "--default-time-zone=+00:00")
	server := exec.Command(daemon, append(as, options...)...)
	log := &buffer{}
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill() // its data are thrown away
		server.Wait()
	})
	return mariadbSession(t, socket, log), server.Process
}

// mariadbSession connects to the MariaDB server on a socket, as soon as it listens.
func mariadbSession(t *testing.T, socket string, log fmt.Stringer) *client {
	t.Helper()
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.Logger, cfg.Collation = "root", "unix", socket, &mysql.NopLogger{}, "utf8mb4_nopad_bin"
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	var conn *sql.Conn
	testenv.Succeeds(t, time.Minute, "MariaDB", func() (err error) {
		if conn, err = db.Conn(context.Background()); err != nil {
			err = fmt.Errorf("%w\n%s", err, log.String())
		}
		return err
	})
	t.Cleanup(func() { conn.Close() })
	c := &client{t, conn}
	c.exec("SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin") // whose number the handshake has no room for
	return c
}
