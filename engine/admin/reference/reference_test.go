package reference

import (
	"os"
	"strings"
	"testing"
)

// TestReference fails when docs/reference.md is not what the tables in the code say.
func TestReference(t *testing.T) {
	b, err := os.ReadFile("../../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := Replace(string(b))
	if err != nil {
		t.Fatal(err)
	}
	if want != string(b) {
		t.Error("docs/reference.md is out of date: run make docs")
	}
}

func TestReplaceWantsMarks(t *testing.T) {
	for _, doc := range []string{"", begin, end, end + begin} {
		if _, err := Replace(doc); err == nil {
			t.Errorf("Replace(%q): no error", doc)
		}
	}
	got, err := Replace("a\n" + begin + "OUTDATED\n" + end + "b\n")
	if err != nil || strings.Contains(got, "OUTDATED") || !strings.HasSuffix(got, end+"b\n") {
		t.Errorf("the old text is left, or the rest of the document is not: %v", err)
	}
}
