// Package form writes what benches have found: tables of Markdown, and numbers that JSON can hold.
package form

import (
	"fmt"
	"math"
	"strings"
)

// Table writes a Markdown table with the rows that are yielded, and an empty line after it.
func Table(b *strings.Builder, head []string, rows func(yield func([]string))) {
	line := func(cells []string) { fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | ")) }
	line(head)
	rules := make([]string, len(head))
	for i := range rules {
		rules[i] = "---"
	}
	line(rules)
	rows(line)
	b.WriteString("\n")
}

// Finite returns a pointer to x, nil where x is NaN or infinite.
func Finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
