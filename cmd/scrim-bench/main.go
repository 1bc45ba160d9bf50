package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// streams are a command's standard streams.
type streams struct{ out, err io.Writer }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := rootCommand(streams{os.Stdout, os.Stderr}).ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "scrim-bench:", err)
		os.Exit(1)
	}
}

// rootCommand holds the measurements.
func rootCommand(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "scrim-bench",
		Short:         "Measure Scrim on generated and public data",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.AddCommand(accuracyCommand(s), everydayCommand(s), syntheticCommand(s), tpchCommand(s))
	return root
}
