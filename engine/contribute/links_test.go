package contribute

import (
	"os/exec"
	"strings"
	"testing"
)

// TestLinksNoServer: an app that links the package gets neither a store nor a server nor a driver
// with it: nothing but the standard library and what makes reports.
func TestLinksNoServer(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	may := []string{"scrim/engine/contribute", "scrim/engine/collect", "scrim/engine/estimator/noise", "scrim/internal/refuse", "scrim/internal/durable", "scrim/internal/sqltext"}
	n := 0
	for _, path := range strings.Fields(string(out)) {
		n++
		ok := false
		for _, m := range may {
			ok = ok || path == m || strings.HasPrefix(path, m+"/")
		}
		if !ok {
			t.Errorf("links %s", path)
		}
	}
	if n < 5 {
		t.Errorf("only %d packages listed", n)
	}
}
