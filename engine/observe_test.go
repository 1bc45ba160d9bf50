package engine

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"scrim/engine/mysql/statement/trace"
	"scrim/engine/observe/watch"
	"scrim/test/testenv"
)

// seen collects events.
type seen struct {
	mu     sync.Mutex
	events []watch.Event
}

func (s *seen) Statement(e watch.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, e)
}

// since returns the events after the first n, of which there must be want.
func (s *seen) since(t *testing.T, n, want int) []watch.Event {
	t.Helper()
	var got []watch.Event
	testenv.Succeeds(t, time.Minute, "events", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if got = slices.Clone(s.events[n:]); len(got) < want {
			return fmt.Errorf("got %d, want %d: %+v", len(got), want, got)
		}
		return nil
	})
	return got
}

func (s *seen) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.events)
}

// watched starts a server with a protected table and an analyst.
func watched(t *testing.T, change ...func(*Config)) (*instance, *seen, *client, *client) {
	t.Helper()
	s := &seen{}
	i := start(t, "", append(change, func(c *Config) { c.Observers = append(c.Observers, s) })...)
	root := i.root()
	root.exec("CREATE DATABASE s", "CREATE TABLE s.t (p INT, name VARCHAR(40), x DOUBLE)", "INSERT INTO s.t VALUES (1, 'secret-name', 1.5), (2, 'b', 2.5)",
		"CREATE TABLE s.pub (a INT PRIMARY KEY)", "CALL dp_public('s.pub')",
		"CALL dp_protect('s.t', 'p', 'person')", "CALL dp_set_budget('s.t', '*', 5, 1e-6, 'never')")
	ann := i.analyst(root, "ann", "s")
	return i, s, root, ann
}

func TestEveryStatementHasAnEvent(t *testing.T) {
	_, s, _, ann := watched(t)
	const query = "SELECT COUNT(*) FROM s.t WHERE name <> 'secret-name'"
	for _, c := range []struct {
		query   string
		args    []any
		outcome watch.Outcome
		errno   int
		cause   string
		private bool
		counts  [2]int
		tables  []string
	}{
		{query, nil, watch.Answered, 0, "", true, [2]int{0, 1}, []string{"s.t"}},
		{query, nil, watch.Answered, 0, "", true, [2]int{1, 0}, []string{"s.t"}},
		{"SELECT COUNT(*) FROM s.t WHERE x > ?", []any{0.5}, watch.Answered, 0, "", true, [2]int{0, 1}, []string{"s.t"}},
		{"SELECT a FROM s.pub WHERE a = 77", nil, watch.Answered, 0, "", false, [2]int{}, nil},
		{"SELECT name FROM s.t", nil, watch.Refused, 1644, "RAW_ROWS", false, [2]int{}, nil},
		{"SELECT /*+ SET_VAR(dp_epsilon=99) */ COUNT(*) FROM s.t", nil, watch.Refused, 1644, "BUDGET_EXHAUSTED", true, [2]int{}, []string{"s.t"}},
		{"INSERT INTO s.pub VALUES (5)", nil, watch.Refused, 1142, trace.CausePrivilege, false, [2]int{}, nil},
		{"SELECT FROM WHERE 'secret-name'", nil, watch.Failed, 1064, trace.CauseSyntax, false, [2]int{}, nil},
		{"SELECT b FROM s.pub", nil, watch.Failed, 1054, trace.CauseStatement, false, [2]int{}, nil},
	} {
		t.Run(c.query, func(t *testing.T) {
			n := s.count()
			_, err := ann.try(c.query, c.args...)
			if (err == nil) != (c.outcome == watch.Answered) {
				t.Fatalf("got error %v", err)
			}
			e := s.since(t, n, 1)[0]
			if e.Outcome != c.outcome || e.Errno != c.errno || e.Cause != c.cause || e.Private != c.private || [2]int{e.Replayed, e.Charged} != c.counts || !slices.Equal(e.Tables, c.tables) {
				t.Errorf("got %+v", e)
			}
			if !regexp.MustCompile(`^[a-z2-7]{8}$`).MatchString(e.ID) || e.Principal != "ann@%" || e.Client == 0 || e.At.IsZero() || e.Duration <= 0 {
				t.Errorf("got %+v", e)
			}
			if strings.Contains(e.Statement, "secret") || strings.ContainsAny(e.Statement, "79'") || e.Digest == "" || e.Statement == "" {
				t.Errorf("got statement %q, digest %q", e.Statement, e.Digest)
			}
		})
	}
}

func TestStatementsOfOneTextHaveAnEventEach(t *testing.T) {
	i, s, _, _ := watched(t)
	n := s.count()
	conn := i.client("ann", "pw-ann", func(c *mysql.Config) { c.MultiStatements = true })
	if _, err := conn.try("SELECT 1; SELECT a FROM s.pub; SELECT 'x', 2"); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range s.since(t, n, 3) {
		got = append(got, e.Statement)
	}
	if len(got) != 3 || strings.Contains(got[0], "pub") || !strings.Contains(got[1], "pub") {
		t.Errorf("got %q", got)
	}
}

func TestTheClientIsToldTheStatementsID(t *testing.T) {
	i, s, _, ann := watched(t)
	n := s.count()
	if _, err := ann.try("SELECT name FROM s.t"); err == nil || strings.Contains(err.Error(), "statement id") {
		t.Fatalf("got %v, want a refusal as it stands", err)
	}
	id := s.since(t, n, 1)[0].ID
	warnings := ann.query("SHOW WARNINGS")
	if len(warnings) != 2 || warnings[0][1] != "1644" || !strings.Contains(warnings[0][2], "protected") || warnings[1][0] != "Note" || !strings.HasSuffix(warnings[1][2], id) {
		t.Errorf("got %v, want the error and the id %s", warnings, id)
	}
	ann.exec("SET @x = 1", "SELECT 1")
	if w := ann.query("SHOW WARNINGS"); len(w) != 0 {
		t.Errorf("got %v after a statement that succeeded", w)
	}
	var line struct{ ID, Cause, Statement string }
	for _, l := range strings.Split(i.log.String(), "\n") {
		if strings.Contains(l, id) {
			if err := json.Unmarshal([]byte(l), &line); err != nil {
				t.Fatal(err)
			}
		}
	}
	if line.ID != id || line.Cause != "RAW_ROWS" || line.Statement == "" {
		t.Errorf("the log says %+v of %s", line, id)
	}
}

func TestProcessListShowsNoLiterals(t *testing.T) {
	_, _, root, ann := watched(t)
	for _, q := range []string{"SELECT info FROM information_schema.processlist WHERE info LIKE '%secret%' OR 1 = 12345", "SHOW FULL PROCESSLIST"} {
		for _, c := range []*client{root, ann} {
			rows := c.query(q)
			if len(rows) == 0 && strings.HasPrefix(q, "SHOW") {
				t.Errorf("%s: no rows", q)
			}
			for _, r := range rows {
				if text := strings.Join(r, " "); strings.Contains(text, "12345") || strings.Contains(text, "secret") {
					t.Errorf("%s: got %s", q, text)
				}
			}
		}
	}
}
