//go:build unix

package accounting

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// errHeld says that another process, or another opening in this one, holds the file.
var errHeld = errors.New("file is locked")

// lock takes the exclusive lock on f that bbolt takes too, so that nobody writes while the pages are
// being verified; bbolt's own lock on the same descriptor then succeeds at once. It waits at most
// timeout.
func lock(f *os.File, timeout time.Duration) error {
	const retry = 20 * time.Millisecond
	for deadline := time.Now().Add(timeout); ; time.Sleep(retry) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case err != syscall.EWOULDBLOCK && err != syscall.EINTR:
			return err
		case time.Now().After(deadline):
			return errHeld
		}
	}
}
