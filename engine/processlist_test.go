package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/mysql/statement/processlist"
)

// TestProcessListTellsSteps: a private query's step of its plan is in the process list while it
// runs, for its own account and for a DBA, and nothing that counts rows.
func TestProcessListTellsSteps(t *testing.T) {
	i := startWith(t, "", seeded(t, "steps", 1))
	root := i.root()
	root.exec(soundSchema...)
	root.exec("SET dp_raw = ON")
	fill(root, nil)
	ann, bob := i.analyst(root, "ann", "s"), i.analyst(root, "bob", "s")
	began, goOn := make(chan string), make(chan bool)
	i.runner.Progress = func(ctx *sql.Context, name string, step, steps int) {
		processlist.ShowStep(ctx, name, step, steps)
		began <- name
		<-goOn
	}
	ended := make(chan error)
	go func() {
		_, err := ann.try("SELECT n, COUNT(*), DP_MEDIAN(x) FROM s.visits GROUP BY n")
		ended <- err
	}()
	var steps []string
	for {
		select {
		case name := <-began:
			steps = append(steps, name)
			text := "private query, " + name + ", step: " + fmt.Sprint(len(steps)) + " of "
			for who, c := range map[string]*client{"a DBA": root, "the account": i.client("ann", "pw-ann")} {
				if list := fmt.Sprint(c.query("SHOW PROCESSLIST")); !strings.Contains(list, text) {
					t.Errorf("%s does not see %q: %s", who, text, list)
				}
			}
			if list := fmt.Sprint(bob.query("SHOW PROCESSLIST")); strings.Contains(list, "private query") {
				t.Errorf("another account sees it: %s", list)
			}
			goOn <- true
			continue
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
		}
		break
	}
	if len(steps) < 3 || steps[len(steps)-1] != "estimates" {
		t.Errorf("got the steps %v", steps)
	}
	if list := fmt.Sprint(root.query("SHOW PROCESSLIST")); strings.Contains(list, "private query") {
		t.Errorf("after the query: %s", list)
	}
}
