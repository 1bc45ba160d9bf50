package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scrim/accounting"
	"scrim/accounting/record"
	"scrim/internal/durable"
	"scrim/internal/lists"
)

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
