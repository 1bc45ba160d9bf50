package rollback

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"scrim/accounting"
	"scrim/engine/audit"
	"scrim/engine/datadir"
	"scrim/engine/store/duckdb"
)

// Acceptance says that an older ledger is to be the account from now on: what was charged after it
// is forgotten.
type Acceptance struct {
	// LedgerOf is the day of the ledger's last record, as YYYY-MM-DD; "" accepts none.
	LedgerOf string
	// BudgetsSpent counts all budgets as spent, where an older ledger becomes the account.
	BudgetsSpent bool
	// By is who accepts, for the ledger's note.
	By string
}

// Accept takes the ledger that is in a data directory although it is older than it is known to have
// been, because an older copy was put back by hand and there is no newer one. Ledger and audit log
// record it. Accept returns where the ledger ends.
func Accept(ctx context.Context, p datadir.Place, a Acceptance) (end accounting.Position, err error) {
	of, err := time.Parse(time.DateOnly, a.LedgerOf)
	if err != nil {
		return end, fmt.Errorf("engine: want a day as YYYY-MM-DD, have %q", a.LedgerOf)
	}
	if _, err := os.Stat(p.Path(datadir.IDFile)); err != nil {
		return end, fmt.Errorf("engine: %s is no data directory: %w", p.Dir, err)
	}
	dir, err := datadir.Open(p.Dir)
	if err != nil {
		return end, err
	}
	defer dir.Close()
	if err := p.CheckEarlier(); err != nil {
		return end, err
	}
	l, accepted, err := openOlder(p.Path(datadir.LedgerFile), dir.ID, of, a.By)
	if err != nil {
		return end, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	places, closePlaces, err := Open(p, dir.ID)
	if err != nil {
		return end, err
	}
	defer func() { err = errors.Join(err, closePlaces()) }()
	const note = "accepted an older ledger that was put back by hand"
	if !accepted {
		switch older := places.Check(ctx, l); {
		case older == nil:
			return end, errors.New("engine: the ledger is as far as it is known to have been: there is nothing to accept")
		case !errors.Is(older, accounting.ErrOlder) || l.Position().At.UTC().Format(time.DateOnly) != a.LedgerOf:
			return end, older
		}
		if err := l.Note(a.By, accounting.RestoreNote, fmt.Sprintf("%s, of %s, which ends at record %d", note, a.LedgerOf, l.Position().Record)); err != nil {
			return end, err
		}
	}
	if err := places.Accept(ctx, l, a, note); err != nil {
		return end, err
	}
	return l.Position(), nil
}

// AcceptLost has the store of a data directory go on without the acknowledged changes that its file
// and its log have lost. Ledger and audit log record it. What is served from then on has another
// Life, as after a restore: schedules rest until they are set again.
func AcceptLost(p datadir.Place, by string) (err error) {
	path, o, unlock, err := datadir.LedgerOf(p.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := p.CheckEarlier(); err != nil {
		return err
	}
	switch s, err := p.OpenStore(o.DirectoryID); {
	case err == nil:
		return errors.Join(errors.New("engine: the store has everything that it acknowledged: there is nothing to accept"), s.Close())
	case !errors.Is(err, duckdb.ErrLost):
		return err
	}
	const note = "went on without acknowledged changes that the store has lost"
	l, err := accounting.Open(path, o)
	if err != nil {
		return err
	}
	if err := errors.Join(l.Note(by, accounting.RestoreNote, note), l.Close()); err != nil {
		return err
	}
	log, err := audit.Open(audit.Options{Dir: p.AuditPath()})
	if err != nil {
		return err
	}
	log.Write(audit.Record{Kind: audit.Accepted, Principal: by, Note: note})
	err = errors.Join(log.Close(), duckdb.Forgive(p.Path(datadir.DataFile)))
	if gone := os.Remove(p.Path(datadir.HostFile)); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// openOlder opens a ledger, and where it is older than its mark takes it, if its last record is of
// that day.
func openOlder(path, directory string, of time.Time, by string) (l *accounting.Ledger, accepted bool, err error) {
	o := accounting.Options{DirectoryID: directory}
	if l, err = accounting.Open(path, o); errors.Is(err, accounting.ErrOlder) {
		o.Accept = &accounting.Acceptance{Of: of, By: by, Reason: "put back by hand"}
		l, err = accounting.Open(path, o)
	}
	return l, o.Accept != nil, err
}

// Accept has the places know no later position than the ledger's, and counts its budgets as spent
// where that is asked for. The ledger has recorded the acceptance already: a crash before the
// places do leaves a ledger that is refused, and accepted again.
func (p Places) Accept(ctx context.Context, l *accounting.Ledger, a Acceptance, note string) error {
	if a.BudgetsSpent {
		if err := l.CountAsSpent(ctx, a.By, note); err != nil {
			return err
		}
		note += "; all budgets count as spent"
	}
	return p.Tell(ctx, l.Position(), audit.Accepted, a.By, note)
}
