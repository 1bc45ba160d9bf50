package accounting

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
)

// bbolt's pages carry no checksums but for the two meta pages, and bbolt follows page numbers and
// lengths as it finds them: a flipped bit can crash the process, loop, or hand a page that is in use
// to the next writer. verifyPages therefore walks the whole file first with every access checked. It
// knows the layout of bbolt's format 2 (magic 0xED0CDAED):
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
	pageHeader  = 16
	elementSize = 16

	branchPage   = 0x01
	leafPage     = 0x02
	metaPage     = 0x04
	freelistPage = 0x10

	boltMagic   = 0xED0CDAED
	boltVersion = 2
	noFreelist  = ^uint64(0)
	maxDepth    = 64 // of a tree of pages; bbolt's are far shallower
)

type pageMeta struct {
	pageSize                  uint32
	root, freelist, end, txid uint64
}

// pageWalker verifies the pages of one file.
type pageWalker struct {
	f    *os.File
	meta pageMeta
	seen []bool // by page number
}

// verifyPages checks that f is a whole bbolt file: both meta pages intact and one transaction apart,
// every page below the end reached exactly once from the root or the freelist, every element inside
// its page, all keys in order. It refuses a file of which one meta page is damaged, although bbolt
// would fall back on the other: that would forget the last transaction.
func verifyPages(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return errors.New("the file is empty")
	}
	head := make([]byte, pageHeader+64)
	if _, err = f.ReadAt(head, 0); err != nil {
		return errors.New("the file is cut short")
	}
	first, err := readMeta(head)
	if err != nil {
		return err
	}
	if _, err = f.ReadAt(head, int64(first.pageSize)); err != nil {
		return errors.New("the file is cut short")
	}
	second, err := readMeta(head)
	if err != nil {
		return err
	}
	if first.pageSize != second.pageSize || first.txid%2 != 0 || second.txid%2 != 1 ||
		max(first.txid, second.txid)-min(first.txid, second.txid) != 1 {
		return errors.New("the two meta pages do not belong together")
	}
	w := &pageWalker{f: f, meta: first}
	if second.txid > first.txid {
		w.meta = second
	}
	if w.meta.end < 3 || w.meta.end > uint64(info.Size())/uint64(w.meta.pageSize) {
		return errors.New("the file is cut short")
	}
	w.seen = make([]bool, w.meta.end)
	w.seen[0], w.seen[1] = true, true
	if err := w.tree(w.meta.root, nil, nil, 0); err != nil {
		return err
	}
	if err := w.freelist(); err != nil {
		return err
	}
	for id, seen := range w.seen {
		if !seen {
			return fmt.Errorf("page %d is neither used nor free", id)
		}
	}
	return nil
}

// readMeta reads the meta page that starts b.
func readMeta(b []byte) (pageMeta, error) {
	e := binary.NativeEndian
	m := b[pageHeader:]
	h := fnv.New64a()
	h.Write(m[:56])
	switch {
	case e.Uint32(m) != boltMagic || e.Uint32(m[4:]) != boltVersion:
		return pageMeta{}, errors.New("not a ledger file")
	case e.Uint64(m[56:]) != h.Sum64() || e.Uint16(b[8:]) != metaPage:
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

// page reads page id with its overflow pages and marks them as seen.
func (w *pageWalker) page(id uint64) ([]byte, error) {
	if id < 2 || id >= w.meta.end {
		return nil, fmt.Errorf("page %d does not exist", id)
	}
	size := uint64(w.meta.pageSize)
	head := make([]byte, size)
	if _, err := w.f.ReadAt(head, int64(id*size)); err != nil {
		return nil, fmt.Errorf("page %d cannot be read: %w", id, err)
	}
	e := binary.NativeEndian
	over := uint64(e.Uint32(head[12:]))
	if e.Uint64(head) != id || id+over >= w.meta.end {
		return nil, fmt.Errorf("page %d has a damaged header", id)
	}
	for i := id; i <= id+over; i++ {
		if w.seen[i] {
			return nil, fmt.Errorf("page %d is used twice", i)
		}
		w.seen[i] = true
	}
	if over == 0 {
		return head, nil
	}
	all := make([]byte, (over+1)*size)
	if _, err := w.f.ReadAt(all, int64(id*size)); err != nil {
		return nil, fmt.Errorf("page %d cannot be read: %w", id, err)
	}
	return all, nil
}

// tree checks the tree at page id, whose keys must lie in [low, high); nil is no bound.
func (w *pageWalker) tree(id uint64, low, high []byte, depth int) error {
	if depth > maxDepth {
		return errors.New("the tree of pages is too deep")
	}
	b, err := w.page(id)
	if err != nil {
		return err
	}
	return w.node(b, id, low, high, depth)
}

// node checks one branch or leaf page, or the page inside the value of a small bucket.
func (w *pageWalker) node(b []byte, id uint64, low, high []byte, depth int) error {
	e := binary.NativeEndian
	kind, n := e.Uint16(b[8:]), int(e.Uint16(b[10:]))
	bad := fmt.Errorf("page %d holds a damaged element", id)
	if kind != leafPage && (kind != branchPage || n == 0) || pageHeader+n*elementSize > len(b) {
		return fmt.Errorf("page %d has a damaged header", id)
	}
	keys := make([][]byte, n)
	for i := range keys {
		at := pageHeader + i*elementSize
		el := b[at:]
		pos, klen := uint64(e.Uint32(el)), uint64(e.Uint32(el[4:]))
		if kind == leafPage {
			pos, klen = uint64(e.Uint32(el[4:])), uint64(e.Uint32(el[8:]))
		}
		from := uint64(at) + pos
		if from < uint64(pageHeader+n*elementSize) || from+klen > uint64(len(b)) || klen == 0 {
			return bad
		}
		keys[i] = b[from : from+klen]
		if i == 0 && low != nil && bytes.Compare(keys[i], low) < 0 ||
			i > 0 && bytes.Compare(keys[i], keys[i-1]) <= 0 ||
			high != nil && bytes.Compare(keys[i], high) >= 0 {
			return fmt.Errorf("page %d has its keys out of order", id)
		}
		if kind == branchPage {
			continue
		}
		vlen := uint64(e.Uint32(el[12:]))
		if from+klen+vlen > uint64(len(b)) {
			return bad
		}
		switch value := b[from+klen : from+klen+vlen]; e.Uint32(el) {
		case 0:
		case 1:
			if err := w.bucket(value, id, depth+1); err != nil {
				return err
			}
		default:
			return bad
		}
	}
	if kind == leafPage {
		return nil
	}
	for i, key := range keys {
		next := high
		if i+1 < n {
			next = keys[i+1]
		}
		if err := w.tree(e.Uint64(b[pageHeader+i*elementSize+8:]), key, next, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// bucket checks the bucket whose value in page id is v.
func (w *pageWalker) bucket(v []byte, id uint64, depth int) error {
	if len(v) < 16 {
		return fmt.Errorf("page %d holds a damaged bucket", id)
	}
	if root := binary.NativeEndian.Uint64(v); root != 0 {
		return w.tree(root, nil, nil, depth)
	}
	if depth > maxDepth || len(v) < 16+pageHeader {
		return fmt.Errorf("page %d holds a damaged bucket", id)
	}
	return w.node(v[16:], id, nil, nil, depth)
}

// freelist checks that the free pages are exactly pages that nothing uses.
func (w *pageWalker) freelist() error {
	if w.meta.freelist == noFreelist {
		return errors.New("the list of free pages is missing")
	}
	b, err := w.page(w.meta.freelist)
	if err != nil {
		return err
	}
	e := binary.NativeEndian
	if e.Uint16(b[8:]) != freelistPage {
		return errors.New("the list of free pages is damaged")
	}
	n, ids := uint64(e.Uint16(b[10:])), b[pageHeader:]
	if n == 0xFFFF {
		if len(ids) < 8 {
			return errors.New("the list of free pages is damaged")
		}
		n, ids = e.Uint64(ids), ids[8:]
	}
	if n > uint64(len(ids)/8) {
		return errors.New("the list of free pages is damaged")
	}
	for i := range n {
		id := e.Uint64(ids[8*i:])
		if id < 2 || id >= w.meta.end || w.seen[id] {
			return fmt.Errorf("the list of free pages names page %d, which is not free", id)
		}
		w.seen[id] = true
	}
	return nil
}
