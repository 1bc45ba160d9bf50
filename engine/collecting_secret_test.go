package engine

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/rs/zerolog"

	"scrim/engine/observe/watch"
	"scrim/test/testenv"
)

// watcher gathers what observers are told.
type watcher struct {
	buffer
}

// Statement implements watch.Observer.
func (w *watcher) Statement(e watch.Event) { fmt.Fprintf(w, "%+v\n", e) }

// TestTokensAndReportsLeaveNoTrace: neither a token nor what it brought, nor who brought it when,
// is in the log, the audit log, the ledger, the process list, what observers are told, or the
// metrics; and a token is in no file of the data directory.
func TestTokensAndReportsLeaveNoTrace(t *testing.T) {
	w := &watcher{}
	o := startCollection(t, 40, func(c *Config) {
		c.Logger = c.Logger.Level(zerolog.TraceLevel)
		c.Observers = append(c.Observers, w)
		c.DebugErrors = true
	})
	text := o.contributor(o.root, func(c *mysql.Config) { c.InterpolateParams = true })
	var secrets [][]byte
	hexed := hex.EncodeToString
	send := func(c *client, query string, args ...any) {
		token, r := o.next()
		secrets = append(secrets, token, r)
		query = strings.NewReplacer("$t", hexed(token), "$r", hexed(r)).Replace(query)
		for i, a := range args {
			args[i] = map[any]any{"t": token, "r": r}[a]
		}
		c.affected(query, args...)
	}
	for range 3 {
		send(o.con, "INSERT INTO dp_in.commute (token, report) VALUES (?, ?)", "t", "r")
		send(text, "INSERT INTO dp_in.commute (token, report) VALUES (?, ?)", "t", "r")
		send(o.con, "INSERT INTO dp_in.commute (token, report) VALUES (X'$t', 0x$r)")
		send(o.con, "INSERT INTO dp_in.commute (token, report) VALUES (UNHEX(\"$t\"), UNHEX('$r')) /* $t */")
		send(o.con, "INSERT INTO dp_in.commute (token, report) SELECT X'$t', X'$r'")
		send(o.con, "INSERT INTO dp_in.commute (report, token) SELECT ?, ?", "r", "t")
	}
	accepted := w.String()
	// Refused ones, and such as are no statements.
	token, r := o.next()
	secrets = append(secrets, token)
	for _, q := range []string{
		"INSERT INTO dp_in.commute (token, report) VALUES (X'$t', X'00')", "INSERT INTO dp_in.commute (token, report) SELECT X'$t', X'00'",
		"INSERT INTO dp_in.commute (token, report) VALUES (X'$t')", "INSERT INTO dp_in.commute (token, report) VALUES (X'$t', ", "INSERT INTO dp_in.nowhere VALUES (X'$t', 1)",
		"INSERT INTO dp_in.commute (token, report) VALUES ('$t', X'$r')", "INSERT INTO dp_in.commute VALUES (CAST(X'$t' AS SIGNED), 1)", "SELECT UNHEX('$t') FROM dp_in.commute",
		"INSERT INTO dp_in.commute (token, report) VALUES ($t, $r)",
	} {
		q = strings.NewReplacer("$t", hexed(token), "$r", hexed(r)).Replace(q)
		if _, err := o.con.conn.ExecContext(context.Background(), q); err == nil {
			t.Errorf("%s was taken", q)
		}
	}
	o.wants(18, "in the end")

	places := map[string]string{
		"the observers": w.String(), "the log": o.log.String(), "the audit log": o.fullAudit(),
		"dp.ledger": fmt.Sprint(o.root.query("SELECT * FROM dp.ledger")), "the process list": fmt.Sprint(o.root.query("SHOW FULL PROCESSLIST")),
		"performance_schema": fmt.Sprint(o.root.query("SELECT * FROM performance_schema.events_statements_summary_by_digest")),
		"dp":                 fmt.Sprint(o.root.query("SELECT * FROM dp.collections"), o.root.query("SELECT * FROM dp.collection_cells"), o.root.query("SELECT * FROM dp.collection_tokens")),
	}
	for place, text := range places {
		for _, s := range secrets {
			if holds(text, s) {
				t.Errorf("%s holds a token or a report", place)
				break
			}
		}
	}
	if n := strings.Count(accepted, "INSERT INTO dp_in"); n != 18 {
		t.Errorf("observers count %d statements", n)
	}
	for _, line := range strings.Split(accepted, "\n") {
		if strings.Contains(line, "INSERT INTO dp_in") && (strings.Contains(line, "contributor") || !strings.Contains(line, "{ID: ") || !strings.Contains(line, "Client:0")) {
			t.Errorf("observers are told who sent a report: %s", line)
		}
	}
	for _, line := range strings.Split(places["the audit log"]+places["the log"], "\n") {
		if strings.Contains(line, "INSERT INTO dp_in") && strings.Contains(line, `"answered"`) {
			t.Errorf("a report that was taken is on record: %s", line)
		}
	}
	o.root.exec("CALL dp_close_collection('commute')")
	dir := o.cfg.DataDir
	o.end()
	tokensOnDisk(t, dir, secrets)
}

// holds reports whether a text has some bytes in any form in which they are written.
func holds(text string, b []byte) bool {
	lower := strings.ToLower(text)
	return strings.Contains(text, string(b)) || strings.Contains(lower, hex.EncodeToString(b)) || strings.Contains(text, base64.StdEncoding.EncodeToString(b)) ||
		strings.Contains(text, fmt.Sprint(b)) || strings.Contains(text, strings.Trim(fmt.Sprintf("%q", b), `"`))
}

// fullAudit is the audit log with all that was asked before.
func (i *instance) fullAudit() (text string) {
	i.t.Helper()
	i.root().query("SELECT 1 AS the_last")
	testenv.Until(i.t, time.Minute, "the last statement in the audit log", func() bool {
		text = i.auditText()
		return strings.Contains(text, "the_last")
	})
	return text
}

// tokensOnDisk looks for tokens in all files. secrets are tokens and, behind those that were taken,
// reports, which are stored.
func tokensOnDisk(t *testing.T, dir string, secrets [][]byte) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		b, _ := os.ReadFile(path)
		for _, s := range secrets {
			if len(s) == 16 && (bytes.Contains(b, s) || bytes.Contains(b, []byte(hex.EncodeToString(s)))) {
				t.Errorf("%s holds a token", path)
				return nil
			}
		}
		return nil
	})
}
