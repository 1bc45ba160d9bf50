package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"scrim/bench/tpch/private"
	"scrim/test/testenv/tpch"
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

func tpchJoinsCommand(s streams) *cobra.Command {
	var o private.Options
	var only []string
	cmd := &cobra.Command{
		Use:   "joins",
		Short: "Count results of TPC-H's joins as R2T did, and compare with its errors",
		Long: `Joins starts a server in this process for each set-up of protected tables, asks for the number or the sum of the results of ten joins without their selections, and
writes a table in Markdown: the root of the mean square and the mean absolute error beside those that R2T's authors published for scale factor 1 and pure DP with ε = .8.
δ is 1e-6. The tables are loaded into a directory for temporary files, which is removed; scale factor 1 takes 2 GB and some minutes. With --keep the loaded tables stay, for the next time.`,
		Example: `  scrim-bench tpch joins --scale 1 --runs 20
  scrim-bench tpch joins --scale 1 --runs 10 --only Q5,Q8`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Runs < 1 || !(o.Scale > 0) || !(o.Epsilon > 0) {
				return errors.New("want --runs >= 1, --scale > 0 and --epsilon > 0")
			}
			for _, n := range only {
				if o.Only == nil {
					o.Only = map[string]bool{}
				}
				o.Only[n] = true
			}
			var finish func()
			o.Progress, finish = progressOn(s.err, "tpch", "joins")
			list, err := private.RunJoins(cmd.Context(), o)
			finish()
			if err != nil {
				return err
			}
			return private.JoinsMarkdown(s.out, list)
		},
	}
	l := cmd.Flags()
	l.Float64Var(&o.Scale, "scale", 1, "scale factor")
	l.Uint64Var(&o.Seed, "seed", 1, "seed of the tables")
	l.StringVar(&o.Keep, "keep", "", "directory that keeps the loaded tables, and has them the next time")
	l.IntVar(&o.Runs, "runs", 20, "times that each join is asked for")
	l.Float64Var(&o.Epsilon, "epsilon", .8, "loss of an answer")
	l.StringSliceVar(&only, "only", nil, "names of joins, as Q3 and triangles (default: all)")
	return cmd
}

func tpchPrivateCommand(s streams) *cobra.Command {
	o := private.Options{Setup: private.Customers}
	var only []string
	var protect string
	cmd := &cobra.Command{
		Use:   "private",
		Short: "Ask the 22 queries where customers are protected, and compare with the exact answers",
		Long: `Private starts a server in this process, loads TPC-H's tables, protects customers with their orders and lines, and asks the 22 queries as an analyst
does. It writes a table in Markdown: what was answered, how far from the exact answers, how often intervals hold them, and how long it took beside the exact queries.
The tables are loaded into a directory for temporary files, which is removed; scale factor 1 takes 2 GB and some minutes. With --keep the loaded tables stay, for the next time.`,
		Example: `  scrim-bench tpch private --scale .1 --runs 20
  scrim-bench tpch private --scale 1 --runs 5 --only q01,q06`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Runs < 1 || !(o.Scale > 0) || !(o.Epsilon > 0) {
				return errors.New("want --runs >= 1, --scale > 0 and --epsilon > 0")
			}
			if err := errors.Join(choose(&o, only), setup(&o, protect)); err != nil {
				return err
			}
			var finish func()
			o.Progress, finish = progressOn(s.err, "tpch", "queries")
			report, err := private.Run(cmd.Context(), o)
			finish()
			if err != nil {
				return err
			}
			return report.Markdown(s.out)
		},
	}
	l := cmd.Flags()
	l.Float64Var(&o.Scale, "scale", 0.01, "scale factor")
	l.Uint64Var(&o.Seed, "seed", 1, "seed of the tables")
	l.StringVar(&o.Keep, "keep", "", "directory that keeps the loaded tables, and has them the next time")
	l.IntVar(&o.Runs, "runs", 5, "times that each query is asked")
	l.Float64Var(&o.Epsilon, "epsilon", 1, "loss of a query")
	l.StringVar(&protect, "protect", private.Customers.Name, "who is protected: customers, or both, customers and suppliers")
	l.StringSliceVar(&only, "only", nil, "names of queries, q01 to q22 (default: all)")
	return cmd
}

// setup notes who is protected.
func setup(o *private.Options, name string) error {
	for _, s := range private.Setups() {
		if s.Name == name {
			o.Setup = s
			return nil
		}
	}
	return fmt.Errorf("no set-up %q: want customers or both", name)
}

// choose notes the queries that are asked.
func choose(o *private.Options, names []string) error {
	if names == nil {
		return nil
	}
	known := map[string]bool{}
	for _, q := range tpch.Queries() {
		known[q.Name] = true
	}
	o.Only = map[string]bool{}
	for _, n := range names {
		if !known[n] {
			return fmt.Errorf("no query %q: want q01 to q22", n)
		}
		o.Only[n] = true
	}
	return nil
}
