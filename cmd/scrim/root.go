package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"scrim/internal/release"
)

// run executes one command line and returns the exit code: 0, or 1 with the error on err.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	root := rootCommand(streams{in, out, errOut})
	root.SetArgs(args)
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(errOut, "scrim:", err)
		return 1
	}
	return 0
}

// rootCommand holds all commands.
func rootCommand(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "scrim",
		Short:         "A MySQL-wire server that answers SQL with differential privacy over DuckDB",
		Version:       release.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	for _, command := range []func(streams) *cobra.Command{
		serveCommand, configCommand, importCommand, attachCommand, protectCommand, backupCommand, restoreCommand, ledgerCommand, healthCommand,
		demoCommand, sqlCommand, mcpCommand, referenceCommand, randomizeCommand, walletCommand, shuffleCommand, versionCommand, manCommand,
	} {
		root.AddCommand(command(s))
	}
	return root
}
