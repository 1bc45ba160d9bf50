package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"scrim/bench/everyday"
	"scrim/engine/estimator"
)

// everydayFlags are the flags of scrim-bench everyday.
type everydayFlags struct {
	everyday.Options
	relations []string
	list      bool
	json      string
	page      string
	chart     string
}

func everydayCommand(s streams) *cobra.Command {
	var f everydayFlags
	cmd := &cobra.Command{
		Use:   "everyday",
		Short: "Ask a server everyday questions and judge the answers",
		Long: `Everyday starts a server in this process, loads generated tables and public data, asks counts, sums, means, medians and spreads over the wire, and
compares each answer and its interval with the exact one: the error beside the best clip in hindsight, how often intervals hold, and how
many answers are wild, silent or NULL. docs/everyday.md says what the words mean.

Without --data only generated tables are asked, and the two files that ship with the program.

Ctrl-C ends the run and reports what was asked until then.`,
		Example: `  scrim-bench everyday --list
  scrim-bench everyday --only '^n1279' --runs 10
  scrim-bench everyday --data data --only '^ratings' --epsilon 1 --relation add-remove`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.list {
				return listEveryday(s.out)
			}
			if f.chart != "" {
				return f.draw(cmd.Context())
			}
			var err error
			if f.Relations, err = neighbours(f.relations); err != nil {
				return err
			}
			if f.Runs < 1 || f.Sessions < 1 || len(f.Epsilons) == 0 || len(f.Relations) == 0 {
				return errors.New("want --runs >= 1, --sessions >= 1, and at least one --epsilon and --relation")
			}
			return f.run(cmd.Context(), s)
		},
	}
	l := cmd.Flags()
	l.BoolVar(&f.list, "list", false, "list the statements")
	l.StringVar(&f.Data, "data", "", "directory of data files that are not part of the program")
	l.StringVar(&f.Only, "only", "", "regular expression of the names of statements to ask")
	l.IntVar(&f.Runs, "runs", 10, "times that each statement is asked, at each ε under each relation")
	l.Float64SliceVar(&f.Epsilons, "epsilon", []float64{0.1, 1, 4}, "losses of a statement")
	l.StringSliceVar(&f.relations, "relation", []string{estimator.AddRemove.String(), estimator.ReplaceOne.String()}, "neighbour relations: add-remove, replace-one")
	l.BoolVar(&f.Ways, "ways", false, "ask each GROUP BY also as one vector and group by group, and compare")
	l.IntVar(&f.Sessions, "sessions", 3, "sessions that ask side by side")
	l.StringVar(&f.json, "json", "", "file for all figures as JSON")
	l.StringVar(&f.page, "markdown", "", "file for the page of results; its plots, and with --data its charts, are put into the directory of its name")
	l.StringVar(&f.chart, "chart", "", "directory for pictures of answers by day, hour and year with their intervals, and nothing else; wants --data")
	return cmd
}

func listEveryday(w io.Writer) error {
	for _, st := range everyday.Statements() {
		if _, err := fmt.Fprintf(w, "%-24s %s\n", st.Name, st.Text()); err != nil {
			return err
		}
	}
	return nil
}

// run asks and writes the report.
func (f *everydayFlags) run(ctx context.Context, s streams) error {
	var finish func()
	f.Progress, finish = progressOn(s.err, "everyday", "runs")
	report, err := everyday.Run(ctx, f.Options)
	finish()
	if err != nil {
		return err
	}
	if f.json != "" {
		b, err := json.MarshalIndent(report.JSON(), "", " ")
		if err != nil {
			return err
		}
		if err := writeFile(f.json, append(b, '\n')); err != nil {
			return err
		}
	}
	if f.page != "" && !report.Cut {
		if err := f.write(ctx, report); err != nil {
			return err
		}
	}
	if err := report.Text(s.out); err != nil {
		return err
	}
	if report.Cut {
		return errors.New("interrupted")
	}
	return nil
}

// write writes the page and its pictures.
func (f *everydayFlags) write(ctx context.Context, report everyday.Report) error {
	dir := strings.TrimSuffix(f.page, filepath.Ext(f.page))
	figures := report.Figures()
	if f.Data != "" {
		charts, err := everyday.Chart(ctx, f.Data)
		if err != nil {
			return err
		}
		maps.Copy(figures, charts)
	}
	if err := writeFigures(dir, figures); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := report.Markdown(&b, filepath.Base(dir), f.Data != ""); err != nil {
		return err
	}
	return writeFile(f.page, b.Bytes())
}

// draw writes the charts alone.
func (f *everydayFlags) draw(ctx context.Context) error {
	if f.Data == "" {
		return errors.New("--chart wants --data: charts are of public data")
	}
	charts, err := everyday.Chart(ctx, f.Data)
	if err != nil {
		return err
	}
	return writeFigures(f.chart, charts)
}

func writeFile(name string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, b, 0o644)
}
