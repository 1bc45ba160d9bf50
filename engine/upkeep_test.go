package engine

import (
	"bytes"
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"scrim/accounting"
	"scrim/engine/estimator/noise"
	"scrim/engine/ops/datadir"
	"scrim/engine/ops/monitor"
	"scrim/test/testenv"
)

// lengthen adds replays to the ledger of a directory that nobody serves, so many that a checkpoint
// comes.
func lengthen(t *testing.T, dir string, n int) {
	t.Helper()
	path, o, unlock, err := datadir.LedgerOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	l, err := accounting.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		l.Replayed("ann@%", "SELECT COUNT(*) FROM s.t", "digest", 0, []string{"x"})
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestStartFromCheckpoint: a server with a long ledger writes a checkpoint, the next one begins
// with it, verifies the rest, and tells; where it finds damage then, it answers nothing private any
// more, and says so everywhere, and the one after that does not start.
func TestStartFromCheckpoint(t *testing.T) {
	i := spender(t)
	dir := i.cfg.DataDir
	i.spend("a")
	const question = "SELECT spent_rho FROM dp.budgets WHERE principal = '*' LIMIT 1"
	spent := i.root().value(question)
	i.end()
	lengthen(t, dir, 1<<16)

	i = start(t, dir)
	testenv.Until(t, time.Minute, "a checkpoint", func() bool { return i.ledger.Upkeep().Checkpoint > 0 })
	i.end()

	i = start(t, dir, func(c *Config) { c.HTTP = "127.0.0.1:0" })
	if u := i.ledger.Upkeep(); u.Resumed != 1<<16-1 {
		t.Fatalf("the start read everything: %+v", u)
	}
	if got := i.root().value(question); got != spent || got == "0" {
		t.Errorf("spent %s, want %s", got, spent)
	}
	testenv.Until(t, time.Minute, "the verification", func() bool { return !i.ledger.Upkeep().VerifiedAt.IsZero() })
	testenv.Until(t, time.Minute, "the line in the log", func() bool { return strings.Contains(i.log.String(), "the ledger is verified") })
	for _, line := range []string{"scrim_ledger_unverified_records 0", "scrim_ledger_damaged 0", "scrim_ledger_checkpoint_records 65535"} {
		if text := i.metricsText(); !strings.Contains(text, line) {
			t.Errorf("metrics without %q", line)
		}
	}
	root := i.root()
	auditor := i.analyst(root, "aud", "")
	auditor.refused(1644, "45014", "CALL dp_verify_ledger()")
	root.exec("GRANT auditor TO 'aud'@'%'")
	for _, c := range []*client{root, i.client("aud", "pw-aud")} {
		if got := c.query("CALL dp_verify_ledger()"); len(got) != 1 || got[0][0] != got[0][2] || got[0][1] != "0" {
			t.Errorf("verified: %v", got)
		}
	}
	i.end()

	path := filepath.Join(dir, datadir.LedgerFile)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(file, []byte("SELECT COUNT(*) FROM s.t")) // in a replay before the checkpoint
	file[at] ^= 1
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	damaged(t, dir)
	if err := opens(dir); !errors.Is(err, accounting.ErrDamaged) {
		t.Errorf("the next start: %v", err)
	}
}

// damaged serves a directory whose ledger is damaged before its checkpoint.
func damaged(t *testing.T, dir string) {
	t.Helper()
	i := &instance{t: t, log: &buffer{}}
	cfg := small(dir)
	cfg.HTTP, cfg.Logger = "127.0.0.1:0", zerolog.New(i.log)
	var err error
	if i.Server, err = open(cfg, noise.Secure); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- i.Serve(ctx) }()
	testenv.Until(t, time.Minute, "the damage", func() bool { return i.ledger.Upkeep().Damage != nil })

	root := i.root()
	for _, q := range []string{"SELECT /*+ SET_VAR(dp_rho=0.0001) */ COUNT(*) AS c FROM s.t", "CALL dp_set_budget('s.t', '*', 1, 1e-6, 'never')"} {
		if m := root.refused(1644, "45016", q).Message; !strings.Contains(m, "damaged") || !strings.Contains(m, "operator") {
			t.Errorf("%s: %s", q, m)
		}
	}
	if err := i.monitor.Health.Check(); !errors.Is(err, monitor.ErrDamaged) {
		t.Errorf("ready: %v", err)
	}
	if text := i.metricsText(); !strings.Contains(text, "scrim_ledger_damaged 1") || !strings.Contains(text, "scrim_ledger_up 0") {
		t.Error("metrics do not tell")
	}
	testenv.Until(t, time.Minute, "the line in the log", func() bool { return strings.Contains(i.log.String(), "the ledger is damaged") })
	for _, word := range []string{"record ", "scrim ledger verify", "backup", "lower the budgets"} {
		if !strings.Contains(i.log.String(), word) {
			t.Errorf("the log does not say %q", word)
		}
	}
	if texts := strings.Join(i.warnings.Texts(), "\n"); !strings.Contains(texts, "the ledger is damaged") {
		t.Errorf("warnings: %s", texts)
	}
	stop()
	<-served
	if err := i.Close(); !errors.Is(err, accounting.ErrDamaged) {
		t.Errorf("close: %v", err)
	}
}

// metricsText is what Prometheus gets.
func (i *instance) metricsText() string {
	w := httptest.NewRecorder()
	i.monitor.Metrics.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}
