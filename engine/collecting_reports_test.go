package engine

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"scrim/engine/collections/collect"
)

// opened is a server with the collection survey.commute, open, and its tokens.
type opened struct {
	*instance
	root, con *client
	tokens    []issued
	p         *collect.Params
}

func startCollection(t *testing.T, tokens int, change ...func(*Config)) *opened {
	t.Helper()
	i := start(t, "", change...)
	o := &opened{instance: i, root: i.root()}
	o.root.exec("CREATE DATABASE survey", commute)
	o.tokens = o.root.issue(fmt.Sprintf("CALL dp_issue_tokens('commute', %d)", tokens))
	o.root.exec("CALL dp_open_collection('commute')")
	o.con = i.contributor(o.root)
	o.p = o.con.params("commute", 1, "")
	return o
}

// next takes a token and makes a report for it.
func (o *opened) next() (token, sent []byte) {
	o.t.Helper()
	if len(o.tokens) == 0 {
		o.t.Fatal("no tokens are left")
	}
	tok := o.tokens[0]
	o.tokens = o.tokens[1:]
	return tok.token, report(o.t, o.p, tok.cell, 30)
}

func (o *opened) stored() string { return o.root.value("SELECT COUNT(*) FROM survey.commute") }

// wants checks how many reports are stored.
func (o *opened) wants(n int, when string) {
	o.t.Helper()
	if got := o.stored(); got != fmt.Sprint(n) {
		o.t.Errorf("%s: %s reports are stored, want %d", when, got, n)
	}
}

// affected runs an INSERT and returns the number of rows that it tells.
func (c *client) affected(query string, args ...any) int64 {
	c.t.Helper()
	r, err := c.conn.ExecContext(context.Background(), query, args...)
	if err != nil {
		c.t.Fatalf("%s: %v", query, err)
	}
	n, _ := r.RowsAffected()
	return n
}

// TestFormsOfInsert sends reports in every way in which a client may write one.
func TestFormsOfInsert(t *testing.T) {
	o := startCollection(t, 60)
	text := o.contributor(o.root, func(c *mysql.Config) { c.InterpolateParams = true })
	in := o.contributor(o.root, func(c *mysql.Config) { c.DBName = "dp_in" })
	stored := 0
	send := func(c *client, n int64, query string, args ...any) {
		t.Helper()
		if got := c.affected(query, args...); got != n {
			t.Errorf("%s: %d rows, want %d", query, got, n)
		}
		stored += int(n)
		o.wants(stored, query)
	}
	hexed := func(b []byte) string { return hex.EncodeToString(b) }

	token, r := o.next()
	send(o.con, 1, "INSERT INTO dp_in.commute (token, report) VALUES (?, ?)", token, r)
	token, r = o.next()
	send(o.con, 1, "INSERT INTO dp_in.commute VALUES (UNHEX(?), ?)", hexed(token), r)
	token, r = o.next()
	send(o.con, 1, "INSERT INTO `DP_IN`.`Commute` (report, TOKEN) VALUES (?, UNHEX(?))", r, strings.ToUpper(hexed(token)))
	token, r = o.next()
	send(o.con, 1, "INSERT INTO dp_in.commute (token, report) VALUES (X'"+hexed(token)+"', x'"+hexed(r)+"')")
	token, r = o.next()
	send(o.con, 1, "INSERT INTO dp_in.commute (token, report) VALUE (0x"+hexed(token)+", 0x"+hexed(r)+")")
	token, r = o.next()
	send(text, 1, "INSERT INTO dp_in.commute (token, report) VALUES (?, ?)", token, r)
	token, r = o.next()
	send(in, 1, "INSERT INTO commute (token, report) VALUES (?, ?)", token, r)
	token, r = o.next()
	o.con.exec("SET @t = X'" + hexed(token) + "', @r = X'" + hexed(r) + "'")
	send(o.con, 1, "INSERT INTO dp_in.commute (token, report) VALUES (@t, @r)")
	token, r = o.next()
	send(o.con, 1, "INSERT INTO dp_in.commute SET token = X'"+hexed(token)+"', report = X'"+hexed(r)+"'")
	token, r = o.next()
	send(o.con, 1, "INSERT INTO dp_in.commute (token, report) SELECT X'"+hexed(token)+"', X'"+hexed(r)+"'")
	token, r = o.next()
	token2, r2 := o.next()
	send(o.con, 2, "INSERT INTO dp_in.commute (token, report) VALUES (?, ?), (?, ?)", token, r, token2, r2)
	token, r = o.next()
	token2, r2 = o.next()
	send(o.con, 2, "INSERT INTO dp_in.commute (token, report) VALUES (UNHEX(CONCAT('', ?)), ?), (?, ?)", hexed(token), r, token2, r2)
	token, r = o.next()
	o.con.exec("PREPARE s FROM 'INSERT INTO dp_in.commute (token, report) VALUES (?, ?)'", "SET @t = X'"+hexed(token)+"', @r = X'"+hexed(r)+"'", "EXECUTE s USING @t, @r")
	stored++
	o.wants(stored, "EXECUTE")
	// Again, byte for byte, in two ways: it was there before, and is not told apart.
	for _, q := range []string{"INSERT INTO dp_in.commute (token, report) VALUES (?, ?)", "INSERT INTO dp_in.commute (token, report) SELECT ?, ?"} {
		if n := o.con.affected(q, token, r); n != 1 {
			t.Errorf("an identical retry affected %d rows", n)
		}
		o.wants(stored, "an identical retry")
	}
	if got := o.root.query("SELECT n_received FROM dp.collection_rounds"); got[0][0] != fmt.Sprint(stored) {
		t.Errorf("dp.collection_rounds counts %v", got)
	}
}

// TestRefusedReports: every refusal of a report says its own SQLSTATE, by both ways into the
// database, and changes nothing.
func TestRefusedReports(t *testing.T) {
	o := startCollection(t, 30)
	token, r := o.next()
	o.con.affected("INSERT INTO dp_in.commute VALUES (?, ?)", token, r)
	free, good := o.next()
	other := append([]byte(nil), r...)
	other[len(other)-1] ^= 1
	foreign := append([]byte(nil), good...)
	foreign[9] ^= 1
	outside := append([]byte(nil), good...)
	outside[len(outside)-1] = 2
	for _, c := range []struct {
		name          string
		state         string
		token, report []byte
	}{
		{"an unknown token", "45D21", make([]byte, 16), good},
		{"a short token", "45D21", free[:15], good},
		{"other bytes for a spent token", "45D22", token, other},
		{"another fingerprint", "45D24", free, foreign},
		{"8 kB", "45D24", free, make([]byte, 8192)},
		{"70 kB", "45D24", free, make([]byte, 70000)},
		{"nothing", "45D24", free, nil},
		{"out of range", "45D24", free, outside},
	} {
		for _, q := range []string{"INSERT INTO dp_in.commute (token, report) VALUES (?, ?)", "INSERT INTO dp_in.commute (token, report) SELECT ?, ?"} {
			sent := c.report
			if sent == nil {
				sent = []byte{}
			}
			if c.name == "70 kB" && strings.Contains(q, "SELECT") {
				continue // longer than the column
			}
			e := o.con.refused(1644, c.state, q, c.token, sent)
			if bytes.Contains([]byte(e.Message), c.token) || strings.Contains(e.Message, hex.EncodeToString(c.token[:4])) {
				t.Errorf("%s: the message holds the token: %s", c.name, e.Message)
			}
		}
	}
	// One bad row of many: none is taken.
	o.con.refused(1644, "45D21", "INSERT INTO dp_in.commute VALUES (?, ?), (?, ?)", free, good, make([]byte, 16), good)
	o.con.refused(1048, "23000", "INSERT INTO dp_in.commute (token, report) VALUES (?, NULL)", free)
	o.con.refused(1048, "23000", "INSERT INTO dp_in.commute (token, report) VALUES (UNHEX('xy'), ?)", good)
	o.con.refused(1054, "", "INSERT INTO dp_in.commute (token, day) VALUES (?, ?)", free, good)
	o.con.refused(1136, "", "INSERT INTO dp_in.commute (token, report) VALUES (?)", free)
	o.con.refused(1364, "", "INSERT INTO dp_in.commute (token) VALUES (?)", free)
	for _, q := range []string{
		"REPLACE INTO dp_in.commute VALUES (?, ?)", "INSERT IGNORE INTO dp_in.commute VALUES (?, ?)",
		"INSERT INTO dp_in.commute VALUES (?, ?) ON DUPLICATE KEY UPDATE report = VALUES(report)",
	} {
		o.root.refused(1644, "45017", q, free, good)
	}
	o.con.refused(1146, "", "INSERT INTO dp_in.elsewhere VALUES (?, ?)", free, good)
	o.wants(1, "after all refusals")
	if n := o.con.affected("INSERT INTO dp_in.commute VALUES (?, ?)", free, good); n != 1 {
		t.Error("the token was spent by a refusal")
	}
	// The round closes: free tokens are late, an identical retry is still acknowledged.
	late, lateReport := o.next()
	o.root.exec("CALL dp_close_collection('commute')")
	o.con.refused(1644, "45D23", "INSERT INTO dp_in.commute VALUES (?, ?)", late, lateReport)
	o.con.affected("INSERT INTO dp_in.commute VALUES (?, ?)", token, r)
	o.root.exec("CALL dp_open_collection('commute')")
	o.con.affected("INSERT INTO dp_in.commute VALUES (?, ?)", late, lateReport)
	o.wants(3, "after reopening")
	o.root.refused(1644, "45D20", "CALL dp_next_round('commute')")
	o.root.exec("CALL dp_abort_collection('commute', 'a test')")
	late, lateReport = o.next()
	o.con.refused(1644, "45D11", "INSERT INTO dp_in.commute VALUES (?, ?)", late, lateReport)
}

// TestNothingButInsert: the tables of dp_in can be seen, and nothing else can be done with them, by
// anybody.
func TestNothingButInsert(t *testing.T) {
	o := startCollection(t, 10)
	for _, c := range []*client{o.con, o.root} {
		if got := fmt.Sprint(c.query("SHOW TABLES FROM dp_in")); got != "[[commute]]" {
			t.Errorf("SHOW TABLES: %s", got)
		}
		if got := fmt.Sprint(c.query("DESCRIBE dp_in.commute")); !strings.Contains(got, "token binary(16) NO") || !strings.Contains(got, "report varbinary(60000) NO") {
			t.Errorf("DESCRIBE: %s", got)
		}
	}
	if got := fmt.Sprint(o.root.query("SELECT table_name, table_rows FROM information_schema.tables WHERE table_schema = 'dp_in'")); got != "[[commute NULL]]" {
		t.Errorf("information_schema.tables: %s", got)
	}
	for _, q := range []string{"SHOW CREATE TABLE dp_in.commute", "SHOW COLUMNS FROM dp_in.commute", "SHOW INDEX FROM dp_in.commute", "SHOW TABLE STATUS FROM dp_in", "SHOW CREATE DATABASE dp_in"} {
		o.root.query(q)
	}
	for _, q := range []string{
		"SELECT * FROM dp_in.commute", "SELECT COUNT(*) FROM dp_in.commute", "SELECT (SELECT token FROM dp_in.commute LIMIT 1)", "UPDATE dp_in.commute SET report = ''", "DELETE FROM dp_in.commute",
		"TRUNCATE TABLE dp_in.commute", "DROP TABLE dp_in.commute", "ALTER TABLE dp_in.commute ADD COLUMN x INT", "ALTER TABLE dp_in.commute RENAME TO dp_in.x", "LOCK TABLES dp_in.commute WRITE", "CREATE TRIGGER dp_in.t BEFORE INSERT ON dp_in.commute FOR EACH ROW SET @a = 1",
		"CREATE TABLE dp_in.x (a INT)", "CREATE VIEW dp_in.v AS SELECT 1", "DROP DATABASE dp_in", "CREATE INDEX i ON dp_in.commute (token)",
		"CREATE TABLE survey.copy AS SELECT * FROM dp_in.commute", "INSERT INTO dp_in.commute SELECT * FROM dp_in.commute", "CREATE DATABASE dp_in", "CREATE TABLE survey.c AS SELECT * FROM dp_in.commute",
		"CREATE VIEW survey.v AS SELECT * FROM dp_in.commute",
	} {
		_, err := o.root.try(q)
		var e *mysql.MySQLError
		if !errors.As(err, &e) || e.Number == 1105 && !strings.Contains(e.Message, "dp_in") {
			t.Errorf("%s: %v", q, err)
		}
		if q[:6] == "SELECT" || q[:6] == "UPDATE" || q[:6] == "DELETE" {
			o.con.refused(1227, "42000", q)
		}
	}
	o.wants(0, "in the end")
}

// TestReportsStandOutsideTransactions: a report that was acknowledged is there, whatever the
// client's transaction does.
func TestReportsStandOutsideTransactions(t *testing.T) {
	o := startCollection(t, 10)
	for n, around := range [][2]string{{"BEGIN", "ROLLBACK"}, {"SET autocommit = 0", "ROLLBACK"}, {"SET autocommit = 0", "COMMIT"}} {
		for _, q := range []string{"INSERT INTO dp_in.commute VALUES (?, ?)", "INSERT INTO dp_in.commute SELECT ?, ?"} {
			token, r := o.next()
			o.con.exec(around[0])
			o.con.affected(q, token, r)
			if got := o.stored(); got != fmt.Sprint(2*n+1) && got != fmt.Sprint(2*n+2) {
				t.Errorf("%s: %s reports before the end", around[0], got)
			}
			o.con.exec(around[1], "SET autocommit = 1")
		}
		o.wants(2*n+2, around[0]+" … "+around[1])
	}
	token, r := o.next()
	o.con.exec("START TRANSACTION READ ONLY")
	o.con.refused(1792, "25006", "INSERT INTO dp_in.commute VALUES (?, ?)", token, r)
	o.con.refused(1792, "25006", "INSERT INTO dp_in.commute SELECT ?, ?", token, r)
	o.con.exec("ROLLBACK")
	o.wants(6, "in the end")
}

// TestManyContributors sends the same reports over many connections at once, some of them twice at
// the same time.
func TestManyContributors(t *testing.T) {
	o := startCollection(t, 400)
	type sent struct{ token, report []byte }
	list := make([]sent, 300)
	for n := range list {
		list[n].token, list[n].report = o.next()
	}
	db := o.pool()
	var wg sync.WaitGroup
	work := make(chan sent, 2*len(list))
	for _, s := range list {
		work <- s
		work <- s
	}
	close(work)
	for range 16 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for s := range work {
				if _, err := db.Exec("INSERT INTO dp_in.commute (token, report) VALUES (?, ?)", s.token, s.report); err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	wg.Wait()
	o.wants(len(list), "after sending every report twice")
}
