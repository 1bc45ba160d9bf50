package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scrim/bench/internal/form"
)

func figuresCommand(s streams) *cobra.Command {
	only := ""
	cmd := &cobra.Command{
		Use:   "figures PAGE",
		Short: "Run the benchmarks that a page names, and write their tables into it",
		Long: `Figures runs the commands that a page of docs names, each a go test -bench, and writes what they measure into the page, with commit, date and processor:

  <!-- figures:begin go test -run '^$' -bench Gaussian ./engine/estimator/noise -->
  <!-- figures:end -->

Commands run by sh, one after the other, in the directory of this process. Of benchmarks that run several times (-count) the medians are written. A table is
replaced when its command has ended well; the first that fails ends the run.`,
		Example: `  scrim-bench figures docs/benchmarks.md
  scrim-bench figures --only accounting docs/benchmarks.md`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			filter, err := regexp.Compile(only)
			if err != nil {
				return err
			}
			return writeMeasured(cmd.Context(), s.err, args[0], filter)
		},
	}
	cmd.Flags().StringVar(&only, "only", "", "regular expression of the commands to run")
	return cmd
}

// marked finds the parts of a page that benchmarks write: their commands, and what is there now.
var marked = regexp.MustCompile(`(?s)<!-- figures:begin (.*?) -->\n(.*?)<!-- figures:end -->`)

// writeMeasured replaces the tables of a page whose commands match.
func writeMeasured(ctx context.Context, log io.Writer, page string, only *regexp.Regexp) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	ran := 0
	for _, m := range marked.FindAllSubmatch(text, -1) {
		command := string(m[1])
		if !only.MatchString(command) {
			continue
		}
		ran++
		fmt.Fprintln(log, command)
		c := exec.CommandContext(ctx, "sh", "-c", command)
		c.Stderr = log
		out, err := c.Output()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", command, err, out)
		}
		table, err := measuredTable(out)
		if err != nil {
			return fmt.Errorf("%s: %w", command, err)
		}
		commit, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output()
		if err != nil {
			return fmt.Errorf("git rev-parse: %w", err)
		}
		whole := fmt.Sprintf("<!-- figures:begin %s -->\n```\n%s\n```\n\n%sCommit %s, %s, %s.\n<!-- figures:end -->", command, command, table,
			bytes.TrimSpace(commit), time.Now().UTC().Format(time.DateOnly), processor(out))
		text = bytes.Replace(text, m[0], []byte(whole), 1)
		if err := os.WriteFile(page, text, 0o644); err != nil {
			return err
		}
	}
	if ran == 0 {
		return errors.New("the page names no such command between <!-- figures:begin … --> and <!-- figures:end -->")
	}
	return nil
}

// processor is what the benchmarks' output says of the machine.
func processor(out []byte) string {
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(line, "cpu: "); ok {
			return strings.TrimSpace(name)
		}
	}
	return "unknown processor"
}

// suffix is what go test adds to a benchmark's name: how many threads it may use.
var suffix = regexp.MustCompile(`-\d+$`)

// ownTime matches units of what a benchmark times itself, or compares: then the time of its whole
// loop says nothing.
var ownTime = regexp.MustCompile(`-m?s$|/s$|^ours/`)

// wide is how many units of one benchmark are columns.
const wide = 6

// measuredTable makes a Markdown table of what go test -bench has printed: a row each benchmark, a
// column each unit, medians of repeated lines; of a single one with many units a row each unit.
func measuredTable(out []byte) (string, error) {
	var names, units []string
	values := map[[2]string][]float64{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name := suffix.ReplaceAllString(strings.TrimPrefix(f[0], "Benchmark"), "")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		for i := 2; i+1 < len(f); i += 2 {
			x, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				return "", fmt.Errorf("a line of another form: %s", line)
			}
			if !slices.Contains(units, f[i+1]) {
				units = append(units, f[i+1])
			}
			values[[2]string{name, f[i+1]}] = append(values[[2]string{name, f[i+1]}], x)
		}
	}
	if len(names) == 0 {
		return "", errors.New("no benchmark has run")
	}
	if slices.ContainsFunc(units, ownTime.MatchString) {
		units = slices.DeleteFunc(units, func(u string) bool { return u == "ns/op" })
	}
	var b strings.Builder
	if len(names) == 1 && len(units) > wide {
		form.Table(&b, []string{"`" + names[0] + "`", ""}, func(row func([]string)) {
			for _, u := range units {
				row([]string{u, measuredCell(values[[2]string{names[0], u}], u)})
			}
		})
		return b.String(), nil
	}
	form.Table(&b, append([]string{""}, units...), func(row func([]string)) {
		for _, name := range names {
			cells := []string{"`" + name + "`"}
			for _, u := range units {
				cells = append(cells, measuredCell(values[[2]string{name, u}], u))
			}
			row(cells)
		}
	})
	return b.String(), nil
}

// measuredCell is the median of what was measured in a unit, times with a unit of their size.
func measuredCell(x []float64, unit string) string {
	if len(x) == 0 {
		return ""
	}
	slices.Sort(x)
	middle := x[len(x)/2]
	if unit == "ns/op" {
		d := time.Duration(middle)
		for _, step := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
			if d >= step {
				d = d.Round(step / 100)
				break
			}
		}
		return d.String()
	}
	return strconv.FormatFloat(middle, 'g', 3, 64)
}
