package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"scrim/engine"
)

// importCommand loads a file into a data directory that nobody serves.
func importCommand(s streams) *cobra.Command {
	c := engine.DefaultConfig("")
	var table string
	var add, replace bool
	var nulls []string
	cmd := &cobra.Command{
		Use:   "import --data DIR --table SCHEMA.TABLE FILE",
		Short: "Load a .csv, .csv.gz or .parquet file into a table",
		Long: `Import reads a file through DuckDB's readers into a table of a data directory, all of it or nothing. The
directory must not be served at the same time: into a running server, load over the wire as a DBA with
CREATE TABLE and INSERT. A new table is refused to analysts until a DBA declares it with
CALL dp_protect(...) or CALL dp_public(...).`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			mode := engine.ImportCreate
			switch {
			case add && replace:
				return errors.New("--append and --replace exclude each other")
			case add:
				mode = engine.ImportAppend
			case replace:
				mode = engine.ImportReplace
			}
			return importFile(cmd.Context(), s, c, args[0], table, mode, nulls)
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.DataDir, "data", "", "data directory (required)")
	f.StringVar(&table, "table", "", "table to fill, as schema.table (required)")
	f.BoolVar(&add, "append", false, "add the rows to an existing table")
	f.BoolVar(&replace, "replace", false, "put the rows in the place of an existing table's")
	f.StringSliceVar(&nulls, "null", nil, "texts of a CSV file that mean NULL, beside the empty one")
	f.StringVar(&c.MemoryLimit, "memory-limit", "", "memory of the store before it spills to disk (default 1GiB)")
	_ = cmd.MarkFlagRequired("data")
	_ = cmd.MarkFlagRequired("table")
	return cmd
}

func importFile(ctx context.Context, s streams, c engine.Config, file, table string, mode engine.ImportMode, nulls []string) error {
	if len(nulls) > 0 {
		nulls = append([]string{""}, nulls...)
	}
	start := time.Now()
	progress, finish := progressOn(s.err, "import "+table)
	r, err := engine.Import(ctx, c, file, table, mode, nulls, progress)
	finish()
	if errors.Is(err, engine.ErrDirectoryInUse) {
		return fmt.Errorf("%w; stop that server, or load over its wire: connect as a DBA and use CREATE TABLE and INSERT INTO %s", err, table)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s: %d rows, %d columns, in %.1f s\n", table, r.Rows, len(r.Columns), time.Since(start).Seconds())
	return nil
}

// progressOn returns a progress report on w in bytes, silent where w is not a terminal.
func progressOn(w io.Writer, title string) (report func(done, total int64), finish func()) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil, func() {}
	}
	var bar *progressbar.ProgressBar
	report = func(done, total int64) {
		if bar == nil {
			bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(title),
				progressbar.OptionShowBytes(true), progressbar.OptionClearOnFinish())
		}
		_ = bar.Set64(done)
	}
	return report, func() {
		if bar != nil {
			_ = bar.Finish()
		}
	}
}
