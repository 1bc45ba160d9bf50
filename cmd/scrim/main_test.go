package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain puts this binary into the path under the name of the program, so that scripts and tests
// start real processes of it.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"scrim": main})
}

const rootPassword = "root-password"

// withPassword is the environment of a server that is told the password of root.
func withPassword() []string { return append(os.Environ(), passwordVariable+"="+rootPassword) }
