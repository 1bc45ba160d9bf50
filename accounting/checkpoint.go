package accounting

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"scrim/accounting/internal/chain"
	"scrim/accounting/privacy"
	"scrim/internal/durable"
)

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
