package dashboard

import (
	"net/http"
	"strings"
	"unicode"

	"scrim/engine/watch"
	"scrim/internal/refuse"
)

// Unanswered is a statement that was refused, failed, or was ended.
type Unanswered struct {
	watch.Event
	Link string
	Why  string // what the cause means
}

// Why is a cause of refusals with what it means and what helps.
type Why struct {
	Cause
	Text, Remedy string
}

// otherCauses are those that are not codes of refusals.
var otherCauses = map[string]string{
	"PRIVILEGE":   "The account lacks a privilege of MySQL's own.",
	"SYNTAX":      "The statement could not be parsed.",
	"STATEMENT":   "The statement ran into one of MySQL's conditions, told by its error number.",
	"TIME_LIMIT":  "The statement ran longer than max_execution_time, or than statement-time of the server.",
	"INTERRUPTED": "The statement was ended by KILL, by its client's leaving, or by the end of the server.",
	"INTERNAL":    "The server's log says what happened, under the statement's id.",
}

// meaning says what a cause means and what helps.
func meaning(cause string) (text, remedy string) {
	for _, e := range refuse.Table {
		if string(e.Code) == cause {
			return e.Cause, e.Remedy
		}
	}
	return otherCauses[cause], ""
}

// namesTable reports whether the text of a statement names a table. What is refused early has no
// list of tables yet.
func namesTable(e *watch.Event, table string) bool {
	schema, name, _ := strings.Cut(table, ".")
	word := func(r rune) bool {
		return r != '.' && r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	for _, w := range strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(e.Statement, "`", "")), word) {
		if w == table || w == name && strings.EqualFold(e.Database, schema) {
			return true
		}
	}
	return false
}

// unanswered returns the last statements that were not answered and that keep accepts.
func (d *Dashboard) unanswered(limit int, keep func(*watch.Event) bool) []Unanswered {
	var list []Unanswered
	for _, e := range d.o.Recent.Unanswered(limit, keep) {
		u := Unanswered{Event: e, Link: "/analysts/" + segment(e.Principal)}
		u.Why, _ = meaning(e.Cause)
		list = append(list, u)
	}
	return list
}

// causes returns why statements were refused since the server started.
func (d *Dashboard) causes() []Why {
	var list []Why
	for _, c := range d.o.Recent.Causes() {
		w := Why{Cause: c}
		w.Text, w.Remedy = meaning(c.Name)
		list = append(list, w)
	}
	return list
}

type refusalsPage struct {
	Causes []Why
	Rates  Rates
	List   []Unanswered
}

func (d *Dashboard) refusals(r *http.Request, _ Viewer) (string, any, error) {
	all := func(*watch.Event) bool { return true }
	return "refusals.html", refusalsPage{d.causes(), d.rates(d.o.Now().UTC()), d.unanswered(100, all)}, nil
}
