package trace

import (
	"context"
	"slices"
	"testing"

	"scrim/engine/observe/watch"
)

func TestStepsNest(t *testing.T) {
	_, tr := New(context.Background(), "SELECT 1")
	tr.NoteSteps("SELECT 1")
	tr.Step("parse")()
	rows := tr.Step("rows")
	reserve := tr.Step("reserve")
	reserve()
	tr.Charge(6)
	tr.Next("scan 1 of 1", 1)
	tr.Next("scan 1 of 1", 1) // again, alone
	tr.Next("estimates", 2)
	tr.Ran(0, 1)
	tr.Charge(7)
	tr.Next("left open", 1)
	rows()
	var e watch.Event
	tr.steps.tell(&e, nil)
	var names []string
	var within []int
	for i, s := range e.Steps {
		names, within = append(names, s.Name), append(within, s.Within)
		if s.To < s.From || s.Within >= 0 && s.To > e.Steps[s.Within].To {
			t.Errorf("step %d: %+v", i, s)
		}
	}
	if want := []string{"parse", "rows", "reserve", "scan 1 of 1", "estimates", "left open"}; !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
	if want := []int{-1, -1, 1, 1, 1, 1}; !slices.Equal(within, want) {
		t.Errorf("within: got %v, want %v", within, want)
	}
	if !slices.Equal(e.Charges, []uint64{6, 7}) || e.Public {
		t.Errorf("got %+v", e)
	}
}

// TestHowFarAStatementCameIsNotTold: where a private statement gave no answer.
func TestHowFarAStatementCameIsNotTold(t *testing.T) {
	_, tr := New(context.Background(), "SELECT 1")
	tr.NoteSteps("SELECT 1")
	rows := tr.Step("rows")
	tr.Charge(6)
	tr.Next("scan 1 of 2", 1)
	tr.Step("inner")()
	tr.Next("scan 2 of 2", 2)
	rows()
	e := watch.Event{Private: true, Outcome: watch.TimedOut}
	tr.steps.tell(&e, nil)
	if len(e.Steps) != 2 || e.Steps[0].Name != "rows" || e.Steps[1].Name != "inner" || e.Steps[1].Within != 0 {
		t.Errorf("got %+v", e.Steps)
	}
}

func TestStepsAreBounded(t *testing.T) {
	_, tr := New(context.Background(), "SELECT 1")
	tr.NoteSteps("SELECT 1")
	for range 2 * mostSteps {
		tr.Step("parse")()
	}
	if n := len(tr.steps.list); n != mostSteps {
		t.Errorf("%d steps", n)
	}
}

func TestTheTraceThatAClientNames(t *testing.T) {
	const id = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for text, want := range map[string]string{
		"SELECT 1 /*traceparent='" + id + "'*/":                                     id,
		"SELECT 1 /* controller='x',traceparent='" + id + "',tracestate='a%3D1'*/;": id,
		"SELECT '/*traceparent=''" + id + "''*/'":                                   "",
		"/*traceparent='" + id + "'*/ SELECT 1":                                     "",
		"SELECT 1 /*xtraceparent='" + id + "'*/":                                    "",
		"SELECT 1 /*traceparent='secret'*/":                                         "",
		"SELECT 1":                                                                  "",
	} {
		_, tr := New(context.Background(), text)
		tr.NoteSteps(text)
		if got := tr.steps.parent; got != want {
			t.Errorf("%s: got %q", text, got)
		}
	}
}

// TestStepsCostNothingWhereNobodyWantsThem: they allocate nothing, with a trace and without.
func TestStepsCostNothingWhereNobodyWantsThem(t *testing.T) {
	_, tr := New(context.Background(), "SELECT 1")
	for _, tr := range []*Trace{tr, nil} {
		if n := testing.AllocsPerRun(100, func() {
			tr.Step("parse")()
			tr.Next("scan 1 of 1", 1)
			tr.Charge(7)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}
