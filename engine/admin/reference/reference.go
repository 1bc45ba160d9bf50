// Package reference writes docs/reference.md and a part of docs/dialect.md from the tables that the
// server itself uses: functions, procedures, variables, the dp database and refusals; and who
// evaluates which of MySQL's functions, types and statements.
package reference

import (
	"errors"
	"fmt"
	"strings"

	"scrim/engine/admin"
	"scrim/functions"
	"scrim/internal/params"
	"scrim/internal/refuse"
	"scrim/internal/remark"
)

// parts are what a document may hold between the lines <!-- NAME:begin --> and <!-- NAME:end -->.
var parts = map[string]func() string{"reference": Text, "dialect": Dialect}

func begin(name string) string { return "<!-- " + name + ":begin -->\n" }
func end(name string) string   { return "<!-- " + name + ":end -->\n" }

// Replace returns the document with the text between its marks written anew.
func Replace(document string) (string, error) {
	for name, text := range parts {
		head, rest, ok := strings.Cut(document, begin(name))
		_, tail, ok2 := strings.Cut(rest, end(name))
		if ok && ok2 {
			return head + begin(name) + text() + end(name) + tail, nil
		}
	}
	return "", errors.New("reference: the document does not have the marks <!-- reference:begin --> and <!-- reference:end -->, or those of the dialect")
}

// Text returns the whole reference as Markdown.
func Text() string {
	var b strings.Builder
	section := func(title, text string) { fmt.Fprintf(&b, "## %s\n\n%s\n", title, text) }
	section("Functions", functions.Reference())
	section("Procedures", "For DBAs; callable with and without a current database.\n\n"+admin.Reference())
	section("Session variables", variables())
	section("Tables of the database `dp`", shown())
	section("Warnings", warnings())
	section("Refusals", refusals())
	return b.String()
}

func variables() string {
	var b strings.Builder
	b.WriteString("| variable | range | unit | meaning |\n| --- | --- | --- | --- |\n")
	for _, p := range params.At(params.Session) {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", p.Name, p.Range(), p.Unit, p.Doc)
	}
	return b.String()
}

func shown() string {
	var b strings.Builder
	b.WriteString("| table | columns | what it shows |\n| --- | --- | --- |\n")
	for _, t := range admin.Tables() {
		fmt.Fprintf(&b, "| `dp.%s` | %s | %s |\n", t.Name, strings.Join(t.Columns, ", "), t.Doc)
	}
	return b.String()
}

func warnings() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Warnings and notes on answers have the number %d as well; their messages begin with the code.\n\n| code | level | cause | remedy |\n| --- | --- | --- | --- |\n", refuse.MySQLErrno)
	for _, e := range remark.Table {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", e.Code, e.Level, e.Cause, e.Remedy)
	}
	return b.String()
}

func refusals() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Error number %d with these SQLSTATEs; everything else has MySQL's own number.\n\n| SQLSTATE | cause | remedy |\n| --- | --- | --- |\n", refuse.MySQLErrno)
	for _, e := range refuse.Table {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", e.SQLState, e.Cause, e.Remedy)
	}
	return b.String()
}
