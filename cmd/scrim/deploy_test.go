package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"scrim/test/testenv"
)

func deployed(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestDeployedCommandsExist checks every command line of the unit and the Dockerfile against the
// program's own commands and flags, and every environment variable against the settings.
func TestDeployedCommandsExist(t *testing.T) {
	var lines []string
	for _, m := range regexp.MustCompile(`(?m)^Exec\w+=/usr/local/bin/scrim (.+)$`).FindAllStringSubmatch(deployed(t, "scrim.service"), -1) {
		lines = append(lines, m[1])
	}
	docker := deployed(t, "Dockerfile")
	for _, m := range regexp.MustCompile(`(?m)CMD \[(.+)\]$`).FindAllStringSubmatch(docker, -1) {
		lines = append(lines, strings.TrimPrefix(strings.NewReplacer(`"`, "", ",", "").Replace(m[1]), "scrim "))
	}
	if len(lines) != 4 {
		t.Fatalf("got the command lines %q, want 4", lines)
	}
	for _, line := range lines {
		checkLine(t, line)
	}
	names := regexp.MustCompile(`SCRIM_[A-Z_]+`).FindAllString(docker, -1)
	if len(names) < 4 {
		t.Errorf("got the variables %q", names)
	}
	for _, name := range names {
		if !slices.ContainsFunc(settings, func(s setting) bool { return s.variable() == name }) {
			t.Errorf("the Dockerfile sets %s, which is no setting", name)
		}
	}
}

// checkLine finds the command of a command line and its flags.
func checkLine(t *testing.T, line string) {
	t.Helper()
	root := rootCommand(streams{})
	cmd, rest, err := root.Find(strings.Fields(line))
	if err != nil || cmd == root {
		t.Errorf("scrim %s: no such command: %v", line, err)
		return
	}
	for _, arg := range rest {
		if name, ok := strings.CutPrefix(arg, "--"); ok && !has(cmd, name) {
			t.Errorf("scrim %s: no flag --%s", line, name)
		}
	}
}

func has(cmd *cobra.Command, flag string) bool {
	flag, _, _ = strings.Cut(flag, "=")
	return cmd.Flags().Lookup(flag) != nil || flag == "help"
}

func TestDeployedConfiguration(t *testing.T) {
	if got := deployed(t, "scrim.toml"); got != exampleFile() {
		t.Error("deploy/scrim.toml is out of date: bin/scrim config example > deploy/scrim.toml")
	}
}

// TestUnit lets systemd check the unit, with this program in the place of the installed one.
func TestUnit(t *testing.T) {
	analyze := testenv.Program(t, "systemd-analyze")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	unit := strings.ReplaceAll(deployed(t, "scrim.service"), "/usr/local/bin/scrim", self)
	path := filepath.Join(t.TempDir(), "scrim.service")
	if err := os.WriteFile(path, []byte(unit), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(analyze, "verify", "--man=no", path).CombinedOutput()
	if err != nil || strings.Contains(string(out), "scrim.service:") {
		t.Errorf("%v:\n%s", err, out)
	}
}
