package accounting

import (
	"context"
	"io"
	"os"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/internal/boltfile"
)

// Backup writes a consistent copy of the ledger's file to w while it is in use: what is durable
// when it begins. The copy opens with the key of the ledger, and without a mark only by an
// Acceptance.
func (l *Ledger) Backup(ctx context.Context, w io.Writer) error {
	w = stoppable{ctx, w}
	switch err := l.Err(); {
	case err == errReadOnly: // nobody writes the file
		f, err := os.Open(l.path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(w, f)
		return err
	case err != nil:
		return err
	}
	return boltfile.Guard(func() error {
		for {
			done, err := l.copyTo(w)
			if err != nil || done {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := l.db.Update(func(*bolt.Tx) error { return nil }); err != nil {
				return l.poison(err)
			}
		}
	})
}

// copyTo writes the file as the last transaction left it. bbolt gives the first meta page of the
// copy that transaction's number and the second the one before, so only the copy of an even one
// goes on with its pages in turn; of an odd one it writes nothing.
func (l *Ledger) copyTo(w io.Writer) (done bool, err error) {
	err = l.db.View(func(tx *bolt.Tx) error {
		if done = tx.ID()%2 == 0; !done {
			return nil
		}
		_, err := tx.WriteTo(w)
		return err
	})
	return done, err
}

// stoppable is a writer that fails once its context has ended.
type stoppable struct {
	ctx context.Context
	w   io.Writer
}

func (s stoppable) Write(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.w.Write(b)
}
