package testenv

import (
	"os"
	"os/exec"
	"testing"
)

// NoSkip names the environment variable under which a test that would skip fails instead.
const NoSkip = "SCRIM_TEST_NO_SKIP"

// Program returns the path of the first of the named programs that is installed. Without any it
// skips the test, or fails it where NoSkip is set.
func Program(t testing.TB, names ...string) string {
	t.Helper()
	for _, n := range names {
		if p, err := exec.LookPath(n); err == nil {
			return p
		}
	}
	Skip(t, "none of %v is installed", names)
	return ""
}

// Skip skips the test with a reason, or fails it where NoSkip is set.
func Skip(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv(NoSkip) != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}
