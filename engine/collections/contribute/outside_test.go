package contribute

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBuildsFromAnotherModule: an app in a module of its own builds against a checkout, as
// docs/collections/contribute-go.md says, and nothing is fetched for it: of the product's
// dependencies the package has none.
func TestBuildsFromAnotherModule(t *testing.T) {
	checkout, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := "package main\n\nimport (\n\t\"fmt\"\n\n\t\"scrim/engine/collections/contribute\"\n)\n\nfunc main() { fmt.Println(contribute.DefaultCaps()) }\n"
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("go", "mod", "init", "example.org/app")
	run("go", "mod", "edit", "-require", "scrim@v0.0.0", "-replace", "scrim="+checkout)
	run("go", "build", "-mod=mod", "-o", "app", ".")
	if got := run(filepath.Join(dir, "app")); got != "epsilon 4, delta 1e-6\n" {
		t.Errorf("the app printed %q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.sum")); err == nil {
		t.Error("the app has dependencies")
	}
}

// TestLinksNoServer: an app that links the package gets neither a store nor a server nor a driver
// with it: nothing but the standard library and what makes reports.
func TestLinksNoServer(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	may := []string{"scrim/engine/collections/contribute", "scrim/engine/collections/collect", "scrim/engine/estimator/noise", "scrim/internal/lists", "scrim/internal/refuse", "scrim/internal/durable", "scrim/internal/sqltext"}
	n := 0
	for _, path := range strings.Fields(string(out)) {
		n++
		ok := false
		for _, m := range may {
			ok = ok || path == m || strings.HasPrefix(path, m+"/")
		}
		if !ok {
			t.Errorf("links %s", path)
		}
	}
	if n < 5 {
		t.Errorf("only %d packages listed", n)
	}
}
