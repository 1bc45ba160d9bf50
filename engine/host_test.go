package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scrim/engine/ops/datadir"
	"scrim/test/testenv"
)

// TestSecondLifeIsNoticed: a copy, and a directory on another machine, are told of at the first
// start in the new place, in the log, on the dashboard and in the audit log; the same place is not,
// nor is a directory that was served by a program which did not note its place.
func TestSecondLifeIsNoticed(t *testing.T) {
	machine := datadir.MachineFile
	defer func() { datadir.MachineFile = machine }()
	datadir.MachineFile = filepath.Join(t.TempDir(), "machine-id")
	is := func(id string) {
		t.Helper()
		if err := os.WriteFile(datadir.MachineFile, []byte(id+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	serve := func(dir, says string) {
		t.Helper()
		i := start(t, dir, withHTTP)
		w := i.web()
		w.login("root", rootPassword)
		for _, page := range []string{"/", "/server"} {
			if status, text := w.get(page); status != 200 || strings.Contains(text, "was last served") != (says != "") {
				t.Errorf("%s says of the place: want %q", page, says)
			}
		}
		i.end()
		if strings.Contains(i.log.String(), "was last served") != (says != "") || !strings.Contains(i.log.String(), says) {
			t.Errorf("want %q in the log", says)
		}
		if says != "" && !strings.Contains(i.auditText(), `"kind":"elsewhere","note":"this data directory was last served `+says) {
			t.Errorf("want %q in the audit log", says)
		}
		text, err := os.ReadFile(filepath.Join(dir, datadir.HostFile))
		if id, _ := os.ReadFile(datadir.MachineFile); err != nil || len(id) > 1 && strings.Contains(string(text), strings.TrimSpace(string(id))) {
			t.Errorf("%s: %q, %v", datadir.HostFile, text, err)
		}
	}
	is("4a4ef5")
	i := spender(t)
	dir := i.cfg.DataDir
	i.end()
	serve(dir, "")
	again := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(again, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(again, datadir.LedgerFile+".key"), 0o600); err != nil {
		t.Fatal(err)
	}
	serve(again, "at another place on this machine")
	serve(again, "")
	is("5b5af6")
	serve(dir, "on another machine")
	serve(dir, "")
	if err := os.Remove(filepath.Join(dir, datadir.HostFile)); err != nil {
		t.Fatal(err)
	}
	serve(dir, "")
	is("")
	serve(dir, "on another machine")
	serve(dir, "")
}

// TestTwoServersOfOneWitness: a copy is served beside the original with the same witness; both
// notice the other.
func TestTwoServersOfOneWitness(t *testing.T) {
	witness := filepath.Join(t.TempDir(), "witness")
	with := func(c *Config) { c.Witness = witness }
	a := spender(t, with)
	dir := a.cfg.DataDir
	a.end()
	again := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(again, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(again, datadir.LedgerFile+".key"), 0o600); err != nil {
		t.Fatal(err)
	}
	a = start(t, dir, with)
	b := start(t, again, with)
	a.spend("one")
	later := time.Now().Add(2 * time.Second)
	testenv.Succeeds(t, time.Minute, "both to tell", func() error {
		if !later.IsZero() && time.Now().After(later) {
			b.spend("two")
			later = time.Time{}
		}
		if strings.Contains(a.auditText(), "is served twice") && strings.Contains(b.auditText(), "is served twice") {
			return nil
		}
		return fmt.Errorf("the servers say\n%s\n%s", a.log, b.log)
	})
	for _, i := range []*instance{a, b} {
		if !strings.Contains(i.log.String(), "is served twice") || !strings.Contains(strings.Join(i.warnings.Texts(), " "), "is served twice") {
			t.Errorf("want it in the log and among the warnings:\n%s", i.log)
		}
	}
}
