package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"scrim/bench/accuracy"
	"scrim/engine/estimator"
)

// accuracyFlags are the flags of scrim-bench accuracy.
type accuracyFlags struct {
	accuracy.Options
	list           bool
	data, methods  []string
	rhos           []float64
	relations      []string
	json, markdown bool
	plots, csv     string
}

func accuracyCommand(s streams) *cobra.Command {
	var f accuracyFlags
	cmd := &cobra.Command{
		Use:   "accuracy [EXPERIMENT]...",
		Short: "Compare the errors of the mean estimators, as the papers' experiments do",
		Long: `Accuracy runs the product's estimators on samples of known data and prints their errors: mean, median,
mean without the lowest and highest tenth, standard error, number of refusals and seconds a run.

EXPERIMENT is a figure or table of a paper, a comparison of our own (persons-..., anisotropic, groups, collections), or
"acceptance", "acceptance-persons", "acceptance-anisotropic", "acceptance-groups" for the figures that the project set itself; --list
shows all, with the data sets, the methods and their parameters. Without an EXPERIMENT, --data, --method and --rho
say what to run; with one, --method, --rho, --relation and --trials replace its own.

Experiments that are named together share the runs that they have in common. Every method gets the same samples and the same source of noise in the same trial. Samples and noise come from
--seed: the program makes up or reads the data itself, and nothing of a server's is touched. Times are those of one
run while the other cores work on other trials; for times as such use --workers 1.

Ctrl-C ends the run and prints the trials that are done.`,
		Example: `  scrim-bench accuracy --list
  scrim-bench accuracy plan-fig3 --trials 5 --plots plots
  scrim-bench accuracy hly-fig7 --data-dir data --csv docs/accuracy
  scrim-bench accuracy acceptance --markdown > acceptance.md
  scrim-bench accuracy acceptance-groups --data-dir data
  scrim-bench accuracy hly-fig12 --trials 10
  scrim-bench accuracy --data persons:n=1000,m=64,d=8,law=pareto --method person --method auto --method rows-as-persons
  scrim-bench accuracy --data gaussian-b:d=256,alpha=1.5 --method plan --method shifted --method auto --rho 0.125,1`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.list {
				return listAccuracy(s.out)
			}
			experiments, err := f.experiments(args)
			if err != nil {
				return err
			}
			return f.run(cmd.Context(), s, experiments)
		},
	}
	f.register(cmd)
	return cmd
}

func (f *accuracyFlags) register(cmd *cobra.Command) {
	l := cmd.Flags()
	l.BoolVar(&f.list, "list", false, "list experiments, data sets and methods")
	l.StringArrayVar(&f.data, "data", nil, "data set, as NAME:param=value,... (may be repeated)")
	l.StringArrayVar(&f.methods, "method", nil, "method, as NAME:param=value,... (may be repeated)")
	l.Float64SliceVar(&f.rhos, "rho", nil, "losses to run at: ρ in zCDP, of collections ε")
	l.StringSliceVar(&f.relations, "relation", nil, "neighbour relations: replace-one (number of persons public), add-remove")
	l.IntVar(&f.Trials, "trials", 0, "trials of each setting (default: the experiment's; 400 under 16 dimensions)")
	l.Uint64Var(&f.Seed, "seed", 1, "seed of samples and noise")
	l.IntVar(&f.Workers, "workers", 0, "trials at a time (default: the number of cores)")
	l.Int64Var(&f.Memory, "memory", 4<<30, "bytes for samples and their copies, over all trials at a time")
	l.StringVar(&f.DataDir, "data-dir", "", "directory of data files that are not part of the program")
	l.BoolVar(&f.json, "json", false, "write JSON, with the errors of every trial")
	l.BoolVar(&f.markdown, "markdown", false, "write Markdown tables")
	l.StringVar(&f.plots, "plots", "", "directory for plots, a PNG file each")
	l.StringVar(&f.csv, "csv", "", "directory for CSV files: EXPERIMENT.csv with a line for each cell, EXPERIMENT-KIND.csv for verdicts and closed forms; an interrupted run writes none")
}

// experiments returns what a command line asks for.
func (f *accuracyFlags) experiments(names []string) ([]accuracy.Experiment, error) {
	relations, err := neighbours(f.relations)
	switch {
	case err != nil:
		return nil, err
	case f.Trials < 0 || f.Workers < 0 || f.Memory < 1:
		return nil, errors.New("want --trials >= 0, --workers >= 0 and --memory >= 1")
	case f.json && f.markdown:
		return nil, errors.New("--json and --markdown exclude each other")
	case len(names) == 0 && len(f.data) == 0:
		return nil, errors.New("want an EXPERIMENT or --data; --list shows them")
	case len(names) > 0 && len(f.data) > 0:
		return nil, errors.New("an EXPERIMENT has its own data: leave out --data")
	}
	var out []accuracy.Experiment
	if len(names) == 0 {
		e, err := f.custom()
		if err != nil {
			return nil, err
		}
		out = []accuracy.Experiment{e}
	}
	for _, name := range names {
		e, err := accuracy.Find(name)
		if err != nil {
			return nil, err
		}
		out = append(out, e.With(f.methods, f.rhos))
	}
	for i := range out {
		if relations != nil {
			out[i].Relations = relations
		}
	}
	return out, nil
}

func (f *accuracyFlags) custom() (accuracy.Experiment, error) {
	methods, rhos := f.methods, f.rhos
	if len(methods) == 0 {
		methods = []string{"non-private", "auto"}
	}
	if len(rhos) == 0 {
		rhos = []float64{0.5}
	}
	return accuracy.Custom(f.data, methods, rhos, f.DataDir)
}

// neighbours reads the names of relations.
func neighbours(names []string) ([]estimator.Relation, error) {
	var out []estimator.Relation
	for _, name := range names {
		switch name {
		case estimator.ReplaceOne.String():
			out = append(out, estimator.ReplaceOne)
		case estimator.AddRemove.String():
			out = append(out, estimator.AddRemove)
		default:
			return nil, fmt.Errorf("relation %q: want replace-one or add-remove", name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// run runs experiments together and writes their reports.
func (f *accuracyFlags) run(ctx context.Context, s streams, experiments []accuracy.Experiment) error {
	var names []string
	for _, e := range experiments {
		names = append(names, e.Name)
	}
	o := f.Options
	var finish func()
	o.Progress, finish = progressOn(s.err, strings.Join(names, ", "), "runs")
	results, err := accuracy.Run(ctx, experiments, o)
	finish()
	if err != nil {
		return err
	}
	cut := ctx.Err() != nil
	for _, e := range experiments {
		if err := f.write(s, accuracy.Report{Experiment: e, Results: results, Seed: f.Seed, Cut: cut}); err != nil {
			return err
		}
	}
	if cut {
		return errors.New("interrupted")
	}
	return nil
}
