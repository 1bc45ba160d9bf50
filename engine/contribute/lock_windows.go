package contribute

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// sharingViolation is what Windows says of a file that another process has opened without sharing it.
const sharingViolation = syscall.Errno(32)

// lockFile opens a file that one process at a time can hold; the system lets go of it when the process ends.
func lockFile(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, fmt.Errorf("contribute: %w", err)
	}
	const unshared = 0
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, unshared, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, sharingViolation) {
		return nil, ErrInUse
	}
	if err != nil {
		return nil, fmt.Errorf("contribute: lock %s: %w", path, err)
	}
	return os.NewFile(uintptr(h), path), nil
}

// syncDirectory does nothing: Windows keeps renames in its file system's journal.
func syncDirectory(string) error { return nil }
