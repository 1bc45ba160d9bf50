package accounting

import (
	"context"
	"errors"
	"fmt"
	"time"

	"scrim/accounting/internal/chain"
)

// Rechecked is what a verification of an open ledger has found sound.
type Rechecked struct {
	Records  uint64 // of the file, read and verified
	Archived uint64 // records before them, which are not in the file
	End      Position
}

// errRechecking says that a verification is asked for while one runs.
var errRechecking = errors.New("accounting: the ledger is being verified already")

// Recheck reads and verifies all records of the file again, up to the last durable one, while the
// ledger is used: their hashes, their order, and that they can be booked one after the other.
// Damage ends the ledger, as in the verification after an opening.
func (l *Ledger) Recheck(ctx context.Context) (r Rechecked, err error) {
	if err := l.usable(); err != nil {
		return r, err
	}
	if !l.up.again.TryLock() {
		return r, errRechecking
	}
	defer l.up.again.Unlock()
	end := *l.durable.Load()
	err = l.recheckTo(ctx, end)
	var d *damage
	switch stopped := l.running(); {
	case stopped != nil:
		return r, errClosed
	case errors.As(err, &d):
		l.condemn(err)
		return r, l.Err()
	case err != nil:
		return r, err
	}
	base := l.base.end.ID
	return Rechecked{Records: end.ID - base, Archived: base, End: positionOf(end)}, nil
}

func (l *Ledger) recheckTo(ctx context.Context, end chain.Mark) error {
	s, err := l.base.decode()
	if err != nil {
		return err
	}
	pause := func(time.Duration) error {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("accounting: %w", err)
		}
		return l.running()
	}
	at, memory := l.base.end, l.scratch()
	for _, b := range partsBetween(at.ID, end.ID, l.part) {
		if b.last < b.first {
			break
		}
		if _, at, err = l.readPart(b, at.Hash, s, memory, pause); err != nil {
			return err
		}
	}
	if at.Hash != end.Hash {
		return damagedRecords("record %d is not the one that was written", end.ID)
	}
	return nil
}
