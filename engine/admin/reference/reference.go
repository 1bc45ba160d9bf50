// Package reference writes docs/reference.md from the tables that the server itself uses:
// functions, procedures, variables, the dp database, the allow-list of expressions, and refusals.
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
	"scrim/planner/lower"
)

// The marks between which a document's reference stands.
const (
	begin = "<!-- reference:begin -->\n"
	end   = "<!-- reference:end -->\n"
)

// Replace returns the document with the text between its marks replaced by the reference.
func Replace(document string) (string, error) {
	head, rest, ok := strings.Cut(document, begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return "", errors.New("reference: the document does not have the marks <!-- reference:begin --> and <!-- reference:end -->")
	}
	return head + begin + Text() + end + tail, nil
}

// Text returns the whole reference as Markdown.
func Text() string {
	var b strings.Builder
	section := func(title, text string) { fmt.Fprintf(&b, "## %s\n\n%s\n", title, text) }
	section("Functions", functions.Reference())
	section("Procedures", "For DBAs; callable with and without a current database.\n\n"+admin.Reference())
	section("Session variables", variables())
	section("Tables of the database `dp`", tables())
	section("Functions on protected rows", allowList())
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

func tables() string {
	var b strings.Builder
	b.WriteString("| table | columns | what it shows |\n| --- | --- | --- |\n")
	for _, t := range admin.Tables() {
		fmt.Fprintf(&b, "| `dp.%s` | %s | %s |\n", t.Name, strings.Join(t.Columns, ", "), t.Doc)
	}
	return b.String()
}

func allowList() string {
	var b strings.Builder
	b.WriteString("Deterministic and total; where one would fail on a row, its value is NULL.\n\n| function | remark |\n| --- | --- |\n")
	for _, f := range lower.Functions() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(f.Signature, "|", `\|`), f.Remark)
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
