//go:build unix

package spill

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapAnonymous returns n zero bytes that no file holds, from a multiple of hugePage on where they
// are that many.
func mapAnonymous(n int) ([]byte, error) {
	if n < hugePage {
		p, err := unix.MmapPtr(-1, 0, nil, uintptr(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		return unsafe.Slice((*byte)(p), n), err
	}
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(n+hugePage), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, err
	}
	before := -uintptr(p) & (hugePage - 1)
	start := unsafe.Add(p, before)
	if before > 0 {
		err = unix.MunmapPtr(p, before)
	}
	if after := hugePage - before; after > 0 && err == nil {
		err = unix.MunmapPtr(unsafe.Add(start, n), after)
	}
	b := unsafe.Slice((*byte)(start), n)
	hugePages(b)
	return b, err
}

// mapFile maps n bytes of a file from at on, which are there.
func mapFile(f *os.File, at int64, n int) ([]byte, error) {
	p, err := unix.MmapPtr(int(f.Fd()), at, nil, uintptr(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return unsafe.Slice((*byte)(p), n), err
}

// unmap gives mapped memory back. It fails only for what was not mapped.
func unmap(b []byte) {
	if err := unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(b)), uintptr(len(b))); err != nil {
		panic("spill: unmap: " + err.Error())
	}
}

// handBack lets the system take the resident pages of a file's part; what they hold stays in the
// file. A page that is touched meanwhile comes back.
func handBack(b []byte) { _ = unix.Madvise(b, unix.MADV_DONTNEED) }

// unnamed makes a file without a name: nothing is left of it when it is closed or the process ends.
func unnamed(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "scrim_spill_")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// fileSystem tells how many bytes of a directory's file system are free for this process, and how
// many there are.
func fileSystem(dir string) (free, size int64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return int64(s.Bavail) * int64(s.Bsize), int64(s.Blocks) * int64(s.Bsize), nil
}
