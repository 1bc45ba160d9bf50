package hours

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func writeReport(t *testing.T, site *site, newcomer, dba, analyst, agent, contributor *hour) {
	t.Helper()
	var b strings.Builder
	data := "MovieLens (`ml-latest-small`: 100,836 ratings by 610 people, 9,742 films; not shipped)"
	if *movieLens == "" {
		data = "made tables with the columns of MovieLens"
	}
	fmt.Fprintf(&b, `# Five people's first hours

Written by `+"`.ci/checks/hours.sh --write`"+`, which plays them on %s. CI plays them for every change, on made
tables where MovieLens is not there. The DBA
comes first; then the others use the DBA's server at the same time, on two processors. Seconds are the machine's, with programs that were compiled before; reading,
thinking and typing come on top. Mistakes are among the steps. Each message that one of them meets was read by somebody, and where there is something to do it has to name
the next step (`+"`test/hours/messages_test.go`"+`).

Until an analyst can ask, the DBA types %d characters, mistakes aside: %.1f minutes at forty words a minute.
`, data, site.typed, float64(site.typed)/perMinute)
	for _, h := range []*hour{newcomer, dba, analyst, agent, contributor} {
		fmt.Fprintf(&b, "\n## The %s\n\n| step | typed | seconds | the last message |\n| --- | --- | --- | --- |\n", h.who)
		total := time.Duration(0)
		for _, s := range h.steps {
			total += s.took
			fmt.Fprintf(&b, "| %s | %s | %.1f | %s |\n", s.what, code(s.typed), s.took.Seconds(), cell(site.documented(s.said), 250))
		}
		fmt.Fprintf(&b, "\n%.0f seconds of the programs.\n", total.Seconds())
		switch h {
		case analyst:
			fmt.Fprintf(&b, "\nThe chart in the shell:\n\n```\n%s```\n\n![Whole stars in the console: what it cost, and a chart with intervals](hours/console.png)\n\n![The chart of the shell, drawn from Python, where the stored answer costs nothing](hours/python.png)\n", h.chart)
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
	return "`" + strings.NewReplacer("|", `\|`, "`", "'", "\n", " ").Replace(text) + "`"
}
