package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFiguresWriteTables: a page's table is replaced by what its command prints, medians of
// repeated lines and times in a unit of their size; a command that is not asked for, and one that
// fails, leave theirs.
func TestFiguresWriteTables(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	lines := []string{"cpu: Some CPU", "BenchmarkA/x-2 10 1500 ns/op 3 ratio", "BenchmarkA/x-2 10 2500 ns/op 1 ratio", "BenchmarkA/x-2 10 900 ns/op 2 ratio", "BenchmarkB-2 1 2345678901 ns/op"}
	command := "printf '" + strings.Join(lines, `\n`) + `\n'`
	kept := "<!-- figures:begin false -->\nkept\n<!-- figures:end -->\n"
	text := "before\n<!-- figures:begin " + command + " -->\nold\n<!-- figures:end -->\nbetween\n" + kept
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := writeMeasured(t.Context(), io.Discard, page, regexp.MustCompile("printf")); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"before\n<!-- figures:begin printf", "|  | ns/op | ratio |", "| `A/x` | 1.5µs | 2 |", "| `B` | 2.35s |  |", ", Some CPU.\n<!-- figures:end -->\nbetween\n" + kept} {
		if !strings.Contains(string(got), want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
	if strings.Contains(string(got), "old") {
		t.Errorf("the old table is still there:\n%s", got)
	}
	for _, only := range []string{"^false", "nothing"} {
		if err := writeMeasured(t.Context(), io.Discard, page, regexp.MustCompile(only)); err == nil {
			t.Errorf("%s: no error", only)
		}
	}
	if again, _ := os.ReadFile(page); string(again) != string(got) {
		t.Errorf("a command that fails has changed the page:\n%s", again)
	}
}
