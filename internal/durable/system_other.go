//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package durable

import (
	"errors"
	"os"
)

// SyncDir does nothing.
func SyncDir(string) error { return nil }

// Lock refuses: without a lock, two processes could write at once.
func Lock(string) (*os.File, error) {
	return nil, errors.New("this system has no file locks")
}
