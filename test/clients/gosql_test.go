package clients

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// be plays a client that is part of this binary.
func be(name string) int {
	switch name {
	case "go-sql-driver":
		return goSQLDriver()
	case "go-sql-driver version":
		return goSQLDriverVersion()
	}
	fmt.Println("no such client:", name)
	return 2
}

func goSQLDriverVersion() int {
	cmd := exec.Command("go", "list", "-m", "github.com/go-sql-driver/mysql")
	cmd.Dir = os.Getenv("SCRIM_MODULE")
	b, err := cmd.CombinedOutput()
	fmt.Print(strings.TrimPrefix(string(b), "github.com/"))
	if err != nil {
		return 1
	}
	return 0
}

// say prints one check's line.
func say(name string, value any, err error) {
	if err != nil {
		value = "failed: " + err.Error()
	}
	b, err := json.Marshal(value)
	if err != nil {
		b, _ = json.Marshal("failed: " + err.Error())
	}
	fmt.Printf("%s\t%s\n", name, b)
}

// open returns connections of an account, by the variable that names it, over TLS where a
// configuration is given.
func open(user string, secure *tls.Config) (*sql.DB, error) {
	c := mysql.NewConfig()
	c.User, c.Passwd = os.Getenv(user), os.Getenv("SCRIM_PASSWORD")
	c.Net, c.Addr, c.DBName = "tcp", net.JoinHostPort(os.Getenv("SCRIM_HOST"), os.Getenv("SCRIM_PORT")), os.Getenv("SCRIM_DB")
	c.TLS, c.MultiStatements = secure, true
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// rowsOf returns an answer's rows; bytes as text.
func rowsOf(db *sql.DB, q string, args ...any) ([][]any, error) {
	rows, err := db.Query(q, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var out [][]any
	for rows.Next() {
		row, to := make([]any, len(cols)), make([]any, len(cols))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		for i, v := range row {
			if b, is := v.([]byte); is {
				row[i] = string(b)
			}
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// first returns the first columns of rows: a list where there is one of them.
func first(rows [][]any, err error, columns int) (any, error) {
	var out []any
	for _, r := range rows {
		if columns == 1 {
			out = append(out, r[0])
		} else {
			out = append(out, r[:columns])
		}
	}
	return out, err
}

func goSQLDriver() int {
	db, err := open("SCRIM_USER", nil)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer db.Close()
	var version string
	err = db.QueryRow("SELECT VERSION()").Scan(&version)
	say("connect", version, err)
	for _, c := range []struct {
		check   string
		columns int
		query   string
		args    []any
	}{
		{"list", 1, "SHOW TABLES", nil},
		{"describe", 2, "DESCRIBE people", nil},
		{"group", 3, "SELECT dept, AVG(amount) AS a, COUNT(*) AS n FROM people GROUP BY dept ORDER BY dept", nil},
		{"public", 2, "SELECT id, price FROM products WHERE id <= 3 ORDER BY id", nil},
		{"prepared", 2, "SELECT id, price FROM products WHERE id <= ? ORDER BY id", []any{3}},
	} {
		rows, err := rowsOf(db, c.query, c.args...)
		v, err := first(rows, err, c.columns)
		say(c.check, v, err)
	}
	var text string
	err = db.QueryRow("SELECT title FROM products WHERE title = ?", title).Scan(&text)
	say("text", text, err)
	_, err = rowsOf(db, "SELECT * FROM people")
	say("error", fmt.Sprint(err), nil)
	goExtras(db)
	return 0
}

func goExtras(db *sql.DB) {
	n, err := counted("SCRIM_USER", true)
	say("extra:TLS", n == len(departments), err)
	n, err = counted("SCRIM_SHA2_USER", false)
	if err == nil && n == len(departments) {
		n, err = counted("SCRIM_SHA2_USER", true)
	}
	say("extra:caching_sha2_password, in clear and over TLS", n == len(departments), err)
	rows, err := rowsOf(db, "SELECT COUNT(*) FROM people WHERE dept = ?", "law")
	say("extra:prepared on the protected table", len(rows) == 1, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = db.QueryContext(ctx, "SELECT 1")
	say("extra:cancelled query", errors.Is(err, context.Canceled), nil)
	tx, err := db.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true})
	if err == nil {
		err = tx.Commit()
	}
	say("extra:read-only transaction", true, err)
}

// counted is the number of groups in an answer to an account, over a verified connection or in
// clear.
func counted(user string, secure bool) (int, error) {
	var c *tls.Config
	if secure {
		pem, err := os.ReadFile(os.Getenv("SCRIM_CA"))
		if err != nil {
			return 0, err
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(pem)
		c = &tls.Config{RootCAs: pool, ServerName: os.Getenv("SCRIM_HOST")}
	}
	db, err := open(user, c)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	rows, err := rowsOf(db, "SELECT dept, COUNT(*) FROM people GROUP BY dept")
	return len(rows), err
}
