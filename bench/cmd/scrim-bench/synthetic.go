package main

import (
	"errors"

	"github.com/spf13/cobra"

	"scrim/bench/synthetic"
)

func syntheticCommand(s streams) *cobra.Command {
	var o synthetic.Options
	cmd := &cobra.Command{
		Use:   "synthetic",
		Short: "Make synthetic tables of adult, and compare their counts with the exact ones",
		Long: `Synthetic makes rows of the 15 columns of UCI Adult (30,162 persons without missing values, numbers in bins) and writes a table in Markdown: the mean of the
workload error ‖exact − made‖₁/persons over all tables of two and of three columns, beside those of independent columns and of every table with noise at the same loss.`,
		Example: `  scrim-bench synthetic --epsilon 1 --delta 1e-9 --runs 3`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Runs < 1 || o.Bins < 1 || !(o.Epsilon > 0) || !(o.Delta > 0 && o.Delta < 1) {
				return errors.New("want --runs >= 1, --bins >= 1, --epsilon > 0 and 0 < --delta < 1")
			}
			var finish func()
			o.Progress, finish = progressOn(s.err, "synthetic", "tables")
			lines, err := synthetic.Run(o)
			finish()
			if err != nil {
				return err
			}
			return synthetic.Markdown(s.out, lines)
		},
	}
	l := cmd.Flags()
	l.Float64Var(&o.Epsilon, "epsilon", 1, "loss of a table")
	l.Float64Var(&o.Delta, "delta", 1e-9, "δ of the loss")
	l.IntVar(&o.Bins, "bins", 32, "bins of a number")
	l.IntVar(&o.Ways, "ways", 2, "the most columns of a table that may be measured: 2 or 3")
	l.IntVar(&o.Runs, "runs", 3, "tables that are made")
	l.Uint64Var(&o.Seed, "seed", 1, "seed of the noise")
	return cmd
}
