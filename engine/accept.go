package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"scrim/accounting"
)

// AcceptLedger takes the ledger that is in a data directory although it is older than it is known to have been, because an older copy
// was put back by hand and there is no newer one. o.AcceptLedgerOf is the day of its last record. Ledger and audit log record it.
func AcceptLedger(ctx context.Context, o RestoreOptions) (end accounting.Position, err error) {
	of, err := time.Parse(time.DateOnly, o.AcceptLedgerOf)
	if err != nil {
		return end, fmt.Errorf("engine: want a day as YYYY-MM-DD, have %q", o.AcceptLedgerOf)
	}
	if _, err := os.Stat(filepath.Join(o.DataDir, fileID)); err != nil {
		return end, fmt.Errorf("engine: %s is no data directory: %w", o.DataDir, err)
	}
	dir, err := openDirectory(o.DataDir)
	if err != nil {
		return end, err
	}
	defer dir.Close()
	l, accepted, err := openOlder(filepath.Join(o.DataDir, fileLedger), dir.id, of, o.By)
	if err != nil {
		return end, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	t, closeTraces, err := openTraces(o.config(), dir)
	if err != nil {
		return end, err
	}
	defer func() { err = errors.Join(err, closeTraces()) }()
	const note = "accepted an older ledger that was put back by hand"
	if !accepted {
		switch older := t.check(ctx, l); {
		case older == nil:
			return end, errors.New("engine: the ledger is as far as it is known to have been: there is nothing to accept")
		case !errors.Is(older, accounting.ErrOlder) || l.Position().At.UTC().Format(time.DateOnly) != o.AcceptLedgerOf:
			return end, older
		}
		if err := l.Note(o.By, accounting.RestoreNote, fmt.Sprintf("%s, of %s, which ends at record %d", note, o.AcceptLedgerOf, l.Position().Record)); err != nil {
			return end, err
		}
	}
	if err := o.settle(ctx, l, t, note); err != nil {
		return end, err
	}
	return l.Position(), nil
}

// openOlder opens a ledger, and where it is older than its mark takes it, if its last record is of that day.
func openOlder(path, directory string, of time.Time, by string) (l *accounting.Ledger, accepted bool, err error) {
	o := accounting.Options{DirectoryID: directory}
	if l, err = accounting.Open(path, o); errors.Is(err, accounting.ErrOlder) {
		o.Accept = &accounting.Acceptance{Of: of, By: by, Reason: "put back by hand"}
		l, err = accounting.Open(path, o)
	}
	return l, o.Accept != nil, err
}

// settle has the places beside a ledger that was accepted know no later one any more, and counts its budgets as spent where that is asked
// for. The ledger has recorded the acceptance already: a crash before the places do leaves a ledger that is refused, and accepted again.
func (o RestoreOptions) settle(ctx context.Context, l *accounting.Ledger, t traces, note string) error {
	if o.BudgetsSpent {
		if err := l.CountAsSpent(ctx, o.By, note); err != nil {
			return err
		}
		note += "; all budgets count as spent"
	}
	return t.accept(ctx, l.Position(), o.By, note)
}
