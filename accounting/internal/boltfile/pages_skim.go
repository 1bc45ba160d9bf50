package boltfile

import (
	"encoding/binary"
	"fmt"
)

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
