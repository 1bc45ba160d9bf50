package boltfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"scrim/accounting/internal/chain"
)

// page returns page id with its overflow pages and marks them as seen.
func (w *pageWalker) page(id uint64) ([]byte, error) {
	if id < 2 || id >= w.meta.end {
		return nil, fmt.Errorf("page %d does not exist", id)
	}
	size, e := uint64(w.meta.pageSize), binary.NativeEndian
	head := w.data[id*size:]
	over := uint64(e.Uint32(head[12:]))
	if e.Uint64(head) != id || id+over >= w.meta.end {
		return nil, fmt.Errorf("page %d has a damaged header", id)
	}
	for i := id; i <= id+over; i++ {
		if w.seen[i].Swap(true) {
			return nil, fmt.Errorf("page %d is used twice", i)
		}
	}
	return head[:(over+1)*size], nil
}

// subtree is what is known of a tree of pages before it is read: its keys lie in [low, high); nil
// is no bound. skim says that it is one of records, of which leaves are not read but the last.
type subtree struct {
	low, high []byte
	depth     int
	skim      bool
}

// tree checks the tree at page id.
func (w *pageWalker) tree(id uint64, t subtree) error {
	if t.depth > maxDepth {
		return errors.New("the tree of pages is too deep")
	}
	b, err := w.page(id)
	if err != nil {
		return err
	}
	return w.node(b, id, t)
}

// node checks one branch or leaf page, or the page inside the value of a small bucket.
func (w *pageWalker) node(b []byte, id uint64, t subtree) error {
	e := binary.NativeEndian
	kind, n := e.Uint16(b[8:]), int(e.Uint16(b[10:]))
	if kind != LeafPage && (kind != BranchPage || n == 0) || PageHeader+n*ElementSize > len(b) {
		return fmt.Errorf("page %d has a damaged header", id)
	}
	before := t.low
	for i := range n {
		key, value, err := element(b, kind, n, i)
		if err != nil {
			return fmt.Errorf("page %d %w", id, err)
		}
		if c := bytes.Compare(before, key); before != nil && (c > 0 || c == 0 && i > 0) {
			return fmt.Errorf("page %d has its keys out of order", id)
		}
		before = key
		if kind == LeafPage && e.Uint32(b[PageHeader+i*ElementSize:]) == 1 {
			skim := w.reach == Skimmed && t.depth == 0 && string(key) == string(chain.Records)
			if err := w.bucket(value, id, subtree{depth: t.depth + 1, skim: skim}); err != nil {
				return err
			}
		}
	}
	if n > 0 && t.high != nil && bytes.Compare(before, t.high) >= 0 { // the last one is the highest
		return fmt.Errorf("page %d has its keys out of order", id)
	}
	if kind == LeafPage {
		return nil
	}
	t.depth++
	return w.children(b, n, t)
}

var errElement = errors.New("holds a damaged element")

// element returns element i of n of a page: its key, and on leaf pages its value.
func element(b []byte, kind uint16, n, i int) (key, value []byte, err error) {
	e, at := binary.NativeEndian, PageHeader+i*ElementSize
	el := b[at : at+ElementSize]
	pos, klen, vlen := uint64(e.Uint32(el)), uint64(e.Uint32(el[4:])), uint64(0)
	if kind == LeafPage {
		if e.Uint32(el) > 1 {
			return nil, nil, errElement
		}
		pos, klen, vlen = uint64(e.Uint32(el[4:])), uint64(e.Uint32(el[8:])), uint64(e.Uint32(el[12:]))
	}
	from := uint64(at) + pos
	if from < uint64(PageHeader+n*ElementSize) || from+klen+vlen > uint64(len(b)) || klen == 0 {
		return nil, nil, errElement
	}
	return b[from : from+klen], b[from+klen : from+klen+vlen], nil
}

// children checks the subtrees of a branch page, some of them side by side.
func (w *pageWalker) children(b []byte, n int, t subtree) error {
	const together = 16
	skim, err := w.skims(b, n, t)
	if err != nil {
		return err
	}
	run := func(from, to int) error {
		for i := from; i < to; i++ {
			under := t
			under.low, _, _ = element(b, BranchPage, n, i)
			if i+1 < n {
				under.high, _, _ = element(b, BranchPage, n, i+1)
			}
			id := binary.NativeEndian.Uint64(b[PageHeader+i*ElementSize+8:])
			check := w.tree
			if skim && i+1 < n {
				check = w.skip
			}
			if err := check(id, under); err != nil {
				return err
			}
		}
		return nil
	}
	for from := 0; from < n; from += together {
		to := min(n, from+together)
		if !skim && w.side.TryGo(func() error { return Guard(func() error { return run(from, to) }) }) {
			continue
		}
		if err := run(from, to); err != nil {
			return err
		}
	}
	return nil
}

// bucket checks the bucket whose value in page id is v.
func (w *pageWalker) bucket(v []byte, id uint64, t subtree) error {
	if len(v) < 16 {
		return fmt.Errorf("page %d holds a damaged bucket", id)
	}
	if root := binary.NativeEndian.Uint64(v); root != 0 {
		return w.tree(root, t)
	}
	if t.depth > maxDepth || len(v) < 16+PageHeader {
		return fmt.Errorf("page %d holds a damaged bucket", id)
	}
	return w.node(v[16:], id, t)
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
	if e.Uint16(b[8:]) != FreelistPage {
		return errors.New("the list of free pages is damaged")
	}
	n, ids := uint64(e.Uint16(b[10:])), b[PageHeader:]
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
		if id < 2 || id >= w.meta.end || w.seen[id].Swap(true) {
			return fmt.Errorf("the list of free pages names page %d, which is not free", id)
		}
	}
	return nil
}

// Where an opening begins with a checkpoint, it does not read the records before it, and so not the
// pages that hold them: that would take as long as reading all. Skimming reads the meta pages, all
// branches, the free pages, all of the other buckets, and the last leaf of each branch of records.
// What bbolt follows is thereby verified, and what it gives to writers is free. The contents of the
// leaves are verified when their records are, in the background.

// skims reports whether the children of a branch page are leaves of records. In a tree of bbolt all
// leaves are equally deep, so the first child tells.
func (w *pageWalker) skims(b []byte, n int, t subtree) (bool, error) {
	if !t.skim {
		return false, nil
	}
	first := binary.NativeEndian.Uint64(b[PageHeader+8:])
	if first < 2 || first >= w.meta.end {
		return false, fmt.Errorf("page %d does not exist", first)
	}
	head := w.data[first*uint64(w.meta.pageSize):]
	return binary.NativeEndian.Uint16(head[8:]) == LeafPage, nil
}

// skip notes a leaf of records without reading it.
func (w *pageWalker) skip(id uint64, _ subtree) error {
	if id < 2 || id >= w.meta.end {
		return fmt.Errorf("page %d does not exist", id)
	}
	if w.seen[id].Swap(true) {
		return fmt.Errorf("page %d is used twice", id)
	}
	w.unread[id].Store(true)
	return nil
}

// overflows accounts for the pages that nothing named: each run of them must be what the leaf
// before it says of its own length.
func (w *pageWalker) overflows() error {
	size, e := uint64(w.meta.pageSize), binary.NativeEndian
	for id := uint64(2); id < w.meta.end; id++ {
		if w.seen[id].Load() {
			continue
		}
		leaf, last := id-1, id
		for last+1 < w.meta.end && !w.seen[last+1].Load() {
			last++
		}
		head := w.data[leaf*size:]
		if !w.unread[leaf].Load() || e.Uint64(head) != leaf || e.Uint16(head[8:]) != LeafPage || uint64(e.Uint32(head[12:])) != last-leaf {
			return fmt.Errorf("page %d is neither used nor free", id)
		}
		for ; id <= last; id++ {
			w.seen[id].Store(true)
		}
	}
	return nil
}
