package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"scrim/accounting"
	"scrim/catalog"
	"scrim/engine/audit"
	"scrim/engine/store/duckdb"
	"scrim/engine/witness"
)

// traces are the places beside the ledger that know how far it had come. In each the last position that was written counts, and every
// position is of a durable state of the ledger: so a ledger that does not continue one of them is older than it was.
type traces struct {
	cfg     Config
	store   *duckdb.Store    // nil: not looked at
	catalog *catalog.Catalog // likewise
	witness *witness.Witness // nil: there is none
}

// trace is what one place knows; position is "" where it knows nothing, as of a program that did not write it.
type trace struct{ place, position string }

func (t traces) all(ctx context.Context) (list []trace, err error) {
	if t.store != nil {
		m, _, err := t.store.Mark(ctx)
		if err != nil {
			return nil, fmt.Errorf("engine: reading the ledger's position in %s: %w", fileData, err)
		}
		list = append(list, trace{fileData, m.Text})
	}
	if t.catalog != nil {
		list = append(list, trace{"the file " + fileCatalog, t.catalog.Ledger()})
	}
	logged, err := audit.LastLedger(t.cfg.auditDir())
	if err != nil {
		return nil, fmt.Errorf("engine: reading the ledger's position in the audit log: %w", err)
	}
	list = append(list, trace{"the audit log in " + t.cfg.auditDir(), logged})
	if t.witness != nil {
		e, _, err := t.witness.Last()
		if err != nil {
			return nil, fmt.Errorf("engine: %w. The server does not start without its witness: make it readable, or take the setting away", err)
		}
		list = append(list, trace{"the witness " + t.witness.String(), e.Position})
	}
	return list, nil
}

// check refuses, with accounting.ErrOlder, a ledger that does not continue what a place knows.
func (t traces) check(ctx context.Context, l *accounting.Ledger) error {
	list, err := t.all(ctx)
	if err != nil {
		return err
	}
	for _, x := range list {
		if x.position == "" {
			continue
		}
		p, err := accounting.ParsePosition(x.position)
		if err != nil {
			return fmt.Errorf("engine: %s: %w", x.place, err)
		}
		if ok, err := l.Continues(p); err != nil || !ok {
			return errors.Join(err, t.older(l.Position(), p, x.place))
		}
	}
	return nil
}

// older is the refusal of a ledger, with the ways out of it.
func (t traces) older(end, known accounting.Position, place string) error {
	return fmt.Errorf("%w: it ends at record %d of %s, and %s knows another record %d, of %s. Nothing was changed. Put back the newest %s, with its key and mark, "+
		"or a backup as a whole by scrim restore --from BACKUP --data %s. If there is no newer ledger, %s takes this one, and records that; with --budgets-spent it "+
		"counts the budgets as spent. Otherwise lower them by what may have been spent since",
		accounting.ErrOlder, end.Record, end.At.UTC().Format(time.DateTime), place, known.Record, known.At.UTC().Format(time.DateTime), fileLedger,
		t.cfg.DataDir, t.acceptance(end))
}

// acceptance is the command by which an operator takes the ledger as it is.
func (t traces) acceptance(end accounting.Position) string {
	words := []string{"scrim restore --data", t.cfg.DataDir, "--accept-ledger-of", end.At.UTC().Format(time.DateOnly)}
	if t.cfg.AuditDir != "" {
		words = append(words, "--audit-dir", t.cfg.AuditDir)
	}
	if t.cfg.Witness != "" {
		words = append(words, "--witness", t.cfg.Witness)
	}
	return strings.Join(words, " ")
}

// accept puts a position in the place of every other that is known: of a ledger that somebody has taken although it is older.
func (t traces) accept(ctx context.Context, p accounting.Position, by, note string) error {
	return t.know(ctx, p, audit.Accepted, by, note)
}

// know writes a position into every place, with a record of that kind in the audit log.
func (t traces) know(ctx context.Context, p accounting.Position, kind audit.Kind, by, note string) error {
	run := map[audit.Kind]string{audit.Accepted: "scrim restore", audit.Archived: "scrim ledger archive"}[kind]
	err := t.set(ctx, p)
	if t.witness != nil {
		err = errors.Join(err, t.witness.Add(witness.Entry{Run: run, Position: p.String(), Note: note}))
	}
	log, e := audit.Open(audit.Options{Dir: t.cfg.auditDir()})
	if e != nil {
		return errors.Join(err, e)
	}
	log.Follow(p.String)
	log.Write(audit.Record{Kind: kind, Principal: by, Note: note})
	return errors.Join(err, log.Close())
}

// set writes a position into the store and the catalogue.
func (t traces) set(ctx context.Context, p accounting.Position) (err error) {
	if t.store != nil {
		err = t.store.SetMark(ctx, markOf(p))
	}
	if t.catalog != nil {
		err = errors.Join(err, t.catalog.NoteLedger(p.String()))
	}
	if err != nil {
		err = fmt.Errorf("engine: writing the ledger's position: %w", err)
	}
	return err
}

func markOf(p accounting.Position) duckdb.Mark { return duckdb.Mark{Order: p.Record, Text: p.String()} }

// openTraces opens the places of a data directory that nobody serves. close gives them back.
func openTraces(c Config, dir *directory) (t traces, close func() error, err error) {
	t = traces{cfg: c}
	if c.Witness != "" {
		t.witness = witness.At(c.Witness, dir.id)
	}
	if t.catalog, err = catalog.Open(c.path(fileCatalog), catalog.Options{DirectoryID: dir.id}); err != nil {
		return t, nil, err
	}
	t.store, err = duckdb.Open(c.path(fileData), duckdb.Options{Threads: c.Threads, MemoryLimit: c.MemoryLimit, DirectoryID: dir.id})
	if err != nil {
		return t, nil, err
	}
	return t, t.store.Close, nil
}
