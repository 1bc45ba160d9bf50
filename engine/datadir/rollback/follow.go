package rollback

import (
	"context"

	"scrim/accounting"
	"scrim/engine/audit"
	"scrim/engine/store/duckdb"
	"scrim/engine/witness"
)

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
