// Package hostile has values of the store's types that expressions and aggregates must bear: the
// ends, zeros, what is no number and no day, texts that are nearly numbers, dates and JSON, empty
// and long ones. And it tells what functions of the store a statement calls.
package hostile

import (
	"database/sql"
	_ "embed"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

//go:embed values
var file string

// Values are the values of a type of the store, each an expression of the store's SQL; nil where
// the file values has none.
func Values(typ string) []string {
	_, rest, found := strings.Cut("\n"+file, "\n"+typ+"\n\t")
	if !found {
		return nil
	}
	list, _, _ := strings.Cut(rest, "\n\n")
	return strings.Split(strings.TrimSuffix(list, "\n"), "\n\t")
}

// Value is an expression for value n of a type, which begin anew after the last.
func Value(typ string, n int) string {
	list := Values(typ)
	return "CAST(" + list[n%len(list)] + " AS " + typ + ")"
}

var (
	calledName = regexp.MustCompile(`"function_name":"([^"]+)"`)
	listedCall = regexp.MustCompile(`([a-z_0-9]+)\(`)
)

// Unlisted are the functions and operators that a statement calls and that are not in a list of
// calls (Listed).
func Unlisted(t testing.TB, db *sql.DB, listed map[string]bool, statement string) (names []string) {
	t.Helper()
	var tree string
	if err := db.QueryRow("SELECT CAST(json_serialize_sql(CAST($1 AS VARCHAR)) AS VARCHAR)", statement).Scan(&tree); err != nil || strings.Contains(tree, `"error":true`) {
		t.Fatalf("%v: %.300s\n%s", err, tree, statement)
	}
	for _, m := range calledName.FindAllStringSubmatch(tree, -1) {
		if name := strings.TrimSuffix(m[1], "_star"); !listed[name] && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Listed reads which functions and operators the files of a directory list: planner/lower's list of
// what raises.
func Listed(t testing.TB, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(dir + "/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no list in %s: %v", dir, err)
	}
	listed := map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			listed[line] = true
			for _, m := range listedCall.FindAllStringSubmatch(line, -1) {
				listed[m[1]] = true
			}
		}
	}
	return listed
}
