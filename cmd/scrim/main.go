package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"scrim/engine/store/duckdb"
	"scrim/engine/version"
	"scrim/internal/release"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

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

// streams are a command's standard streams.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// versions is what `scrim version --json` prints.
type versions struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"` // "" where it is not known
	Modified bool   `json:"modified"`
	Time     string `json:"time"` // of the commit
	Go       string `json:"go"`
	DuckDB   string `json:"duckdb"`
	Greeting string `json:"greeting"` // what clients of the MySQL protocol are told
	Platform string `json:"platform"`
}

// theseVersions are those of the running program.
func theseVersions() versions {
	b := release.ThisBuild()
	v := versions{
		Version: release.Version, Commit: b.Commit, Modified: b.Modified, Go: b.Go,
		DuckDB: strings.TrimPrefix(duckdb.LibraryVersion(), "v"), Greeting: version.Number, Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if !b.Time.IsZero() {
		v.Time = b.Time.Format(time.RFC3339)
	}
	return v
}

// versionCommand says what this program is.
func versionCommand(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say which version this is, of which commit, with which Go and DuckDB",
		Long: `Version says what this program is: its version, the commit that it was built from, the Go that built it, the DuckDB that
is linked in, and what it calls itself towards clients of the MySQL protocol.`,
		Example: "  scrim version\n  scrim version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := theseVersions()
			if asJSON {
				e := json.NewEncoder(s.out)
				e.SetIndent("", "  ")
				return e.Encode(v)
			}
			commit := cmp.Or(v.Commit, "not known")
			if v.Time != "" {
				commit += " of " + v.Time
			}
			if v.Modified {
				commit += ", with changes"
			}
			_, err := fmt.Fprintf(s.out, "scrim %s\ncommit %s\nGo %s, %s\nDuckDB %s\nfor clients %s\n",
				v.Version, commit, strings.TrimPrefix(v.Go, "go"), v.Platform, v.DuckDB, v.Greeting)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
