package monitor

import (
	"errors"

	"scrim/accounting"
	"scrim/engine/audit"
)

// Upkeep hears how the work beside the ledger stands: the verification of what the start took from
// a checkpoint, and the checkpoints.
func (w *Warnings) Upkeep(u accounting.Upkeep) {
	before := w.upkeep.Swap(&u)
	if before == nil {
		before = &accounting.Upkeep{}
	}
	switch {
	case u.Damage != nil && before.Damage == nil:
		w.Log.Error().Str("ledger", u.Damage.Error()).Msg("the ledger is damaged: no private statement is answered any more. Stop the server and look at the disk; " +
			"scrim ledger verify reads all of the ledger. Then restore the data directory from a backup; charges made since that backup are unknown, " +
			"so lower the budgets by what may have been spent")
		w.set(warnLedger, "the ledger is damaged: no private statement is answered any more; the server's log says what to do")
		w.Audit.Write(audit.Record{Kind: audit.Damaged, Note: u.Damage.Error()})
	case !u.VerifiedAt.IsZero() && before.VerifiedAt.IsZero() && u.Resumed > 0:
		w.Log.Info().Uint64("records", u.Resumed).Msg("the ledger is verified up to the checkpoint that the start began with; what came later was verified then")
	}
	switch {
	case u.Failed != nil && before.Failed == nil:
		w.Log.Warn().Err(u.Failed).Msg("no checkpoint of the ledger can be written: nothing is lost, but the next start reads more of it")
		w.set(warnCheckpoint, "no checkpoint of the ledger can be written; the server's log says why")
	case u.Failed == nil && before.Failed != nil:
		w.set(warnCheckpoint, "")
	}
}

// ledgerError is why the ledger takes no charges, in words for whoever can reach /readyz; nil while
// it does.
func ledgerError(l *accounting.Ledger) error {
	switch err := l.Err(); {
	case errors.Is(err, accounting.ErrDamaged):
		return ErrDamaged
	case err != nil:
		return errNoLedger
	}
	return nil
}
