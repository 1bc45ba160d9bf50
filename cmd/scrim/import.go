package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scrim/engine"
	"scrim/engine/datadir"
	"scrim/engine/datadir/fileimport"
	"scrim/engine/store"
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
		Example: `  scrim import --data /var/lib/scrim --table shop.orders orders.csv
  scrim import --data /var/lib/scrim --table shop.orders --append --null NA more.csv.gz`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkImport(c, args[0], table, add && replace); err != nil {
				return err
			}
			mode := fileimport.Create
			switch {
			case add:
				mode = fileimport.Append
			case replace:
				mode = fileimport.Replace
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
	return cmd
}

// checkImport reports every problem of a command line at once, before a directory is made for it.
func checkImport(c engine.Config, file, table string, both bool) error {
	var problems []error
	if schema, name, ok := strings.Cut(table, "."); !ok || schema == "" || name == "" || strings.Contains(name, ".") {
		problems = append(problems, fmt.Errorf("table %q: want --table SCHEMA.TABLE", table))
	}
	if both {
		problems = append(problems, errors.New("--append and --replace exclude each other"))
	}
	if fi, err := os.Stat(file); err != nil {
		problems = append(problems, err)
	} else if fi.IsDir() {
		problems = append(problems, fmt.Errorf("%s is a directory; want a .csv, .csv.gz or .parquet file", file))
	}
	return errors.Join(append(problems, c.Validate())...)
}

func importFile(ctx context.Context, s streams, c engine.Config, file, table string, mode fileimport.Mode, nulls []string) error {
	if len(nulls) > 0 {
		nulls = append([]string{""}, nulls...)
	}
	start := time.Now()
	progress, finish := progressOn(s.err, "import "+table)
	r, err := fileimport.Load(ctx, c.Place(), file, table, mode, nulls, progress)
	finish()
	if errors.Is(err, datadir.ErrInUse) {
		return fmt.Errorf("%w; stop that server first, or load over its wire as a DBA:\n%s", err, wireCommands(table, mode))
	}
	switch {
	case err == nil:
	case mode == fileimport.Create && store.KindOf(err) == store.Exists:
		return fmt.Errorf("%s: %w; --append adds the rows, --replace puts them in the place of the table's", table, err)
	case store.KindOf(err) == store.BadValue:
		return fmt.Errorf("nothing of %s was imported: %w", file, err)
	default:
		return fmt.Errorf("%s into %s: %w", file, table, err)
	}
	fmt.Fprintf(s.out, "%s: %d rows, %d columns, in %.1f s\n", table, r.Rows, len(r.Columns), time.Since(start).Seconds())
	return nil
}

// wireCommands are the statements that do over the wire what an import of the mode does.
func wireCommands(table string, mode fileimport.Mode) string {
	schema, _, _ := strings.Cut(table, ".")
	insert := fmt.Sprintf("  INSERT INTO %s VALUES (...), (...);", table)
	switch mode {
	case fileimport.Append:
		return insert
	case fileimport.Replace:
		return fmt.Sprintf("  BEGIN;\n  DELETE FROM %s;\n%s\n  COMMIT;", table, insert)
	}
	return fmt.Sprintf("  CREATE DATABASE IF NOT EXISTS %s;\n  CREATE TABLE %s (id INT PRIMARY KEY, ...);\n%s", schema, table, insert)
}
