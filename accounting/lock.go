//go:build unix

package accounting

import (
	"errors"
	"os"
	"time"

	"scrim/internal/durable"
)

// errHeld says that another process, or another opening in this one, holds the file.
var errHeld = errors.New("file is locked")

// lock takes the exclusive lock on f that bbolt takes too, so that nobody writes while the pages
// are being verified; bbolt's own lock on the same descriptor then succeeds at once. It waits at
// most timeout.
func lock(f *os.File, timeout time.Duration) error {
	const retry = 20 * time.Millisecond
	for deadline := time.Now().Add(timeout); ; time.Sleep(retry) {
		err := durable.TryLock(f)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, durable.ErrHeld):
			return err
		case time.Now().After(deadline):
			return errHeld
		}
	}
}
