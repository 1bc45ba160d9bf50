package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scrim/accounting"
	"scrim/accounting/record"
	"scrim/engine/ops/datadir"
	"scrim/engine/ops/datadir/archive"
	"scrim/internal/durable"
	"scrim/internal/lists"
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

// ledgerFilter is the flags that choose entries.
type ledgerFilter struct {
	f               accounting.Filter
	kinds, outcomes []string
	since, until    string
}

func ledgerExport(s streams) *cobra.Command {
	var dir, format, output, archive string
	var x ledgerFilter
	cmd := &cobra.Command{
		Use:   "export --data DIR",
		Short: "Write the ledger's entries as JSON lines or CSV",
		Long: `Export verifies the ledger and writes its entries in the order in which they were made: charges with their cost, mechanisms,
what they left of each budget and how the statement ended; replays; budgets set, removed and reset; notes. JSON lines hold
one entry a line; CSV has one line for each account that an entry is about. Statements are recorded without their literals.

Flags choose entries; an entry must suit all of them. Times are dates (UTC) or RFC 3339. Entries that were archived are in the
archive: name its file with --archive to have these in the place of the ledger's.`,
		Example: `  scrim ledger export --data /var/lib/scrim --output ledger.jsonl
  scrim ledger export --data /var/lib/scrim --format csv --principal 'ann@%' --since 2026-01-01 --until 2026-02-01
  scrim ledger export --data /var/lib/scrim --kind charge --outcome failed,timeout --descending --limit 100
  scrim ledger export --data /var/lib/scrim --archive /var/lib/scrim/ledger.db.archive/000000000001-000000065535.db`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter, err := x.filter()
			if format != "json" && format != "csv" {
				err = errors.Join(err, fmt.Errorf("--format %q: want json or csv", format))
			}
			if err != nil {
				return err
			}
			return withEntries(s, dir, archive, func(l *accounting.Ledger) error {
				progress, finish := countOn(s.err, "export")
				defer finish()
				return exportTo(cmd.Context(), s, output, func(ctx context.Context, w io.Writer) error {
					if format == "csv" {
						return l.ExportCSV(ctx, w, filter, progress)
					}
					return l.Export(ctx, w, filter, progress)
				})
			})
		},
	}
	ledgerData(cmd, &dir)
	f := cmd.Flags()
	f.StringVar(&format, "format", "json", "json (one object a line) or csv")
	f.StringVar(&archive, "archive", "", "file of an archive of the ledger, whose entries are exported in the place of the ledger's")
	f.StringVar(&output, "output", "-", "new file to write; - is the standard output")
	f.StringVar(&x.f.Principal, "principal", "", "who asked, or who changed a budget, for example 'ann@%'")
	f.StringVar(&x.f.Account, "account", "", "account of a table, or name of an entity")
	f.StringVar(&x.f.Table, "table", "", "table that was charged, as schema.table")
	f.StringVar(&x.f.Digest, "digest", "", "digest of the statement")
	f.StringSliceVar(&x.kinds, "kind", nil, "kinds of entries: "+strings.Join(kindWords(), ", "))
	f.StringSliceVar(&x.outcomes, "outcome", nil, "outcomes of charges: "+strings.Join(outcomeWords(), ", "))
	f.StringVar(&x.since, "since", "", "only entries made at this time or after")
	f.StringVar(&x.until, "until", "", "only entries made before this time")
	f.Uint64Var(&x.f.AfterID, "after-id", 0, "only entries with a greater id")
	f.Uint64Var(&x.f.BeforeID, "before-id", 0, "only entries with a smaller id; 0: all")
	f.BoolVar(&x.f.Descending, "descending", false, "the last entry first")
	f.IntVar(&x.f.Limit, "limit", 0, "at most so many entries; 0: all")
	return cmd
}

// withEntries opens the ledger of a data directory, or an archive of it, for reading.
func withEntries(s streams, dir, archive string, do func(*accounting.Ledger) error) error {
	if archive == "" {
		return withLedger(s, dir, "verify", func(l *accounting.Ledger, _ string, _ accounting.Options) error { return do(l) })
	}
	path, o, unlock, err := ledgerOf(dir)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }()
	var finish func()
	o.Progress, finish = countOn(s.err, "verify")
	l, err := accounting.OpenArchive(archive, path, o)
	finish()
	if err != nil {
		return err
	}
	return errors.Join(do(l), l.Close())
}

var entryKinds = []accounting.EntryKind{
	accounting.ChargeEntry, accounting.ReplayEntry, accounting.SetBudgetEntry, accounting.RemoveBudgetEntry,
	accounting.ResetBudgetEntry, accounting.NoteEntry,
}

var outcomes = []record.Outcome{
	record.Answered, record.Failed, record.TimedOut, record.Cancelled, record.Unfinished,
}

func kindWords() (words []string) {
	return lists.Map(entryKinds, func(k accounting.EntryKind) string { return string(k) })
}

func outcomeWords() (words []string) {
	return lists.Map(outcomes, func(o record.Outcome) string { return o.String() })
}

// filter reads the flags, and reports every problem at once.
func (x *ledgerFilter) filter() (accounting.Filter, error) {
	var problems []error
	f := x.f
	for _, word := range x.kinds {
		if !slices.Contains(kindWords(), word) {
			problems = append(problems, fmt.Errorf("--kind %q: want %s", word, strings.Join(kindWords(), ", ")))
		}
		f.Kinds = append(f.Kinds, accounting.EntryKind(word))
	}
	for _, word := range x.outcomes {
		i := slices.Index(outcomeWords(), word)
		if i < 0 {
			problems = append(problems, fmt.Errorf("--outcome %q: want %s", word, strings.Join(outcomeWords(), ", ")))
			continue
		}
		f.Outcomes = append(f.Outcomes, outcomes[i])
	}
	var err1, err2 error
	f.Since, err1 = parseTime("--since", x.since)
	f.Until, err2 = parseTime("--until", x.until)
	if f.Limit < 0 {
		problems = append(problems, fmt.Errorf("--limit %d: want at least 0", f.Limit))
	}
	return f, errors.Join(append(problems, err1, err2)...)
}

func parseTime(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%s %q: want a date such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z", flag, text)
}

// exportTo writes what export writes to a file, complete or not at all, or to the standard output
// for "-".
func exportTo(ctx context.Context, s streams, name string, export func(ctx context.Context, w io.Writer) error) error {
	if name == "-" {
		return export(ctx, s.out)
	}
	return durable.Create(name, 0o600, func(w io.Writer) error { return export(ctx, w) })
}
