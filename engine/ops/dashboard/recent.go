package dashboard

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"scrim/engine/observe/watch"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// What is remembered of statements: the last of those that were refused or failed, hours, and how
// often each cause came. It is kept in memory and begins anew with the server; the ledger has the
// charges, and the audit log everything.
const (
	keptEvents    = 500
	keptStatement = 600 // bytes of a statement
	keptHours     = 48
	keptCauses    = 128
)

// Recent remembers the statements that ended lately. It is a watch.Observer, safe for concurrent
// use.
type Recent struct {
	since time.Time

	mu     sync.Mutex
	events []watch.Event // a ring of those that were not answered
	next   int
	hours  [keptHours]Hour
	causes map[string]*Cause
}

var _ watch.Observer = (*Recent)(nil)

// Hour counts the statements that ended in one hour of UTC.
type Hour struct {
	Start time.Time
	// of all statements; Failed also counts those that were ended or ran out of time
	Answered, Refused, Failed int
	Private                   int
	Charged, Replayed         int // releases of private statements
}

// Cause is a reason of refusals, and how often it came since the server started.
type Cause struct {
	Name  string
	Count int
	Last  time.Time
}

// NewRecent remembers from now on.
func NewRecent(now time.Time) *Recent {
	return &Recent{since: now.UTC(), causes: map[string]*Cause{}}
}

// Statement implements watch.Observer.
func (r *Recent) Statement(e watch.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.hour(e.At.Add(e.Duration))
	h.Charged += e.Charged
	h.Replayed += e.Replayed
	if e.Private {
		h.Private++
	}
	switch e.Outcome {
	case watch.Answered:
		h.Answered++
		return
	case watch.Refused:
		h.Refused++
		r.cause(e)
	default:
		h.Failed++
	}
	e.Statement = clip(strings.ToValidUTF8(e.Statement, "�"), keptStatement)
	if len(r.events) < keptEvents {
		r.events = append(r.events, e)
		return
	}
	r.events[r.next] = e
	r.next = (r.next + 1) % keptEvents
}

// hour is the count of the hour that holds t. r.mu is held.
func (r *Recent) hour(t time.Time) *Hour {
	start := t.UTC().Truncate(time.Hour)
	h := &r.hours[int(start.Unix()/3600%keptHours)]
	if !h.Start.Equal(start) {
		*h = Hour{Start: start}
	}
	return h
}

// cause counts a refusal. r.mu is held.
func (r *Recent) cause(e watch.Event) {
	c := r.causes[e.Cause]
	if c == nil {
		if len(r.causes) >= keptCauses {
			return
		}
		c = &Cause{Name: e.Cause}
		r.causes[e.Cause] = c
	}
	c.Count++
	c.Last = e.At
}

// Unanswered returns at most limit of the events that keep accepts, the last first.
func (r *Recent) Unanswered(limit int, keep func(*watch.Event) bool) []watch.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []watch.Event
	for i := range r.events {
		e := &r.events[(r.next+len(r.events)-1-i)%len(r.events)]
		if len(list) == limit {
			break
		}
		if keep(e) {
			list = append(list, *e)
		}
	}
	return list
}

// Hours returns the n hours up to the one that holds now, the earliest first; those without
// statements too.
func (r *Recent) Hours(now time.Time, n int) []Hour {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]Hour, n)
	last := now.UTC().Truncate(time.Hour)
	for i := range list {
		start := last.Add(time.Duration(i-n+1) * time.Hour)
		list[i] = Hour{Start: start}
		if h := r.hours[int(start.Unix()/3600%keptHours)]; h.Start.Equal(start) {
			list[i] = h
		}
	}
	return list
}

// Causes returns why statements were refused, the most frequent first.
func (r *Recent) Causes() []Cause {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []Cause
	for _, c := range r.causes {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// clip shortens s to at most n bytes and an ellipsis, at a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

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
	if e, ok := lists.Find(refuse.Table, func(e refuse.Entry) bool { return string(e.Code) == cause }); ok {
		return e.Cause, e.Remedy
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
