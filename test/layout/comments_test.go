package layout

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// commentColumns is the most columns of a line that is a comment, a tab being four.
const commentColumns = 100

func TestCommentsAreNarrow(t *testing.T) {
	n := 0
	for name, text := range treeFiles(t) {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		for i, line := range strings.Split(text, "\n") {
			code := strings.TrimLeft(line, "\t ")
			if !strings.HasPrefix(code, "// ") || strings.Contains(code, "://") {
				continue
			}
			n++
			if columns := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t"); columns > commentColumns {
				t.Errorf("%s:%d: a comment of %d columns, want at most %d", name, i+1, columns, commentColumns)
			}
		}
	}
	if n < 1000 {
		t.Errorf("only %d lines of comments found", n)
	}
}
