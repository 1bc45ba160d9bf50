package spill

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// hugePages asks for large pages, which take less time to make.
func hugePages(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }

// reserve makes n bytes of the file from at on exist on the disk.
func reserve(f *os.File, at, n int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, at, n)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return zeros(f, at, n)
	}
	return err
}

// residentFiles is how many bytes of mapped files the process has resident, those of its own
// program among them.
func residentFiles() (int64, error) {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	var size, resident, shared int64
	if _, err := fmt.Fscan(bytes.NewReader(b), &size, &resident, &shared); err != nil {
		return 0, err
	}
	return shared * int64(os.Getpagesize()), nil
}
