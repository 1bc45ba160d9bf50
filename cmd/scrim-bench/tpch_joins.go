package main

import (
	"errors"

	"github.com/spf13/cobra"

	"scrim/internal/bench/tpch/private"
)

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
