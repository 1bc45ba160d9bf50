package remark

import "testing"

// TestLacks: what Summary writes of empty answers and NULLs is known again, and nothing else is.
func TestLacks(t *testing.T) {
	for _, e := range Table {
		r := Plain(e.Code)
		if e.Code != NoKeys { // which is about the whole answer
			r = r.In(3, 12)
		}
		want := e.Code == NoKeys || e.Code == TooFewPersons
		if s := Summary([]Remark{r}); Lacks(s) != want {
			t.Errorf("%s: %q lacks something: %v, want %v", e.Code, s, !want, want)
		}
	}
	mixed := Summary([]Remark{Plain(WideError).In(1, 12), Plain(TooFewPersons).In(3, 12)})
	if !Lacks(mixed) || Lacks("") {
		t.Errorf("%q, or nothing, is taken for what it is not", mixed)
	}
}
