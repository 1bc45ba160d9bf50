package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"scrim/internal/bench/tpch"
	"scrim/internal/bench/tpch/private"
)

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
