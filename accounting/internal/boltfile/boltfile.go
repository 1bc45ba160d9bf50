// Package boltfile verifies the pages of a bbolt file before bbolt follows them, and turns bbolt's
// panics, and faults on its mapped pages, into errors. It knows the bucket of records by its name,
// whose leaves it may skip.
package boltfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"syscall"

	"golang.org/x/sync/errgroup"
)

// bbolt's pages carry no checksums but for the two meta pages, and bbolt follows page numbers and
// lengths as it finds them: a flipped bit can crash the process, loop, or hand a page that is in
// use to the next writer. Verify therefore walks the whole file first with every access
// checked. It knows the layout of bbolt's format 2 (magic 0xED0CDAED):
//
//	page     id u64, flags u16, count u16, overflow u32, then elements
//	branch   element: position u32 (from the element), key length u32, child page u64
//	leaf     element: flags u32, position u32, key length u32, value length u32
//	bucket   leaf element with flag 1; its value: root page u64, sequence u64, page if root is 0
//	freelist page numbers u64; count 0xFFFF says that the first is the count
//	meta     magic, version, page size, flags u32; root, sequence, freelist, end, txid u64; FNV-64a
//
// all in the machine's byte order.
const (
	PageHeader  = 16
	ElementSize = 16

	BranchPage   = 0x01
	LeafPage     = 0x02
	MetaPage     = 0x04
	FreelistPage = 0x10

	boltMagic   = 0xED0CDAED
	boltVersion = 2
	noFreelist  = ^uint64(0)
	maxDepth    = 64 // of a tree of pages; bbolt's are far shallower
)

type pageMeta struct {
	pageSize                  uint32
	root, freelist, end, txid uint64
}

// reach is how far pages are verified.
type reach int

const (
	Whole   reach = iota // all pages
	Skimmed              // all but the leaves of records; see pages_tree.go
)

// pageWalker verifies the pages of one file.
type pageWalker struct {
	data  []byte // the file
	meta  pageMeta
	reach reach
	seen  []atomic.Bool // by page number
	side  errgroup.Group

	unread []atomic.Bool // by page number: leaves of records that were not read; nil where all are
}

// Verify checks that f is a whole bbolt file: both meta pages intact and one transaction
// apart, every page below the end reached exactly once from the root or the freelist, every element
// inside its page, all keys in order. It refuses a file of which one meta page is damaged, although
// bbolt would fall back on the other: that would forget the last transaction.
func Verify(f *os.File, r reach) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return errors.New("the file is empty")
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("the file cannot be mapped: %w", err)
	}
	defer func() { _ = syscall.Munmap(data) }()
	return Guard(func() error { return VerifyBytes(data, r) })
}

// VerifyPath is Verify of the file at path, which is not written meanwhile.
func VerifyPath(path string, r reach) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return Verify(f, r)
}

// VerifyBytes is Verify of a file that is in memory.
func VerifyBytes(data []byte, r reach) error {
	const metaSize = PageHeader + 64
	if len(data) < metaSize {
		return errors.New("the file is cut short")
	}
	first, err := readMeta(data)
	if err != nil {
		return err
	}
	if len(data) < int(first.pageSize)+metaSize {
		return errors.New("the file is cut short")
	}
	second, err := readMeta(data[first.pageSize:])
	if err != nil {
		return err
	}
	if first.pageSize != second.pageSize || first.txid%2 != 0 || second.txid%2 != 1 ||
		max(first.txid, second.txid)-min(first.txid, second.txid) != 1 {
		return errors.New("the two meta pages do not belong together")
	}
	w := &pageWalker{data: data, meta: first, reach: r}
	if second.txid > first.txid {
		w.meta = second
	}
	if w.meta.end < 3 || w.meta.end > uint64(len(data))/uint64(w.meta.pageSize) {
		return errors.New("the file is cut short")
	}
	return w.walk()
}

// walk verifies the tree, subtrees of it side by side, and then the free pages.
func (w *pageWalker) walk() error {
	w.seen = make([]atomic.Bool, w.meta.end)
	w.seen[0].Store(true)
	w.seen[1].Store(true)
	if w.reach == Skimmed {
		w.unread = make([]atomic.Bool, w.meta.end)
	}
	w.side.SetLimit(runtime.GOMAXPROCS(0))
	err := w.tree(w.meta.root, subtree{})
	if e := w.side.Wait(); err == nil {
		err = e
	}
	if err == nil {
		err = w.freelist()
	}
	if err == nil && w.reach == Skimmed {
		err = w.overflows()
	}
	if err != nil {
		return err
	}
	for id := range w.seen {
		if !w.seen[id].Load() {
			return fmt.Errorf("page %d is neither used nor free", id)
		}
	}
	return nil
}

// readMeta reads the meta page that starts b.
func readMeta(b []byte) (pageMeta, error) {
	e := binary.NativeEndian
	m := b[PageHeader:]
	h := fnv.New64a()
	h.Write(m[:56])
	switch {
	case e.Uint32(m) != boltMagic || e.Uint32(m[4:]) != boltVersion:
		return pageMeta{}, errors.New("not a ledger file")
	case e.Uint64(m[56:]) != h.Sum64() || e.Uint16(b[8:]) != MetaPage:
		return pageMeta{}, errors.New("a meta page does not match its checksum")
	}
	p := pageMeta{
		pageSize: e.Uint32(m[8:]), root: e.Uint64(m[16:]),
		freelist: e.Uint64(m[32:]), end: e.Uint64(m[40:]), txid: e.Uint64(m[48:]),
	}
	if p.pageSize < 512 || p.pageSize > 1<<20 {
		return pageMeta{}, errors.New("a meta page has an impossible page size")
	}
	return p, nil
}

// Guard calls f and turns panics, and faults on the memory-mapped file (a disk error, a file cut
// short by someone else), into errors.
func Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("accounting: ledger file: %v", p)
		}
	}()
	return f()
}
