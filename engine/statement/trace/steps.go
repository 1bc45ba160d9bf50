package trace

import (
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/session"
	"scrim/engine/watch"
)

// mostSteps bounds the steps of one statement that are noted.
const mostSteps = 256

// steps are the steps of a statement, with what observers of them want to know beside.
type steps struct {
	began  time.Time
	parent string

	mu      sync.Mutex // a plan may begin its parts at the same time
	list    []watch.Step
	open    []int // those that have not ended, the innermost last
	last    int   // the one that Next has begun and nothing has ended, -1 without
	charges []uint64
}

// traceparent is what clients put at the end of a statement to say what trace it is part of.
var traceparent = regexp.MustCompile(`/\*(?:[^*]*[,\s])?traceparent='([0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2})'[^*]*\*/[\s;]*$`)

// NoteSteps makes the trace note steps from here on. text is the statement as the client sent it.
func (t *Trace) NoteSteps(text string) {
	t.steps = &steps{began: t.started, last: -1}
	if m := traceparent.FindStringSubmatch(text); m != nil {
		t.steps.parent = m[1]
	}
}

// nothing ends what was not begun.
var nothing = func() {}

// Step notes that a step begins; what it returns notes its end.
func (t *Trace) Step(name string) (end func()) {
	if t == nil || t.steps == nil {
		return nothing
	}
	i, ok := t.steps.begin(name)
	if !ok {
		return nothing
	}
	return func() { t.steps.end(i) }
}

// Next notes that one of the steps begins that follow one another: the one before has ended. The
// last of them ends when the trace is told what Ran, or with the step that they are a part of.
func (t *Trace) Next(name string) {
	if t == nil || t.steps == nil {
		return
	}
	t.steps.endLast()
	if i, ok := t.steps.begin(name); ok {
		t.steps.mu.Lock()
		t.steps.last = i
		t.steps.mu.Unlock()
	}
}

// Charge notes an entry of the ledger.
func (t *Trace) Charge(entry uint64) {
	if t == nil || t.steps == nil {
		return
	}
	t.steps.mu.Lock()
	defer t.steps.mu.Unlock()
	t.steps.charges = append(t.steps.charges, entry)
}

func (s *steps) begin(name string) (i int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i = len(s.list); i == mostSteps {
		return 0, false
	}
	within := -1
	if n := len(s.open); n > 0 {
		within = s.open[n-1]
	}
	s.list = append(s.list, watch.Step{Name: name, From: time.Since(s.began), Within: within})
	s.open = append(s.open, i)
	return i, true
}

func (s *steps) end(i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.close(i)
}

func (s *steps) endLast() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last >= 0 {
		s.close(s.last)
		s.last = -1
	}
}

// close ends a step, and those within that nothing has ended.
func (s *steps) close(i int) {
	for at := len(s.open) - 1; at >= 0; at-- {
		if s.open[at] == i {
			s.list[i].To = time.Since(s.began)
			for _, inner := range s.open[at+1:] {
				s.list[inner].To = s.list[i].To
			}
			s.open = s.open[:at]
			return
		}
	}
}

// tell puts the steps into the event of the statement, which has ended. ctx may be nil.
//
// How long the statements of an analyst that touch no protected table take follows from public rows
// alone. A DBA may read and write the others, too, in more ways than are noted.
func (s *steps) tell(e *watch.Event, ctx *sql.Context) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.open {
		s.list[i].To = e.Duration
	}
	e.Steps, e.Charges, e.Parent = slices.Clone(s.list), slices.Clone(s.charges), s.parent
	if ctx == nil {
		return
	}
	if own, ok := session.From(ctx); ok {
		e.Public = !e.Private && !own.TouchesProtected() && !session.IsDBA(ctx)
	}
}
