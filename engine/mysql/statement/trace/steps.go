package trace

import (
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/mysql/session"
	"scrim/engine/observe/watch"
)

// mostSteps bounds the steps of one statement that are noted.
const mostSteps = 256

// steps are the steps of a statement, with what observers of them want to know beside.
type steps struct {
	began  time.Time
	parent string

	mu      sync.Mutex // a plan may begin its parts at the same time
	list    []watch.Step
	open    []int       // those that have not ended, the innermost last
	reads   map[int]int // since the last charge: the steps of releases, by their numbers
	read    []bool      // which of list are steps of releases
	last    int         // the one of a release that has begun and not ended, -1 without
	charges []uint64
}

// traceparent is what clients put at the end of a statement to say what trace it is part of.
var traceparent = regexp.MustCompile(`/\*(?:[^*]*[,\s])?traceparent='([0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2})'[^*]*\*/[\s;]*$`)

// NoteSteps makes the trace note steps from here on. text is the statement as the client sent it.
func (t *Trace) NoteSteps(text string) {
	t.steps = &steps{began: t.started, reads: map[int]int{}, last: -1}
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
	t.steps.mu.Lock()
	defer t.steps.mu.Unlock()
	i, ok := t.steps.begin(name)
	if !ok {
		return nothing
	}
	return func() { t.steps.end(i) }
}

// Next notes that a step of the releases that were charged last begins, the number-th: the one
// before has ended. The last of them ends when the trace is told what Ran, or with the step that
// they are a part of. One that is done again, which follows from how much is read, is one step.
func (t *Trace) Next(name string, number int) {
	if t == nil || t.steps == nil {
		return
	}
	s := t.steps
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeLast()
	i, again := s.reads[number]
	if again {
		s.open = append(s.open, i)
	} else {
		var ok bool
		if i, ok = s.begin(name); !ok {
			return
		}
		s.read[i], s.reads[number] = true, i
	}
	s.last = i
}

// Charge notes an entry of the ledger.
func (t *Trace) Charge(entry uint64) {
	if t == nil || t.steps == nil {
		return
	}
	t.steps.mu.Lock()
	defer t.steps.mu.Unlock()
	t.steps.charges = append(t.steps.charges, entry)
	clear(t.steps.reads)
}

// begin begins a step within the innermost that is open. ok is false where there are too many.
func (s *steps) begin(name string) (i int, ok bool) {
	if i = len(s.list); i == mostSteps {
		return 0, false
	}
	within := -1
	if n := len(s.open); n > 0 {
		within = s.open[n-1]
	}
	s.list = append(s.list, watch.Step{Name: name, From: time.Since(s.began), Within: within})
	s.read = append(s.read, false)
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
	s.closeLast()
}

func (s *steps) closeLast() {
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
// Of a private statement that gave no answer the steps of its releases are left out: how far it
// came may follow from rows.
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
	e.Steps, e.Charges, e.Parent = s.told(!e.Private || e.Outcome == watch.Answered), slices.Clone(s.charges), s.parent
	if ctx == nil {
		return
	}
	if own, ok := session.From(ctx); ok {
		e.Public = !e.Private && !own.TouchesProtected() && !session.IsDBA(ctx)
	}
}

// told are the steps, with those of releases or without.
func (s *steps) told(reads bool) []watch.Step {
	var out []watch.Step
	at := make([]int, len(s.list)) // where each is in out, or what it is a part of
	for i, step := range s.list {
		if step.Within >= 0 {
			step.Within = at[step.Within]
		}
		if at[i] = step.Within; reads || !s.read[i] {
			at[i] = len(out)
			out = append(out, step)
		}
	}
	return out
}
