//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package contribute

import (
	"errors"
	"os"
)

// lockFile refuses: without a lock, two processes could report twice.
func lockFile(string) (*os.File, error) {
	return nil, errors.New("contribute: this system has no file locks that a wallet could rest on")
}

func syncDirectory(string) error { return nil }
