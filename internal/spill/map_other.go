//go:build unix && !linux

package spill

import (
	"errors"
	"os"
)

func hugePages([]byte) {}

// reserve makes n bytes of the file from at on exist on the disk.
func reserve(f *os.File, at, n int64) error { return zeros(f, at, n) }

// residentFiles is not known here: pages are handed back at every look.
func residentFiles() (int64, error) { return 0, errors.ErrUnsupported }
