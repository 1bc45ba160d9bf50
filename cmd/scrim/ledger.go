package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"scrim/accounting"
	"scrim/accounting/record"
	"scrim/engine/datadir"
)

// ledgerCommand holds the commands on the ledger of a data directory.
func ledgerCommand(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "Verify, export, archive or compact the ledger of a data directory",
		Long: `Ledger works on the ledger of a data directory that nobody serves: the record of every charge, every change of a budget
and every answer that was given again. While the server runs, dp.ledger shows the same to a DBA or an auditor.`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(ledgerVerify(s), ledgerExport(s), ledgerArchive(s), ledgerCompact(s))
	return cmd
}

func ledgerVerify(s streams) *cobra.Command {
	var dir, archive string
	cmd := &cobra.Command{
		Use:   "verify --data DIR",
		Short: "Read the whole ledger and check every byte that spending rests on",
		Long: `Verify reads the ledger and changes nothing. It checks every page of the file, the keyed hash that chains each record to
the one before, the key, that the ledger belongs to the data directory, that its records add up, and that it reaches the
high-water mark, so that it is no older copy. Where records were archived, it reads the archives too: that they are chained up to
the ledger, and come to what is sealed in it. It says what it found, or what is wrong and how to repair it, with exit code 1.

It reads everything, whatever checkpoint there is. A server that starts from a checkpoint verifies the same in the background, and
answers nothing private any more where it finds damage.`,
		Example: `  scrim ledger verify --data /var/lib/scrim
  scrim ledger verify --data /var/lib/scrim --archive /backup/ledger-archive`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withLedger(s, dir, "verify", func(l *accounting.Ledger, path string, o accounting.Options) error {
				if err := reportOn(s.out, l); err != nil {
					return err
				}
				return reportOnArchives(cmd.Context(), s, l, path, archive, o)
			})
		},
	}
	ledgerData(cmd, &dir)
	cmd.Flags().StringVar(&archive, "archive", "", "directory of the ledger's archives (default: ledger.db.archive in the data directory, if it is there)")
	return cmd
}

func ledgerCompact(s streams) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "compact --data DIR",
		Short: "Write the ledger's file anew without free space",
		Long: `Compact verifies the ledger, writes all of its records and stored answers into a new file without the pages that are free,
verifies that as well, and puts it in the place of the old one in one step. No record is left out or changed. It needs
free space for a second file.`,
		Example: "  scrim ledger compact --data /var/lib/scrim",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, o, unlock, err := ledgerOf(dir)
			if err != nil {
				return err
			}
			defer func() { _ = unlock() }()
			progress, finish := countOn(s.err, "compact")
			before, after, err := accounting.Compact(cmd.Context(), path, o, progress)
			finish()
			if err != nil {
				return err
			}
			fmt.Fprintf(s.out, "%s: %d bytes before, %d after\n", path, before, after)
			return nil
		},
	}
	ledgerData(cmd, &dir)
	return cmd
}

func ledgerData(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "data", "", "data directory that nobody serves (required)")
}

func ledgerOf(dir string) (path string, o accounting.Options, unlock func() error, err error) {
	if dir == "" {
		return "", o, nil, errors.New("want --data, the data directory")
	}
	path, o, unlock, err = datadir.LedgerOf(dir)
	return path, o, unlock, inUse(err)
}

// inUse adds what to do where a server has the directory.
func inUse(err error) error {
	if errors.Is(err, datadir.ErrInUse) {
		err = fmt.Errorf("%w; stop that server first, or ask it: SELECT * FROM dp.ledger", err)
	}
	return err
}

// withLedger opens the ledger for reading, which verifies it.
func withLedger(s streams, dir, title string, do func(l *accounting.Ledger, path string, o accounting.Options) error) error {
	path, o, unlock, err := ledgerOf(dir)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }()
	var finish func()
	o.ReadOnly = true
	o.Progress, finish = countOn(s.err, title)
	l, err := accounting.Open(path, o)
	finish()
	if err != nil {
		return err
	}
	o.Progress = nil
	err = do(l, path, o)
	if e := l.Close(); err == nil {
		err = e
	}
	return err
}

// reportOn says what was checked and found.
func reportOn(w io.Writer, l *accounting.Ledger) error {
	r, err := l.Report()
	if err != nil {
		return err
	}
	mark := "there is none"
	if r.Marked != accounting.NoMark {
		mark = fmt.Sprintf("record %d, reached", r.Marked)
	}
	span := "none"
	if r.Records > 0 {
		span = r.First.UTC().Format(time.RFC3339) + " to " + r.Last.UTC().Format(time.RFC3339)
	}
	archived := ""
	if r.Archived > 0 {
		archived = fmt.Sprintf("archived        records 1 to %d: what they come to is sealed in the ledger; the rest of this is about the others\n", r.Archived)
	}
	e := r.Entries
	_, err = fmt.Fprintf(w, `%s is sound
pages           %d bytes, every page in use once or free
directory       %s
records         %d, each chained to the one before with the key
%sdates           %s
charges         %d: %d answered, %d failed, %d timed out, %d cancelled, %d without an outcome
replays         %d
budgets         %d in force; %d set, %d removed, %d reset
notes           %d
high-water mark %s
stored answers  %d bytes
`, r.Path, r.Bytes, r.Directory, r.Records-r.Archived, archived, span,
		e[accounting.ChargeEntry], r.Outcomes[record.Answered], r.Outcomes[record.Failed], r.Outcomes[record.TimedOut],
		r.Outcomes[record.Cancelled], r.Outcomes[record.Unfinished],
		e[accounting.ReplayEntry], r.Budgets, e[accounting.SetBudgetEntry], e[accounting.RemoveBudgetEntry], e[accounting.ResetBudgetEntry],
		e[accounting.NoteEntry], mark, r.Answers)
	return err
}
