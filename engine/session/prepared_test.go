package session

import (
	"strings"
	"testing"
)

func TestPreparedTextsAreBounded(t *testing.T) {
	s := &Session{}
	half := Prepared{Text: strings.Repeat("x", maxPreparedText/2)}
	for _, name := range []string{"a", "A", "b", "a"} {
		if name != "b" {
			s.Forget(name)
		}
		if err := s.Remember(name, half); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if s.Remember("c", half) == nil {
		t.Error("a third half was kept")
	}
	if !s.Forget("B") || s.Remember("c", half) != nil {
		t.Error("what was given up is still counted")
	}
}
