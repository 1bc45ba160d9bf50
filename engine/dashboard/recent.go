package dashboard

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"scrim/engine/watch"
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
