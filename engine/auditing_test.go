package engine

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"scrim/engine/observe/audit"
	"scrim/engine/observe/watch"
	"scrim/engine/ops/datadir"
	"scrim/test/testenv"
)

// audited reads the records of a server that has been stopped.
func audited(t *testing.T, dir string) (out []audit.Record, text string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "audit-*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		text += string(b)
		for s := bufio.NewScanner(strings.NewReader(string(b))); s.Scan(); {
			var r audit.Record
			if err := json.Unmarshal(s.Bytes(), &r); err != nil {
				t.Fatalf("%s: %v", s.Text(), err)
			}
			out = append(out, r)
		}
	}
	return out, text
}

func TestAuditLog(t *testing.T) {
	i, s, _, ann := watched(t)
	_, _ = i.dial("ann", "wrong")
	ann.exec("USE s")
	for _, q := range []string{"SELECT COUNT(*) FROM t WHERE name <> 'secret-name'", "SELECT * FROM t WHERE name = 'secret-name'", "SELECT 'secret-name' FROM FROM", "SET @x = 'secret-name'"} {
		_, _ = ann.try(q)
	}
	n := s.count()
	i.end()
	records, text := audited(t, filepath.Join(i.cfg.DataDir, datadir.AuditDir))
	if strings.Contains(text, "secret") || strings.Contains(text, "pw-ann") || strings.Contains(text, rootPassword) {
		t.Errorf("a literal is in the audit log:\n%s", text)
	}
	if strings.Contains(i.log.String(), "secret") || strings.Contains(i.log.String(), "pw-ann") {
		t.Errorf("a literal is in the log:\n%s", i.log)
	}
	kinds := map[audit.Kind]int{}
	ids := map[string]bool{}
	outcomes := map[string]int{}
	for _, r := range records {
		kinds[r.Kind]++
		if time.Since(r.Time).Abs() > time.Hour {
			t.Errorf("the time of %+v", r)
		}
		if r.Kind == audit.Statement {
			if ids[r.ID] {
				t.Errorf("two statements have the id %s", r.ID)
			}
			ids[r.ID] = true
			if r.Principal == "ann@%" {
				outcomes[r.Outcome+" "+r.Cause]++
			}
		}
	}
	if kinds[audit.Statement] != n || kinds[audit.Start] != 1 || kinds[audit.Stop] != 1 || kinds[audit.LoginRefused] != 1 || kinds[audit.Login] != 2 || kinds[audit.Logout] != 2 {
		t.Errorf("got %v, want %d statements", kinds, n)
	}
	if outcomes["answered "] < 3 || outcomes["refused RAW_ROWS"] != 1 || outcomes["failed SYNTAX"] != 1 {
		t.Errorf("got outcomes %v", outcomes)
	}
	for e, want := range i.events(s) {
		if !ids[e] {
			t.Errorf("the event %s %s has no record", e, want)
		}
	}
}

// events lists the statements that were told, by id.
func (i *instance) events(s *seen) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]string{}
	for _, e := range s.events {
		out[e.ID] = e.Statement
	}
	return out
}

// TestWithoutTheAuditLog restarts a server on an audit log whose file takes nothing more.
func TestWithoutTheAuditLog(t *testing.T) {
	i, _, _, ann := watched(t)
	ann.query("SELECT COUNT(*) FROM s.t")
	i.end()
	dir := i.cfg.DataDir
	full := filepath.Join(dir, datadir.AuditDir, "audit-000002-"+time.Now().UTC().Format("2006-01-02")+".jsonl")
	if err := os.Symlink("/dev/full", full); err != nil {
		t.Fatal(err)
	}
	i = start(t, dir)
	testenv.Until(t, time.Minute, "the audit log to fail", i.audit.Failing)
	_, err := i.dial("ann", "pw-ann")
	var e *mysql.MySQLError
	if !errors.As(err, &e) || e.Number != 1644 || string(e.SQLState[:]) != "45018" || !strings.Contains(e.Message, "audit log") {
		t.Errorf("got %v, want a refusal", err)
	}
	i.end()
	if !strings.Contains(i.log.String(), "could not be written") {
		t.Errorf("the log says nothing of the records that are lost: %s", i.log)
	}

	s := &seen{}
	i = start(t, dir, func(c *Config) { c.Audit, c.Observers = string(audit.Count), watch.Observers{s} })
	i.client("ann", "pw-ann").query("SELECT COUNT(*) FROM s.t")
	if s.count() == 0 {
		t.Error("no event")
	}
}

func TestAuditOff(t *testing.T) {
	i, _, _, ann := watched(t, func(c *Config) { c.Audit = auditOff })
	ann.query("SELECT COUNT(*) FROM s.t")
	if _, err := os.Stat(filepath.Join(i.cfg.DataDir, datadir.AuditDir)); !os.IsNotExist(err) {
		t.Errorf("got %v", err)
	}
}
