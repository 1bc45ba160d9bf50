//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package contribute

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFile opens a file that one process at a time can hold; the system lets go of it when the process ends.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("contribute: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, ErrInUse
		}
		return nil, fmt.Errorf("contribute: lock %s: %w", path, err)
	}
	return f, nil
}

// syncDirectory makes renames in a directory durable.
func syncDirectory(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
