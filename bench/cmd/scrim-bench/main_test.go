package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain puts this binary into the path under the name of the program.
func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"scrim-bench": main}) }

// TestScripts runs the files of testdata.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata", RequireExplicitExec: true})
}
