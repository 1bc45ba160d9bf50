package engine

import (
	"context"

	"scrim/engine/audit"
	"scrim/engine/store/duckdb"
	"scrim/engine/witness"
)

// checkLedger compares the ledger with what the other places know of it. From then on they follow it: before, an older ledger would
// put its own position in the place of what tells that it is older.
func (s *Server) checkLedger() error {
	t := traces{cfg: s.cfg, store: s.store, catalog: s.catalog}
	if s.cfg.Witness != "" {
		t.witness = witness.At(s.cfg.Witness, s.dir.id)
	}
	ctx := context.Background()
	if err := t.check(ctx, s.ledger); err != nil {
		return err
	}
	if err := t.set(ctx, s.ledger.Position()); err != nil {
		return err
	}
	position := func() string { return s.ledger.Position().String() }
	s.store.Follow(func() duckdb.Mark { return markOf(s.ledger.Position()) })
	s.catalog.Follow(position)
	s.audit.Follow(position)
	s.audit.Write(audit.Record{Kind: audit.Ledger})
	s.traces = &t
	if t.witness == nil {
		return nil
	}
	var err error
	s.keeper, err = t.witness.Keep(position, s.witnessed)
	return err
}

// unfollow writes the last position, of a ledger that is closed, into every place but the audit log, whose next record says it. It does
// nothing where the ledger was refused.
func (s *Server) unfollow() error {
	if s.traces == nil {
		return nil
	}
	s.keeper.Close()
	return s.traces.set(context.Background(), s.ledger.Position())
}

// witnessed hears how the witness is.
func (s *Server) witnessed(r witness.Report) {
	switch {
	case r.Failing != nil:
		s.log.Error().Err(r.Failing).Msg("the witness cannot be read or written: a roll-back of the data directory to this time would not be noticed")
		s.warnings.set(warnWitness, "the witness cannot be read or written; the server's log says why")
	default:
		s.warnings.set(warnWitness, "")
	}
	if r.Other != nil {
		s.elsewhere(warnSecond, "another server appends to the witness "+s.cfg.Witness+", the last time at "+r.Other.Time.Format("2006-01-02 15:04:05 MST")+
			": this data directory, or a copy of it, is served twice, and what one spends the other does not count. Stop one of them, and never start it again")
	}
}
