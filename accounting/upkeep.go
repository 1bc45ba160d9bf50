package accounting

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"scrim/accounting/internal/chain"
	"scrim/accounting/privacy"
	"scrim/internal/durable"
)

// Upkeep is how the work beside a ledger stands that keeps checkpoints: the verification of what
// the opening did not read, and the checkpoints.
type Upkeep struct {
	// the record of the checkpoint that the opening began with; 0: it read and verified everything
	Resumed    uint64
	Verified   uint64    // up to which record those are verified
	VerifiedAt time.Time // when all records were; zero: they are not yet
	// what is wrong with the ledger, which grants nothing any more; nil: nothing was found
	Damage     error
	Checkpoint uint64 // the record of the newest checkpoint; 0: there is none
	Failed     error  // why the newest checkpoint could not be written; nil: it could
}

// upkeep is that work. Its last fields are its goroutine's own.
type upkeep struct {
	wake chan struct{} // capacity 1: a checkpoint is due
	idle chan struct{} // closed when the work has ended
	due  atomic.Uint64 // from which record on the next checkpoint is due

	indexed chan struct{} // closed when the index holds all records, or never will
	ready   sync.Once     // closes it

	again sync.Mutex // held by Recheck

	tell   func(Upkeep) // nil: nobody listens
	mu     sync.Mutex
	status Upkeep // under mu

	kept   chain.Mark // of the newest checkpoint; the base's where there is none
	digest chain.Sum  // of its state
	parts  *segments
}

// errStopping says that the ledger is being closed.
var errStopping = errors.New("accounting: the ledger is being closed")

// promptParts is how many parts a closing waits for, so that the next opening has little to read.
const promptParts = 4

// checkpointEvery is how many parts one checkpoint follows the other after, where many are due: the
// state is written each time.
const checkpointEvery = 64

// Upkeep tells how the work beside the ledger stands.
func (l *Ledger) Upkeep() Upkeep {
	l.up.mu.Lock()
	defer l.up.mu.Unlock()
	return l.up.status
}

func (u *upkeep) change(f func(*Upkeep)) {
	u.mu.Lock()
	f(&u.status)
	now := u.status
	u.mu.Unlock()
	if u.tell != nil {
		u.tell(now)
	}
}

// prepareUpkeep prepares the work for a ledger that began with a checkpoint, or with its base.
func (l *Ledger) prepareUpkeep(from cut, o Options) {
	u := &l.up
	u.tell, u.kept, u.digest = o.Upkeep, from.end, sha256.Sum256(from.state)
	u.parts = newSegments(l.path+IndexSuffix, l.key, l.base.end.Hash)
	u.due.Store((u.kept.ID+1)/l.part*l.part + l.part - 1)
	if from.end.ID > l.base.end.ID {
		u.status.Resumed, u.status.Checkpoint, u.status.Verified = from.end.ID, from.end.ID, l.base.end.ID
		return
	}
	u.status.VerifiedAt = l.now()
	u.searchable()
}

// nudge has the work look whether a checkpoint is due.
func (l *Ledger) nudge() {
	if l.durable.Load().ID >= l.up.due.Load() {
		select {
		case l.up.wake <- struct{}{}:
		default:
		}
	}
}

// keep completes the index, verifies what the opening did not read, and then makes a checkpoint
// whenever one is due.
func (l *Ledger) keep() {
	defer close(l.up.idle)
	if l.up.status.Resumed > 0 {
		if err := l.catchUp(); err != nil && err != errStopping {
			l.condemn(err)
		}
	}
	for l.Err() == nil {
		select {
		case <-l.up.wake:
			l.checkpoint(l.pause)
			continue
		case <-l.closing:
		}
		break
	}
	<-l.stopped
	if l.prompt() {
		l.checkpoint(func(time.Duration) error { return nil })
	}
}

// prompt reports whether a closing ledger makes a checkpoint before it is closed: where one is due
// that takes no long, and the segments that it goes on from were read.
func (l *Ledger) prompt() bool {
	u, end := &l.up, l.durable.Load().ID
	return end >= u.due.Load() && (end-u.kept.ID)/l.part <= promptParts && u.parts.end == u.kept.Hash && l.Err() == errClosed
}

// pause waits, after some work, three times as long as it took, so that it takes a quarter of a
// processor at most.
func (l *Ledger) pause(worked time.Duration) error {
	select {
	case <-l.closing:
		return errStopping
	case <-time.After(3 * worked):
		return nil
	}
}

// checkpoint makes the checkpoints that are due. Damage in the records that it reads ends the
// ledger; a checkpoint that cannot be written does not, as nothing rests on it.
func (l *Ledger) checkpoint(pause func(time.Duration) error) {
	u, before := &l.up, *l.up.parts
	err := l.advance(pause)
	var d *damage
	switch {
	case errors.Is(l.Err(), ErrDamaged), errors.Is(l.Err(), ErrVersion): // found by somebody else meanwhile
		l.dropCheckpoint()
		return
	case errors.As(err, &d):
		l.condemn(err)
		return
	case err == errStopping:
		*u.parts = before
		return
	case err != nil:
		*u.parts = before
		u.due.Store(l.durable.Load().ID + l.part) // try again, but not at once
		u.change(func(s *Upkeep) { s.Failed = err })
		return
	}
	u.due.Store(u.kept.ID + l.part)
	u.change(func(s *Upkeep) { s.Checkpoint, s.Failed = u.kept.ID, nil })
}

// advance moves the checkpoint on to the last part that is complete.
func (l *Ledger) advance(pause func(time.Duration) error) error {
	u := &l.up
	from := l.base
	if u.kept.ID > l.base.end.ID {
		var err error
		if from, err = l.readCheckpoint(); err != nil || from.end.ID != u.kept.ID || from.end.Hash != u.kept.Hash {
			from, u.kept = l.base, l.base.end // somebody took it away: from the beginning
			*u.parts = *newSegments(u.parts.path, l.key, l.base.end.Hash)
		}
	}
	s, err := from.decode()
	if err != nil {
		return err
	}
	f, err := u.parts.open()
	if err != nil {
		return err
	}
	defer f.Close()
	memory := l.scratch()
	at, full := from.end, (l.durable.Load().ID+1)/l.part*l.part
	for i, b := range partsBetween(from.end.ID, full-1, l.part) {
		if b.last < b.first {
			return nil
		}
		p, end, err := l.readPart(b, at.Hash, s, memory, pause)
		if err != nil {
			return err
		}
		if err := u.parts.append(f, end.Hash, p.Index.Encode(nil)); err != nil {
			return err
		}
		at = end
		if b.last < full-1 && (i+1)%checkpointEvery > 0 {
			continue
		}
		if err := l.at("segment-written"); err != nil {
			return err
		}
		if err := l.place(f, cut{at, s.Encode(nil)}); err != nil {
			return err
		}
	}
	return nil
}

// place makes the segments durable and then the checkpoint, which says how far they reach.
func (l *Ledger) place(f *os.File, c cut) error {
	err := f.Truncate(l.up.parts.size)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = l.at("segment-synced")
	}
	if err == nil {
		err = l.writeCheckpoint(c)
	}
	if err == nil {
		l.up.kept, l.up.digest = c.end, sha256.Sum256(c.state)
	}
	return err
}

// condemn ends the ledger's work because its file is damaged, or has what only a newer program
// knows, and has the next opening read everything.
func (l *Ledger) condemn(cause error) {
	l.mu.Lock()
	if l.fault == nil || l.fault == errClosed {
		kind, repair := ErrDamaged, repairFound
		if newer(cause) {
			kind, repair = ErrVersion, repairNewer
		}
		l.fault = fmt.Errorf("%w: %w: %s: %w. %s", ErrUnavailable, kind, l.path, cause, repair)
	}
	l.mu.Unlock()
	l.dropCheckpoint()
	l.up.change(func(s *Upkeep) { s.Damage = cause })
	l.up.searchable() // nobody waits for what does not come
}

// searchable ends the waiting for the index.
func (u *upkeep) searchable() { u.ready.Do(func() { close(u.indexed) }) }

// CheckpointSuffix names the file of the ledger's checkpoint: the ledger's own name with it behind.
// It can be removed at any time: the ledger is then read as a whole when it is opened.
const CheckpointSuffix = ".checkpoint"

// checkpointFormat begins the file; behind it stands the cut, sealed.
const checkpointFormat = "scrim ledger checkpoint 1\n"

// errCheckpoint says that a checkpoint cannot be used, so that everything is read.
var errCheckpoint = errors.New("accounting: no usable checkpoint")

// checkpointBond is what has to be the same when a checkpoint is used: after which record the
// ledger's file begins, how many records make a part, and what events cost in this program.
func (l *Ledger) checkpointBond() []byte {
	b := binary.BigEndian.AppendUint64(nil, l.base.end.ID)
	b = binary.BigEndian.AppendUint64(b, l.part)
	c := privacy.CurvesPrint()
	return append(b, c[:]...)
}

// writeCheckpoint replaces the checkpoint, durably, in one step.
func (l *Ledger) writeCheckpoint(c cut) error {
	path := l.path + CheckpointSuffix
	name := path + ".new"
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, chain.FileMode)
	if err != nil {
		return fmt.Errorf("accounting: writing a checkpoint: %w", err)
	}
	_, err = f.Write(append([]byte(checkpointFormat), c.seal(l.key, checkpointSeal, l.checkpointBond())...))
	if err == nil {
		err = l.at("checkpoint-written")
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = l.at("checkpoint-synced")
	}
	if err == nil {
		err = os.Rename(name, path)
	}
	if err == nil {
		err = durable.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		_ = os.Remove(name)
		return fmt.Errorf("accounting: writing a checkpoint: %w", err)
	}
	return l.at("checkpoint-placed")
}

// readCheckpoint reads the checkpoint. errCheckpoint says that there is none that was made with the
// ledger's key, for a ledger that begins where this one does, by a program that adds up alike.
func (l *Ledger) readCheckpoint() (c cut, err error) {
	b, err := os.ReadFile(l.path + CheckpointSuffix)
	rest, ok := bytes.CutPrefix(b, []byte(checkpointFormat))
	if err != nil || !ok {
		return c, errCheckpoint
	}
	if c, err = unseal(l.key, checkpointSeal, l.checkpointBond(), rest); err != nil {
		return c, errCheckpoint
	}
	if _, err = c.decode(); err != nil || c.end.ID <= l.base.end.ID || (c.end.ID+1)%l.part != 0 {
		return c, errCheckpoint
	}
	return c, nil
}

// resume returns the checkpoint, if the ledger with that head holds the record that it was made at.
func (l *Ledger) resume(end chain.Head) (c cut, err error) {
	if c, err = l.readCheckpoint(); err != nil {
		return c, err
	}
	have, found, err := l.hashAt(c.end.ID)
	if err != nil || !found || c.end.ID > end.ID || have != c.end.Hash {
		return c, errCheckpoint
	}
	return c, nil
}

// dropCheckpoint has the next opening read everything.
func (l *Ledger) dropCheckpoint() {
	for _, s := range []string{CheckpointSuffix, IndexSuffix} {
		_ = os.Remove(l.path + s)
	}
}

// IndexSuffix names the file of the ledger's index up to its checkpoint: the ledger's own name with
// it behind. It can be removed at any time: the index is then made from the records.
const IndexSuffix = ".index"
