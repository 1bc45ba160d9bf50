package accuracy

import (
	"fmt"
	"strings"
)

// Replace puts text between the lines <!-- accuracy:begin NAME --> and <!-- accuracy:end NAME --> of a document.
func Replace(document, name, text string) (string, error) {
	begin, end := "<!-- accuracy:begin "+name+" -->\n", "<!-- accuracy:end "+name+" -->"
	before, rest, ok := strings.Cut(document, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", fmt.Errorf("accuracy: the document has no lines %s and %s", strings.TrimSpace(begin), end)
	}
	return before + begin + "\n" + strings.TrimSpace(text) + "\n\n" + end + after, nil
}
