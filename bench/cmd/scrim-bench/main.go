package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"scrim/bench/accuracy"
	"scrim/bench/dataset"
	"scrim/bench/figure"
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
	root.AddCommand(accuracyCommand(s), everydayCommand(s), figuresCommand(s), syntheticCommand(s), tpchCommand(s))
	return root
}

// write writes a report in the form that was asked for.
func (f *accuracyFlags) write(s streams, r accuracy.Report) error {
	if f.plots != "" {
		if err := writeFigures(f.plots, r.Figures()); err != nil {
			return err
		}
	}
	if f.csv != "" && !r.Cut {
		if err := writeTables(f.csv, r); err != nil {
			return err
		}
	}
	switch {
	case f.json:
		enc := json.NewEncoder(s.out)
		enc.SetIndent("", "  ")
		return enc.Encode(r.JSON())
	case f.markdown:
		return r.Markdown(s.out)
	}
	return r.Text(s.out)
}

// writeFigures draws each figure as a PNG file of its name.
func writeFigures(dir string, figures map[string]figure.Figure) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, fig := range figures {
		file, err := os.Create(filepath.Join(dir, name+".png"))
		if err != nil {
			return err
		}
		if err := errors.Join(fig.WritePNG(file), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

func writeTables(dir string, r accuracy.Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, lines := range r.Tables() {
		file, err := os.Create(filepath.Join(dir, name+".csv"))
		if err != nil {
			return err
		}
		if err := errors.Join(csv.NewWriter(file).WriteAll(lines), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// progressOn reports progress on w, counted in what unit says: a bar on a terminal, elsewhere a
// line every half minute.
func progressOn(w io.Writer, title, unit string) (report func(done, total int), finish func()) {
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		var bar *progressbar.ProgressBar
		report = func(done, total int) {
			if bar == nil {
				bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(title),
					progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(200*time.Millisecond), progressbar.OptionClearOnFinish())
			}
			_ = bar.Set(done)
		}
		return report, func() {
			if bar != nil {
				_ = bar.Finish()
			}
		}
	}
	start := time.Now()
	last := start
	return func(done, total int) {
		if now := time.Now(); done == total || now.Sub(last) > 30*time.Second {
			last = now
			fmt.Fprintf(w, "%s: %d of %d %s, %.0f s\n", title, done, total, unit, now.Sub(start).Seconds())
		}
	}, func() {}
}

// listAccuracy prints what there is.
func listAccuracy(w io.Writer) error {
	var b strings.Builder
	b.WriteString("Experiments\n")
	for _, e := range accuracy.Experiments() {
		fmt.Fprintf(&b, "  %-22s %s\n", e.Name, e.Title)
	}
	b.WriteString("\nData sets, with their parameters\n")
	for _, k := range dataset.Kinds() {
		fmt.Fprintf(&b, "  %s:%s\n      %s\n", k.Name, k.Params, k.Text)
	}
	b.WriteString("\nMethods, with their parameters\n")
	for _, k := range accuracy.MethodKinds() {
		fmt.Fprintf(&b, "  %s\n      %s\n", strings.TrimSuffix(k.Name+":"+k.Params, ":"), k.Text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
