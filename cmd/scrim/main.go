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

	"github.com/rs/zerolog"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"golang.org/x/term"

	"scrim/cmd/scrim/demo"
	"scrim/engine"
	"scrim/engine/admin/reference"
	"scrim/engine/observe/version"
	"scrim/engine/store/duckdb"
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

// progressOn returns a progress report on w in bytes, silent where w is not a terminal.
func progressOn(w io.Writer, title string) (report func(done, total int64), finish func()) {
	return progress(w, title, progressbar.OptionShowBytes(true))
}

// countOn returns a progress report on w in records, silent where w is not a terminal.
func countOn(w io.Writer, title string) (report func(done, total int64), finish func()) {
	return progress(w, title, progressbar.OptionShowCount(), progressbar.OptionSetItsString("records"))
}

func progress(w io.Writer, title string, unit ...progressbar.Option) (report func(done, total int64), finish func()) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil, func() {}
	}
	var bar *progressbar.ProgressBar
	report = func(done, total int64) {
		if bar == nil {
			bar = progressbar.NewOptions64(total, append(unit, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(title),
				progressbar.OptionClearOnFinish())...)
		}
		_ = bar.Set64(done)
	}
	return report, func() {
		if bar != nil {
			_ = bar.Finish()
		}
	}
}

// demoCommand shows the product on public data.
func demoCommand(s streams) *cobra.Command {
	o := demo.Options{Config: engine.DefaultConfig(""), Out: s.out}
	o.Config.Logger = zerolog.New(s.err).Level(zerolog.WarnLevel)
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Load public data, protect them, and take a tour over the wire",
		Long: `Demo loads two small public data sets that are part of the program, protects them, starts a server on
loopback, asks as an analyst would, shows each private answer beside the true one, prints how to
connect, with a client or a browser, and serves until Ctrl-C. The data directory is temporary unless --data names a new one.`,
		Example: `  scrim demo
  scrim demo --exit --listen 127.0.0.1:0`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := demo.Run(cmd.Context(), o)
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.Exit, "exit", false, "end after the tour")
	f.StringVar(&o.Config.Listen, "listen", o.Config.Listen, "TCP address to listen on")
	f.StringVar(&o.Config.HTTP, "http", "127.0.0.1:0", "TCP address of the console and the dashboard, port 0 for a free one; empty for none")
	f.StringVar(&o.Config.DataDir, "data", "", "new directory for the data (default: a temporary one)")
	return cmd
}

// referenceCommand keeps docs/reference.md and docs/dialect.md true.
func referenceCommand(_ streams) *cobra.Command {
	return &cobra.Command{
		Use:   "reference FILE",
		Short: "Write the reference of functions, procedures, variables and errors into a document",
		Long: `Reference replaces what stands between the lines <!-- reference:begin --> and <!-- reference:end --> of a
Markdown document by the tables of this program's functions, procedures, variables and errors; and between
<!-- dialect:begin --> and <!-- dialect:end --> by what it evaluates of MySQL's functions and types, and where.`,
		Example: `  scrim reference docs/reference.md`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			old, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			text, err := reference.Replace(string(old))
			if err != nil || text == string(old) {
				return err
			}
			return os.WriteFile(args[0], []byte(text), 0o644)
		},
	}
}

// manCommand writes the manual pages that archives and packages hold.
func manCommand(_ streams) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages of all commands into a directory",
		Long: `Man writes a manual page of section 1 for this program and one for each of its commands. Their date is that of
SOURCE_DATE_EPOCH, where it is set.`,
		Example: "  scrim man share/man/man1",
		Args:    cobra.ExactArgs(1),
		Hidden:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // it has the day of the build
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "Scrim " + release.Version, Manual: "Scrim"}, args[0])
		},
	}
}
