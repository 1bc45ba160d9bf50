// Package rollback notices that a ledger was put back: that it is older than it had been, so that
// budgets which were spent could be spent again.
//
// The store, the catalogue, the audit log and a witness, where there is one, know how far the
// ledger had come. Every position that one of them has is of a durable state of the ledger. So a
// ledger that does not continue one of them is older than it was, and is refused, unless an
// operator accepts it.
package rollback

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"scrim/accounting"
	"scrim/catalog"
	"scrim/engine/observe/audit"
	"scrim/engine/ops/datadir"
	"scrim/engine/ops/witness"
	"scrim/engine/store/duckdb"
)

// Places are those beside the ledger that know how far it had come: the audit log, and the others
// where they are not nil. In each the last position that was written counts.
type Places struct {
	Dir     datadir.Place
	Store   *duckdb.Store
	Catalog *catalog.Catalog
	Witness *witness.Witness
}

// At returns the places of the directory with that id that can be looked at without opening it: its
// audit log and, where there is one, its witness.
func At(p datadir.Place, id string) Places {
	places := Places{Dir: p}
	if p.Witness != "" {
		places.Witness = witness.At(p.Witness, id)
	}
	return places
}

// known is what one place knows; position is "" where it knows nothing, as of a program that did
// not write it.
type known struct{ place, position string }

func (p Places) all(ctx context.Context) (list []known, err error) {
	if p.Store != nil {
		m, _, err := p.Store.Mark(ctx)
		if err != nil {
			return nil, fmt.Errorf("engine: reading the ledger's position in %s: %w", datadir.DataFile, err)
		}
		list = append(list, known{datadir.DataFile, m.Text})
	}
	if p.Catalog != nil {
		list = append(list, known{"the file " + datadir.CatalogFile, p.Catalog.Ledger()})
	}
	logged, err := audit.LastLedger(p.Dir.AuditPath())
	if err != nil {
		return nil, fmt.Errorf("engine: reading the ledger's position in the audit log: %w", err)
	}
	list = append(list, known{"the audit log in " + p.Dir.AuditPath(), logged})
	if p.Witness != nil {
		e, _, err := p.Witness.Last()
		if err != nil {
			return nil, fmt.Errorf("engine: %w. The server does not start without its witness: make it readable, or take the setting away", err)
		}
		list = append(list, known{"the witness " + p.Witness.String(), e.Position})
	}
	return list, nil
}

// Check refuses, with accounting.ErrOlder, a ledger that does not continue what a place knows.
func (p Places) Check(ctx context.Context, l *accounting.Ledger) error {
	list, err := p.all(ctx)
	if err != nil {
		return err
	}
	for _, x := range list {
		if x.position == "" {
			continue
		}
		position, err := accounting.ParsePosition(x.position)
		if err != nil {
			return fmt.Errorf("%w, or cannot be told: %s has no readable position of the ledger: %w. Restore a backup as a whole by scrim restore --from BACKUP --data %s, "+
				"or have %s take the ledger as it is, which puts its position there", accounting.ErrOlder, x.place, err, p.Dir.Dir, p.acceptance(l.Position()))
		}
		if ok, err := l.Continues(position); err != nil || !ok {
			return errors.Join(err, p.older(l.Position(), position, x.place))
		}
	}
	return nil
}

// older is the refusal of a ledger, with the ways out of it.
func (p Places) older(end, known accounting.Position, place string) error {
	return fmt.Errorf("%w: it ends at record %d of %s, and %s knows another record %d, of %s. Nothing was changed. Put back the newest %s, with its key and mark, "+
		"or a backup as a whole by scrim restore --from BACKUP --data %s. If there is no newer ledger, %s takes this one, and records that; with --budgets-spent it "+
		"counts the budgets as spent. Otherwise lower them by what may have been spent since",
		accounting.ErrOlder, end.Record, end.At.UTC().Format(time.DateTime), place, known.Record, known.At.UTC().Format(time.DateTime), datadir.LedgerFile,
		p.Dir.Dir, p.acceptance(end))
}

// acceptance is the command by which an operator takes the ledger as it is.
func (p Places) acceptance(end accounting.Position) string {
	words := []string{"scrim restore --data", p.Dir.Dir, "--accept-ledger-of", end.At.UTC().Format(time.DateOnly)}
	if p.Dir.Audit != "" {
		words = append(words, "--audit-dir", p.Dir.Audit)
	}
	if p.Dir.Witness != "" {
		words = append(words, "--witness", p.Dir.Witness)
	}
	return strings.Join(words, " ")
}

// Tell writes a position into every place, with a record of that kind in the audit log.
func (p Places) Tell(ctx context.Context, end accounting.Position, kind audit.Kind, by, note string) error {
	run := map[audit.Kind]string{audit.Accepted: "scrim restore", audit.Archived: "scrim ledger archive"}[kind]
	err := p.set(ctx, end)
	if p.Witness != nil {
		err = errors.Join(err, p.Witness.Add(witness.Entry{Run: run, Position: end.String(), Note: note}))
	}
	log, e := audit.Open(audit.Options{Dir: p.Dir.AuditPath()})
	if e != nil {
		return errors.Join(err, e)
	}
	log.Follow(end.String)
	log.Write(audit.Record{Kind: kind, Principal: by, Note: note})
	return errors.Join(err, log.Close())
}

// set writes a position into the store and the catalogue.
func (p Places) set(ctx context.Context, end accounting.Position) (err error) {
	if p.Store != nil {
		err = p.Store.SetMark(ctx, markOf(end))
	}
	if p.Catalog != nil {
		err = errors.Join(err, p.Catalog.NoteLedger(end.String()))
	}
	if err != nil {
		err = fmt.Errorf("engine: writing the ledger's position: %w", err)
	}
	return err
}

func markOf(p accounting.Position) duckdb.Mark { return duckdb.Mark{Order: p.Record, Text: p.String()} }

// Open opens the places of a data directory that nobody serves; id is the directory's. closePlaces
// gives them back.
func Open(p datadir.Place, id string) (places Places, closePlaces func() error, err error) {
	places = At(p, id)
	if places.Catalog, err = catalog.Open(p.Path(datadir.CatalogFile), catalog.Options{DirectoryID: id}); err != nil {
		return places, nil, err
	}
	if places.Store, err = p.OpenStore(id); err != nil {
		return places, nil, err
	}
	return places, places.Store.Close, nil
}

// Follower has the places follow a ledger that is in use.
type Follower struct {
	places Places
	ledger *accounting.Ledger
	keeper *witness.Keeper // nil without a witness
}

// Follow compares the ledger with what the places know of it, and has them follow it from then on:
// before, an older ledger would put its own position in the place of what tells that it is older.
// report hears how the witness is. The follower is nil where the ledger is refused.
func (p Places) Follow(ctx context.Context, l *accounting.Ledger, log *audit.Log, report func(witness.Report)) (*Follower, error) {
	if err := p.Check(ctx, l); err != nil {
		return nil, err
	}
	if err := p.set(ctx, l.Position()); err != nil {
		return nil, err
	}
	position := func() string { return l.Position().String() }
	p.Store.Follow(func() duckdb.Mark { return markOf(l.Position()) })
	p.Catalog.Follow(position)
	log.Follow(position)
	log.Write(audit.Record{Kind: audit.Ledger})
	f := &Follower{places: p, ledger: l}
	if p.Witness == nil {
		return f, nil
	}
	var err error
	f.keeper, err = p.Witness.Keep(position, report)
	return f, err
}

// Close writes the last position, of a ledger that is closed, into every place but the audit log,
// whose next record says it. It does nothing to a nil follower.
func (f *Follower) Close() error {
	if f == nil {
		return nil
	}
	f.keeper.Close()
	return f.places.set(context.Background(), f.ledger.Position())
}

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
