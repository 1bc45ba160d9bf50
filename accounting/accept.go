package accounting

import (
	"errors"
	"fmt"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/internal/chain"
	"scrim/accounting/internal/invalid"
)

// Acceptance takes a ledger that does not reach its high-water mark, or has none: that of a backup.
// What was charged after it is then not in the account any more, so somebody has to say that this
// is known. It is recorded, as a note of kind RestoreNote.
type Acceptance struct {
	Of     time.Time // the UTC day of the ledger's last record, or the refusal says which it is
	By     string    // who accepts it
	Reason string
}

// RestoreNote is the kind of the note that records an Acceptance, and of that of a restore of data
// beside a ledger that stays, whose text ends with LedgerStays.
const (
	RestoreNote = "restore"
	LedgerStays = "; the ledger stays"
)

func (a *Acceptance) check(o *Options) error {
	switch {
	case a == nil:
		return nil
	case o.ReadOnly:
		return invalid.New("a ledger that is opened for reading cannot be accepted: that is recorded")
	}
	return budget.CheckName("accepted by", a.By)
}

func (a *Acceptance) text(l *Ledger) string {
	t := fmt.Sprintf("accepted the ledger of %s, which ends at record %d", a.Of.UTC().Format(time.DateOnly), l.accepted.ID)
	if a.Reason != "" {
		t += ": " + a.Reason
	}
	return budget.Clip(t)
}

// checkMark compares the loaded ledger with its mark. A reader may do without one.
func (l *Ledger) checkMark(o Options) error {
	l.accepted = l.end
	path := l.path + MarkSuffix
	m, err := readMark(path, chain.New(l.key.Derive("mark")))
	if err == nil {
		l.marked = &m
		err = l.reaches(m)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errNoMark) && o.ReadOnly:
		return nil
	case !errors.Is(err, ErrOlder):
		return err
	}
	day := l.end.At.UTC().Format(time.DateOnly)
	if o.Accept != nil && o.Accept.Of.UTC().Format(time.DateOnly) == day {
		return replaceMark(path)
	}
	return fmt.Errorf("%w. The ledger ends at record %d of %s. Put back the newest ledger. If there is none, scrim restore --accept-ledger-of %s takes this one, "+
		"and records that; charges made since are then unknown, so lower the budgets by what may have been spent", err, l.end.ID, day, day)
}

// reaches checks that the ledger holds what the mark knows to have been durable.
func (l *Ledger) reaches(m chain.Mark) error {
	if m.ID > l.end.ID {
		return fmt.Errorf("%w: %s has %d records, but there were %d on %s", ErrOlder, l.path, l.end.ID, m.ID, m.At.Format(time.DateOnly))
	}
	have, _, err := l.hashAt(m.ID)
	switch {
	case errors.Is(err, ErrArchive):
		return fmt.Errorf("%w: %s knows an older record than those of the ledger: %w", ErrOlder, l.path+MarkSuffix, err)
	case err != nil:
		return damaged(l.path, err)
	}
	if have != m.Hash {
		return fmt.Errorf("%w: %s went on from an older copy: its record %d is not the one that was written on %s", ErrOlder, l.path, m.ID, m.At.Format(time.DateOnly))
	}
	return nil
}
