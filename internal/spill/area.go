package spill

import (
	"errors"
	"os"
	"sync"
)

// Area is the memory of one piece of work. It is safe for concurrent use until Close.
type Area struct {
	pool *Pool

	mu      sync.Mutex
	slab    []byte // what is left of the slab that small pieces are cut from
	next    int    // size of the next slab
	file    *os.File
	end     int64 // of what is reserved of the file
	regions map[*byte]region
	closed  bool
}

// region is memory that is mapped by itself.
type region struct {
	bytes []byte
	file  bool // a part of the area's file; else anonymous
}

const (
	// small is the size up to which pieces are cut from slabs.
	small = 256 << 10
	// firstSlab is the size of an area's first slab. Slabs double; from largeSlab on they are regions, the ones before lie in the Go heap.
	firstSlab, largeSlab = 32 << 10, 1 << 20
	// granule is what the sizes of regions are multiples of.
	granule = 64 << 10
)

// ErrClosed tells that an area was closed.
var ErrClosed = errors.New("spill: closed")

// Take returns n zero bytes, aligned for words. It fails where the disk has no space or cannot be written (*Full).
func (a *Area) Take(n int) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
		return nil, ErrClosed
	case n <= 0:
		return nil, nil
	case n > small:
		r, err := a.region(n)
		if err != nil {
			return nil, err
		}
		return r[:n:n], nil
	}
	if len(a.slab) < n {
		if err := a.begin(n); err != nil {
			return nil, err
		}
	}
	out := a.slab[:n:n]
	a.slab = a.slab[min((n+7)&^7, len(a.slab)):]
	return out, nil
}

// begin begins a slab with room for n bytes, n <= small.
func (a *Area) begin(n int) error {
	size := max(a.next, firstSlab)
	for size < n {
		size *= 2
	}
	a.next = min(2*size, 4*largeSlab)
	if size < largeSlab {
		a.slab = make([]byte, size)
		return nil
	}
	r, err := a.region(size)
	a.slab = r
	return err
}

// region maps n bytes: anonymous ones while the pool has some, else of the file.
func (a *Area) region(n int) ([]byte, error) {
	n = (n + granule - 1) &^ (granule - 1)
	if b, ok := a.pool.anonymous(n); ok {
		a.regions[&b[0]] = region{bytes: b}
		return b, nil
	}
	b, err := a.mapped(n)
	if err != nil {
		return nil, a.pool.full(n, err)
	}
	a.regions[&b[0]] = region{b, true}
	return b, nil
}

// mapped reserves n bytes more of the file and maps them.
func (a *Area) mapped(n int) ([]byte, error) {
	if err := a.pool.room(int64(n)); err != nil {
		return nil, err
	}
	if a.file == nil {
		f, err := unnamed(a.pool.dir)
		if err != nil {
			return nil, err
		}
		a.file = f
	}
	if err := reserve(a.file, a.end, int64(n)); err != nil {
		return nil, err
	}
	b, err := mapFile(a.file, a.end, n)
	if err != nil {
		return nil, err
	}
	a.end += int64(n)
	a.pool.watch(b)
	return b, nil
}

// Free gives back what Take returned, if it is large enough to matter before the area is closed. The disk is given back at the end.
func (a *Area) Free(b []byte) {
	if len(b) <= small {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if r, ok := a.regions[&b[0]]; ok {
		delete(a.regions, &b[0])
		a.release(r)
	}
}

func (a *Area) release(r region) {
	if r.file {
		a.pool.unwatch(r.bytes)
		unmap(r.bytes)
		return
	}
	a.pool.giveBack(r.bytes)
}

// Spilled returns how many bytes of the area's file were taken.
func (a *Area) Spilled() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.end
}

// Close gives everything back. Nothing that the area returned may be used any more.
func (a *Area) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed, a.slab = true, nil
	for _, r := range a.regions {
		a.release(r)
	}
	clear(a.regions)
	if a.file == nil {
		return nil
	}
	err := a.file.Close()
	a.file = nil
	return err
}
