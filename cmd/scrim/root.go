package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// version is what `scrim --version` prints.
const version = "0.1.0"

// streams are a command's standard streams.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run executes one command line and returns the exit code: 0, or 1 with the error on err.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	s := streams{in, out, errOut}
	root := &cobra.Command{
		Use:           "scrim",
		Short:         "A MySQL-wire server that answers SQL with differential privacy over DuckDB",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	root.SetArgs(args)
	root.AddCommand(serveCommand(s), importCommand(s), demoCommand(s), benchCommand(s), referenceCommand(s), configCommand(s), backupCommand(s), restoreCommand(s))
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(errOut, "scrim:", err)
		return 1
	}
	return 0
}
