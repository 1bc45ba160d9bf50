package hours

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func writeReport(t *testing.T, typed int, newcomer, dba, analyst, agent, contributor *hour) {
	t.Helper()
	var b strings.Builder
	data := "MovieLens (`ml-latest-small`: 100,836 ratings by 610 people, 9,742 films; not shipped)"
	if *movieLens == "" {
		data = "made tables with the columns of MovieLens"
	}
	fmt.Fprintf(&b, `# Five people's first hours

Written by `+"`.ci/checks/hours.sh --write`"+`, which plays them on %s; CI plays them again for every change, and checks the same. The DBA comes first, the others use the
DBA's server at the same time, on two processors. Seconds are those of the machine: what it takes to read, to think and to type comes on top. Mistakes are among the
steps; what the programs say to them was read by somebody, as was every other message, and has to name the next step (`+"`internal/hours/messages_test.go`"+`).

The DBA types %d characters until an analyst can ask: %.1f minutes at forty words a minute.
`, data, typed, float64(typed)/perMinute)
	for _, h := range []*hour{newcomer, dba, analyst, agent, contributor} {
		fmt.Fprintf(&b, "\n## The %s\n\n| step | typed | seconds | the last message |\n| --- | --- | --- | --- |\n", h.who)
		total := time.Duration(0)
		for _, s := range h.steps {
			total += s.took
			fmt.Fprintf(&b, "| %s | %s | %.1f | %s |\n", s.what, code(s.typed), s.took.Seconds(), cell(s.said, 400))
		}
		fmt.Fprintf(&b, "\n%.0f seconds of the programs.\n", total.Seconds())
		switch h {
		case analyst:
			fmt.Fprintf(&b, "\nThe chart in the shell:\n\n```\n%s```\n\n![The same question in the console: a chart with intervals, and its cost](hours/console.png)\n\n![The same, drawn from Python](hours/python.png)\n", h.chart)
		case contributor:
			b.WriteString("\n![The question, and what is done with the answer](hours/contributor.png)\n\n![What will be sent](hours/contributor-made.png)\n")
		}
	}
	if err := os.WriteFile(filepath.Join(module, "docs", "hours.md"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// cell is a text in a table.
func cell(text string, most int) string {
	text = strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`).Replace(strings.Join(strings.Fields(text), " "))
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + " …"
	}
	return text
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(strings.ReplaceAll(text, "|", `\|`), "`", "'") + "`"
}
