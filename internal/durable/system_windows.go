package durable

import (
	"errors"
	"os"
	"syscall"
)

// sharingViolation is what Windows says of a file that another process has opened without sharing
// it.
const sharingViolation = syscall.Errno(32)

// SyncDir does nothing.
func SyncDir(string) error { return nil }

// Lock opens a file, which it makes if it is not there, and takes its lock: until the file is
// closed, or the process has ended, others get ErrHeld.
func Lock(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	const unshared = 0
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, unshared, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, sharingViolation) {
		return nil, ErrHeld
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(h), path), nil
}
