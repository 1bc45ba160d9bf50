package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"scrim/internal/bench/tpch"
)

// tpchFlags are the flags of scrim-bench tpch.
type tpchFlags struct {
	tpch.Options
	data string
}

func tpchCommand(s streams) *cobra.Command {
	var f tpchFlags
	cmd := &cobra.Command{
		Use:   "tpch",
		Short: "Write the data of the TPC-H benchmark",
		Long: `Tpch writes a CSV file with a header for each of the eight tables of TPC-H, with the specification's numbers of rows, keys, ranges and shares. The
files are a function of the scale factor and the seed. Scale factor 1 has six million rows of lineitem and takes 1 GB.

--schema writes the statements that make the tables; scrim import loads the files.`,
		Example: `  scrim-bench tpch --data tpch --scale .1
  scrim-bench tpch --schema | mariadb -h 127.0.0.1 -P 3306 -u root -p
  scrim import --data /var/lib/scrim --append --table tpch.orders tpch/orders.csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if schema, _ := cmd.Flags().GetBool("schema"); schema {
				return writeSchema(s)
			}
			if f.data == "" {
				return errors.New("want --data, the directory for the files")
			}
			if err := os.MkdirAll(f.data, 0o755); err != nil {
				return err
			}
			var finish func()
			f.Progress, finish = progressOn(s.err, "tpch", "rows")
			err := tpch.Write(cmd.Context(), f.data, f.Options)
			finish()
			return err
		},
	}
	cmd.AddCommand(tpchPrivateCommand(s), tpchJoinsCommand(s))
	l := cmd.Flags()
	l.StringVar(&f.data, "data", "", "directory for the files")
	l.Float64Var(&f.Scale, "scale", 0.01, "scale factor")
	l.Uint64Var(&f.Seed, "seed", 1, "seed of the random numbers")
	l.Bool("schema", false, "write the statements that make the database tpch and its tables, and nothing else")
	return cmd
}

func writeSchema(s streams) error {
	if _, err := fmt.Fprintln(s.out, "CREATE DATABASE tpch;"); err != nil {
		return err
	}
	for _, t := range tpch.Tables() {
		if _, err := fmt.Fprintf(s.out, "CREATE TABLE tpch.%s (%s);\n", t.Name, t.Columns); err != nil {
			return err
		}
	}
	return nil
}
