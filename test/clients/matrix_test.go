package clients

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var (
	chosen = flag.String("clients", "", "clients to run, by name, with commas between, or all")
	write  = flag.Bool("clients.write", false, "write what the clients did into docs/clients.md")
	binary = flag.String("clients.binary", "", "a built scrim to run them against (default: build it)")
	hold   = flag.Duration("clients.hold", 0, "serve the data set for this long, to try a client by hand")
	shots  = flag.String("clients.out", "", "folder for what clients leave that is worth a look, such as screenshots")
)

const (
	module = "../.."
	report = module + "/docs/clients.md"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(selfVariable); name != "" {
		os.Exit(be(name))
	}
	os.Exit(m.Run())
}

// TestMatrix runs the chosen clients one after the other against one server.
func TestMatrix(t *testing.T) {
	all := load(t)
	clients, err := Choose(all, *chosen)
	if err != nil {
		t.Fatal(err)
	}
	if len(clients) == 0 {
		return
	}
	record := readReport(t)
	dir := t.TempDir()
	s, err := Start(t.Context(), build(t, dir), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("after the clients: %v", err)
		}
	})
	out := *shots
	if out == "" {
		out = filepath.Join(dir, "out")
	}
	before := readReport(t)
	for _, c := range clients {
		t.Run(c.Name, func(t *testing.T) {
			r := s.Try(t.Context(), c, filepath.Join(dir, "work"), absolute(t, out))
			if r.Version == "" {
				t.Fatal(r.Err) // it did not start: nothing to record
			}
			tell(t, before, r)
			if r.Err == nil { // one that did not end well has not shown what it can do
				record.Put(r)
			}
		})
	}
	if *write {
		if err := os.WriteFile(report, []byte(record.Write(all)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHold serves the data set for a while and says how to reach it.
func TestHold(t *testing.T) {
	if *hold == 0 {
		return
	}
	dir := t.TempDir()
	s, err := Start(t.Context(), build(t, dir), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range s.variables() {
		fmt.Printf("export %s='%s'\n", v[0], strings.ReplaceAll(v[1], "'", `'\''`))
	}
	time.Sleep(*hold)
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}

// tell fails for what got worse, and logs what is known to fail.
func tell(t *testing.T, before Record, r Result) {
	t.Helper()
	worse := before.Regressions(r)
	passed := 0
	for _, name := range names(r.Order) {
		switch o := r.Outcomes[name]; {
		case o.Passed:
			passed++
		case !o.NA:
			t.Logf("%s: %s", name, o.Why)
		}
	}
	t.Logf("%s: %d of %d checks in %v", r.Version, passed, len(r.Outcomes), r.Took.Round(time.Millisecond))
	if len(worse) == 0 && r.Err == nil {
		return
	}
	if r.Err != nil {
		t.Errorf("it ended with: %v", r.Err)
	}
	t.Errorf("it got worse:\n%s\nall that it wrote:\n%s", strings.Join(worse, "\n"), r.Output)
}

// build makes the server's binary, unless one is given.
func build(t *testing.T, dir string) string {
	t.Helper()
	if *binary != "" {
		return absolute(t, *binary)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	built := filepath.Join(dir, "scrim")
	args := []string{"build", "-tags", "gms_pure_go", "-o", built, "./cmd/scrim"}
	if _, err := exec.LookPath("mold"); err == nil {
		args = append(args[:3], append([]string{"-ldflags=-extldflags=-fuse-ld=mold"}, args[3:]...)...)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = module
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, b)
	}
	return built
}

func load(t *testing.T) []Client {
	t.Helper()
	all, err := Load("testdata")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func readReport(t *testing.T) Record {
	t.Helper()
	b, err := os.ReadFile(report)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return Parse(string(b))
}

func absolute(t *testing.T, p string) string {
	t.Helper()
	p, err := filepath.Abs(p)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestReportNamesEveryClient: docs/clients.md is what the results say, in the form of today, and no
// client is without them.
func TestReportNamesEveryClient(t *testing.T) {
	all, record := load(t), readReport(t)
	for _, c := range all {
		if record[c.Name] == nil {
			t.Errorf("%s has not been run: go test ./test/clients -run TestMatrix -clients %s -clients.write", c.Name, c.Name)
		}
	}
	b, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	if have := record.Write(all); string(b) != have {
		t.Errorf("%s is not what its own results make; run a client with -clients.write", report)
	}
}
