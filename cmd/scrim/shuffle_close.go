package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scrim/engine/collections/shuffler"
)

func shuffleCloseCommand(s streams) *cobra.Command {
	var t operatorTarget
	var p placeFlags
	var destroy, goOn, noWait bool
	cmd := &cobra.Command{
		Use:   "close --data DIR --collection NAME",
		Short: "Close batches: they are permuted and released",
		Long: `Close closes the open batches, and no more bundles are taken there unless --go-on is given. It waits until the server
has the batches. If one of them has fewer reports than it needs nothing is closed; with --destroy such a batch is
erased and never released, and its contributors cannot report again: a retry is a new collection with retry_of.`,
		Example: `  scrim shuffle close --data /var/lib/scrim-shuffle --collection commute
  scrim shuffle close --data /var/lib/scrim-shuffle --collection commute --round 1 --stratum north --destroy`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			closed, err := t.list(cmd.Context(), "CALL shuffle_close(?, ?, ?, ?, ?, ?)", append(p.args(), destroy, goOn)...)
			if err != nil {
				return err
			}
			if noWait || len(closed) == 0 {
				return printBatches(s.out, closed)
			}
			return t.await(cmd.Context(), s, closed)
		},
	}
	t.flags(cmd.Flags())
	p.flags(cmd.Flags())
	f := cmd.Flags()
	f.BoolVar(&destroy, "destroy", false, "erase batches that have too few reports")
	f.BoolVar(&goOn, "go-on", false, "let the next batch begin")
	f.BoolVar(&noWait, "no-wait", false, "do not wait for the server")
	return cmd
}

// batchColumn are the columns of the table batches that commands look at.
const (
	columnState = 5
	columnSent  = 10
	columnParts = 11
	columnNote  = 13
	batchID     = 5 // columns that say which batch it is
)

// await waits until the server has the batches, and shows how far it is.
func (t operatorTarget) await(ctx context.Context, s streams, closed [][]string) error {
	for {
		now, err := t.batches(ctx)
		if err != nil {
			return err
		}
		var mine [][]string
		over := true
		sent, parts := 0, 0
		for _, row := range now {
			for _, c := range closed {
				if strings.Join(row[:batchID], "\x00") == strings.Join(c[:batchID], "\x00") {
					mine = append(mine, row)
					over = over && (row[columnState] != string(shuffler.Closed) && row[columnState] != string(shuffler.Releasing))
					sent, parts = sent+whole(row[columnSent]), parts+whole(row[columnParts])
				}
			}
		}
		if over {
			return printBatches(s.out, mine)
		}
		fmt.Fprintf(s.err, "scrim: the server has %d of %d parts\n", sent, parts)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

func whole(text string) (n int) { _, _ = fmt.Sscan(text, &n); return n }

// list runs one statement and returns its rows, as texts.
func (t operatorTarget) list(ctx context.Context, statement string, args ...any) (rows [][]string, err error) {
	err = t.ask(ctx, func(row []string) error {
		rows = append(rows, slices.Clone(row))
		return nil
	}, statement, args...)
	return rows, err
}

func (t operatorTarget) batches(ctx context.Context) ([][]string, error) {
	return t.list(ctx, "SELECT * FROM batches")
}

// placesCommand is a command that calls a procedure on places, and says how many it was about.
func placesCommand(s streams, procedure, says string, cmd cobra.Command) *cobra.Command {
	var t operatorTarget
	var p placeFlags
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return t.ask(cmd.Context(), func(row []string) error {
			_, err := fmt.Fprintf(s.out, says, row[0])
			return err
		}, "CALL "+procedure+"(?, ?, ?, ?)", p.args()...)
	}
	t.flags(cmd.Flags())
	p.flags(cmd.Flags())
	return &cmd
}

func shuffleReopenCommand(s streams) *cobra.Command {
	return placesCommand(s, "shuffle_reopen", "%s places take bundles again\n", cobra.Command{
		Use:     "reopen --data DIR --collection NAME",
		Short:   "Take bundles of further people where none were taken any more",
		Long:    `Reopen begins the next batch of closed rounds, for other people than before; it has a minimum of its own.`,
		Example: `  scrim shuffle reopen --data /var/lib/scrim-shuffle --collection commute --round 1`,
	})
}

func shuffleGiveUpCommand(s streams) *cobra.Command {
	return placesCommand(s, "shuffle_give_up", "%s batches given up\n", cobra.Command{
		Use:   "give-up --data DIR --collection NAME",
		Short: "Erase closed batches that the server does not take",
		Long: `Give-up erases batches that are closed and not acknowledged, for instance because the server has deleted the key of
their round, or is lost. They are never released. Their contributors cannot report again.`,
		Example: `  scrim shuffle give-up --data /var/lib/scrim-shuffle --collection commute --round 1`,
	})
}
