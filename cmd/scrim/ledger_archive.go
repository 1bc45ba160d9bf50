package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"scrim/accounting"
	"scrim/engine/datadir/archive"
)

func ledgerArchive(s streams) *cobra.Command {
	o := archive.Options{By: "operator"}
	var before string
	cmd := &cobra.Command{
		Use:   "archive --data DIR --before DAY",
		Short: "Move old entries out of the ledger into a file of their own",
		Long: `Archive moves the entries that were made before a day (UTC) out of the ledger into a read-only file, but for up to 255 of
the newest of them: an archive ends where a block of records does. What they come to and their last hash are sealed in the ledger.
So what is spent stays spent, budgets and windows stay as they are, and the chain goes on. Stored answers stay in the ledger, and the
same query still gets them for nothing. dp.ledger then shows the entries that are left, and a note (SELECT * FROM dp.ledger WHERE outcome
= 'archive') says which archive has the others; an analyst sees no archived entries any more.

The archive is verified before the ledger is written anew without its records, which is verified too, and takes the place of the
old one in one step: an interrupted archive changes nothing, and is run again. That needs free space for both files.

Archives are made in ledger.db.archive in the data directory. Copy them to where backups are kept: a backup holds the ledger, not its
archives. Nothing but these needs them: scrim ledger verify, scrim ledger export --archive, and a restore of a backup that is older than
they are. Where the server has an audit-dir or a witness, name them: they are told how far the ledger has come.`,
		Example: "  scrim ledger archive --data /var/lib/scrim --before 2026-01-01",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if o.Before, err = time.Parse(time.DateOnly, before); err != nil {
				return fmt.Errorf("--before %q: want a day such as 2026-01-31", before)
			}
			if o.Place.Dir == "" {
				return errors.New("want --data, the data directory")
			}
			progress, finish := countOn(s.err, "archive")
			a, err := archive.Ledger(cmd.Context(), o, progress)
			finish()
			if err != nil {
				return inUse(err)
			}
			fmt.Fprintf(s.out, "%s: records %d to %d, of %s and before; the ledger had %d bytes, and has %d\n",
				a.Path, a.First, a.Last, a.Until.Format(time.DateOnly), a.Before, a.After)
			return nil
		},
	}
	ledgerData(cmd, &o.Place.Dir)
	f := cmd.Flags()
	f.StringVar(&before, "before", "", "day (UTC, YYYY-MM-DD): entries made on it and later stay (required)")
	f.StringVar(&o.To, "to", "", "directory of the archive (default: ledger.db.archive in the data directory)")
	f.StringVar(&o.Place.Audit, "audit-dir", "", "the server's directory of the audit log (default: audit in the data directory)")
	f.StringVar(&o.Place.Witness, "witness", "", "the server's witness, if it has one")
	return cmd
}

// reportOnArchives verifies the archives of a ledger, in a directory that somebody has named, or
// beside it where they are there.
func reportOnArchives(ctx context.Context, s streams, l *accounting.Ledger, path, named string, o accounting.Options) error {
	if l.Archived().Record == 0 {
		return nil
	}
	dir := named
	if dir == "" {
		dir = path + accounting.ArchiveSuffix
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			fmt.Fprintf(s.out, "the archives of records 1 to %d are not in %s and were not read: name their directory with --archive\n", l.Archived().Record, dir)
			return nil
		}
	}
	progress, finish := countOn(s.err, "archive")
	o.Progress = func(done, total int64) {
		if progress != nil {
			progress(done, total)
		}
		if done == total { // of this archive: the next one counts anew
			finish()
			progress, finish = countOn(s.err, "archive")
		}
	}
	return l.VerifyArchives(ctx, dir, o, func(r accounting.Report) {
		fmt.Fprintf(s.out, "%s is sound: records %d to %d, of %s to %s\n", r.Path, r.Archived+1, r.Records,
			r.First.UTC().Format(time.RFC3339), r.Last.UTC().Format(time.RFC3339))
	})
}
