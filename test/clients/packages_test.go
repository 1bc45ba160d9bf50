package clients

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

var packages = flag.String("clients.packages", "", "print what has to be installed: apt, npm or npm-scripts")

// TestPackages: one package has one version, whichever clients want it. With -clients.packages it
// prints them, each behind "package: ".
func TestPackages(t *testing.T) {
	apt, npm, scripts := map[string]bool{}, map[string]string{}, map[string]bool{}
	for _, c := range load(t) {
		for _, p := range c.Apt {
			apt[p] = true
		}
		for p, v := range c.NPM {
			if npm[p] != "" && npm[p] != v {
				t.Errorf("%s wants %s@%s, another client %s", c.Name, p, v, npm[p])
			}
			npm[p] = v
			if c.Scripts {
				scripts[p] = true
			}
		}
	}
	var out []string
	switch *packages {
	case "apt":
		out = slices.Sorted(maps.Keys(apt))
	case "npm":
		for _, p := range slices.Sorted(maps.Keys(npm)) {
			out = append(out, p+"@"+npm[p])
		}
	case "npm-scripts":
		out = slices.Sorted(maps.Keys(scripts))
	}
	if len(out) > 0 {
		fmt.Println("package: " + strings.Join(out, "\npackage: "))
	}
}
