package hostile

import (
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

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
