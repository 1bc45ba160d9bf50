package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const appSource = "../../engine/collections/contribute/testdata/app"

// TestContributorsApp builds the program of docs/collections/contribute-go.md, and has three people
// use it with a real server: one reports, runs it again, and does not report twice; one says no;
// one has no token that is good.
func TestContributorsApp(t *testing.T) {
	app := filepath.Join(t.TempDir(), "app")
	if out, err := exec.Command("go", "build", "-tags", "gms_pure_go", "-o", app, appSource).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p := serveFor(t, filepath.Join(t.TempDir(), "data"))
	root := p.root(t)
	root.must(t, "CREATE DATABASE survey",
		`CALL dp_create_collection('survey.commute', 'LDP_BIT', '{"epsilon":0.5,"lo":0,"hi":600,"n_expected":1000}')`,
		"CREATE USER contributor IDENTIFIED BY 'c-pw'", "GRANT INSERT ON dp_in.* TO contributor")
	tokens := root.must(t, "CALL dp_issue_tokens('commute', 2)")
	root.must(t, "CALL dp_open_collection('commute')")

	run := func(home, token, answer string) (string, error) {
		c := exec.Command(app, fmt.Sprintf("contributor:c-pw@tcp(%s)/", p.addr), "commute", token, "37.5")
		c.Env = append(os.Environ(), "XDG_CONFIG_HOME="+home, "HOME="+home)
		c.Stdin = strings.NewReader(answer + "\n")
		out, err := c.CombinedOutput()
		return string(out), err
	}
	ann, bob := t.TempDir(), t.TempDir()
	for range 2 {
		if out, err := run(ann, strings.Join(tokens[0], "\t"), "yes"); err != nil || !strings.Contains(out, "have cost epsilon 0.5, delta 0 of epsilon 4") {
			t.Errorf("%v\n%s", err, out)
		}
	}
	if out, err := run(bob, tokens[1][0]+" 1 0", "no"); err != nil || !strings.Contains(out, "from 37.8 %") || strings.Contains(out, "Thank you") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := run(bob, strings.Repeat("0", 32)+" 1 0", "yes"); err == nil || !strings.Contains(out, "UNKNOWN_TOKEN") {
		t.Errorf("%v\n%s", err, out)
	}
	if n := root.must(t, "SELECT SUM(n_received) FROM dp.collection_cells")[0][0]; n != "1" {
		t.Errorf("%s reports arrived", n)
	}
}

// TestContributorsAppIsDocumented: the guide shows the program that the test runs.
func TestContributorsAppIsDocumented(t *testing.T) {
	guide, err := os.ReadFile("../../docs/collections/contribute-go.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(filepath.Join(appSource, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(guide, append([]byte("```go\n"), append(program, "```\n"...)...)) {
		t.Error("docs/collections/contribute-go.md does not show engine/collections/contribute/testdata/app/main.go as it is")
	}
}
