package accuracy

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// TestServerCannotReachSeededNoise checks that the server's packages do not import the bench, and
// that outside the bench and the test helpers, packages whose names end in "test", nothing makes a
// Noiser or a contributor's randomness from a source of its own.
func TestServerCannotReachSeededNoise(t *testing.T) {
	out, err := exec.Command("go", "list", "-tags", "gms_pure_go", "-deps", "scrim/engine", "scrim/planner", "scrim/functions").Output()
	if err != nil {
		t.Fatal(err)
	}
	for p := range strings.FieldsSeq(string(out)) {
		if strings.HasPrefix(p, "scrim/bench") || strings.HasPrefix(p, "scrim/") && strings.HasSuffix(p, "test") {
			t.Errorf("the server links %s", p)
		}
	}
	allowed := map[string]bool{
		// from the source that a Rand is made with, which is what is looked for
		"engine/collections/collect/exact/rand.go": true,
		"engine/admin/simulate/simulate.go":        true, // simulations with a seed, of public data
	}
	const root = "../.."
	calls := 0
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return err
		}
		b, err := os.ReadFile(p)
		if !strings.Contains(string(b), "noise.New(") && !strings.Contains(string(b), "exact.New(") {
			return err
		}
		calls++
		rel, err := filepath.Rel(root, p)
		if rel = filepath.ToSlash(rel); !strings.HasPrefix(rel, "bench/") && !strings.HasSuffix(path.Dir(rel), "test") && !allowed[rel] {
			t.Errorf("%s makes noise from a source of its own", rel)
		}
		return err
	})
	if err != nil || calls < 2 {
		t.Errorf("%d calls found: %v", calls, err)
	}
}
