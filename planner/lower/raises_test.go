package lower_test

import (
	stdsql "database/sql"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"scrim/internal/sqltext"
	"scrim/test/testenv/hostile"
)

// TestRaises holds the list in testdata/raises, of what the planner writes and when it raises,
// against the engine: each function over hostile values of every type that it takes, and each cast
// between two types. A newer engine is decided on by the differences that -rewrite makes.
//
//	scalar [sizes]   a function, as all of its overloads; sizes: its integers are lengths, and small here
//	aggregate        one over rows, and over few equal ones
//	call             calls, in which {TYPE} stands for values of a type
//	cast, try        CAST and TRY_CAST to a type, from every other
//
// The answer is what happens, by the types of the arguments: total, or the kind of the error. What
// raises has a line that begins with -- and says how the planner keeps rows away from the error.
func TestRaises(t *testing.T) {
	db := openValues(t)
	raises := 0
	datadriven.Walk(t, "testdata/raises", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			outcome := map[string][]string{}
			note := func(call, query string) {
				what := raised(db, query)
				outcome[what] = append(outcome[what], call)
			}
			lines, guarded := listed(d)
			for _, line := range lines {
				switch d.Cmd {
				case "call":
					note(line, templateQuery(line))
				case "scalar", "aggregate":
					for _, types := range signatures(t, db, line) {
						note(line+"("+sqltext.List(types)+")", callQuery(d, line, types))
					}
				default:
					for _, from := range valueTypes {
						note(from, templateQuery(map[string]string{"cast": "CAST", "try": "TRY_CAST"}[d.Cmd]+"({"+from+"} AS "+line+")"))
					}
					delete(outcome, "Binder Error") // no such cast
				}
			}
			var out []string
			for what, calls := range outcome {
				if raises++; what != "total" && !guarded {
					t.Errorf("%s: %s raises of %s; write down how the planner guards it", d.Pos, d.Input, calls)
				}
				if slices.Sort(calls); d.Cmd == "call" && what == "total" {
					calls = []string{strconv.Itoa(len(calls)) + " calls"}
				}
				out = append(out, what+": "+strings.Join(calls, " "))
			}
			slices.Sort(out)
			return strings.Join(out, "\n") + "\n"
		})
	})
	if raises < 70 {
		t.Errorf("%d outcomes, want 70 and more", raises)
	}
}

// listed are the lines of a command that name what is called, and whether one says how it is
// guarded.
func listed(d *datadriven.TestData) (lines []string, guarded bool) {
	for _, line := range strings.Split(d.Input, "\n") {
		if strings.HasPrefix(line, "--") {
			guarded = true
		} else {
			lines = append(lines, line)
		}
	}
	return lines, guarded
}

// valueTypes are the types that the list is about: those of columns and of what is made of them.
var valueTypes = []string{"BOOLEAN", "TINYINT", "INTEGER", "BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT", "DECIMAL(4,1)", "DECIMAL(18,4)", "DECIMAL(38,0)", "DECIMAL(38,10)", "FLOAT", "DOUBLE",
	"VARCHAR", "BLOB", "UUID", "DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE", "TIME", "INTERVAL", "JSON", "VARCHAR[]", "DOUBLE[]", "DOUBLE[3]"}

func valueTable(typ string) string { return `"values of ` + typ + `"` }

// openValues returns a store with a table of hostile values for each type.
func openValues(t testing.TB) *stdsql.DB {
	db, err := stdsql.Open("duckdb", "?threads=1&memory_limit=1GB")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	for _, typ := range valueTypes {
		q := "CREATE TABLE " + valueTable(typ) + " AS SELECT CAST(v AS " + typ + ") AS v FROM (VALUES (NULL)"
		for _, v := range hostile.Values(typ) {
			q += ", (CAST(" + v + " AS " + typ + "))"
		}
		if _, err := db.Exec(q + ") AS x(v)"); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// raised runs a query and returns the kind of its error, or "total".
func raised(db *stdsql.DB, query string) string {
	rs, err := db.Query(query)
	if err == nil {
		for rs.Next() {
		}
		err = rs.Err()
		rs.Close()
	}
	if err == nil {
		return "total"
	}
	kind, _, _ := strings.Cut(err.Error(), ":")
	return kind
}

// signatures are the lists of argument types that the engine has for a function, with each DECIMAL
// and ANY in the sizes and types of valueTypes.
func signatures(t *testing.T, db *stdsql.DB, name string) (out [][]string) {
	rs, err := db.Query(`SELECT DISTINCT array_to_string(list_transform(parameter_types, lambda p: coalesce(p, 'ANY')), ';') || coalesce(';' || varargs, '')
		FROM duckdb_functions() WHERE function_name = $1 AND function_type IN ('scalar', 'aggregate') ORDER BY 1`, name)
	if err != nil {
		t.Fatal(err)
	}
	defer rs.Close()
	for rs.Next() {
		var list string
		if err := rs.Scan(&list); err != nil {
			t.Fatal(err)
		}
		lists := [][]string{{}}
		for at, typ := range strings.FieldsFunc(list, func(r rune) bool { return r == ';' }) {
			var next [][]string
			for _, l := range lists {
				for _, one := range alternatives(typ, at, l) {
					next = append(next, append(slices.Clone(l), one))
				}
			}
			lists = next
		}
		for _, l := range lists {
			if !slices.ContainsFunc(out, func(o []string) bool { return slices.Equal(o, l) }) {
				out = append(out, l)
			}
		}
	}
	if len(out) == 0 {
		t.Errorf("the engine has no function %s of these types", name)
	}
	return out
}

// alternatives are the types of values for a parameter. Further parameters of any type have that of
// the first.
func alternatives(typ string, at int, before []string) []string {
	switch {
	case (typ == "ANY" || typ == "T") && at > 0:
		return before[:1]
	case typ == "ANY" || typ == "T":
		return valueTypes
	case typ == "DECIMAL":
		return []string{"DECIMAL(4,1)", "DECIMAL(18,4)", "DECIMAL(38,0)", "DECIMAL(38,10)"}
	case slices.Contains(valueTypes, typ):
		return []string{typ}
	}
	return nil
}

// callQuery is a query that calls a function on all combinations of the values of types.
func callQuery(d *datadriven.TestData, name string, types []string) string {
	args, from := make([]string, len(types)), []string{"(SELECT 1) AS one"}
	for i, typ := range types {
		table := valueTable(typ)
		switch {
		case typ == "VARCHAR" && len(types) > 1:
			table = "(SELECT v FROM " + table + " WHERE v IS NULL OR strlen(v) < 100)"
		case d.HasArg("sizes") && (typ == "BIGINT" || typ == "INTEGER"):
			table = "(SELECT v FROM " + table + " WHERE v IS NULL OR v BETWEEN -100 AND 1000)"
		}
		args[i] = fmt.Sprintf("a%d.v", i)
		from = append(from, fmt.Sprintf("%s AS a%d", table, i))
	}
	call := name + "(" + sqltext.List(args) + ")"
	if strings.Trim(name, "+-*/%|&<>=~") == "" {
		call = "(" + strings.Join(append([]string{""}, args...)[max(len(args)-1, 0):], " "+name+" ") + ")"
	}
	if d.Cmd == "aggregate" {
		rows := "(SELECT bit_xor(hash(r)) FROM (SELECT " + strings.Replace(call, "()", "(*)", 1) + " AS r FROM " + sqltext.List(from)
		return "SELECT " + rows + ")), " + rows + ", range(5) GROUP BY CAST((" + sqltext.List(append(args, "1")) + ") AS VARCHAR)))"
	}
	return "SELECT bit_xor(hash(" + call + ")) FROM " + sqltext.List(from)
}

var placeholder = regexp.MustCompile(`\{([A-Z][^}]*)\}`)

// templateQuery is a query that evaluates a call of the list on all combinations of its values.
func templateQuery(call string) string {
	from := []string{"(SELECT 1) AS one"}
	call = placeholder.ReplaceAllStringFunc(call, func(p string) string {
		from = append(from, fmt.Sprintf("%s AS a%d", valueTable(p[1:len(p)-1]), len(from)))
		return fmt.Sprintf("a%d.v", len(from)-1)
	})
	return "SELECT bit_xor(hash(r)) FROM (SELECT " + call + " AS r FROM " + sqltext.List(from) + ")"
}
