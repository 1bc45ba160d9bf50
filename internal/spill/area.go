package spill

import (
	"errors"
	"math/bits"
	"os"
	"sync"

	"scrim/internal/lists"
)

// Area is the memory of one piece of work. It is safe for concurrent use until Close.
type Area struct {
	pool *Pool

	mu      sync.Mutex
	slab    []byte // what is left of the slab that small pieces are cut from
	used    bool   // it may hold something
	next    int    // size of the next slab
	file    *os.File
	end     int64 // of what is reserved of the file
	regions map[*byte]region
	beside  []*Area
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
	// firstSlab is the size of an area's first slab. Slabs double; from largeSlab on they are
	// regions, the ones before lie in the Go heap.
	firstSlab, largeSlab = 32 << 10, 1 << 20
	// granule is what the sizes of regions are multiples of, those of large ones of hugePage.
	granule  = 64 << 10
	hugePage = 2 << 20
)

// ErrClosed tells that an area was closed.
var ErrClosed = errors.New("spill: closed")

// Take returns n zero bytes, aligned for words. It fails where the disk has no space or cannot be
// written (*Full).
func (a *Area) Take(n int) ([]byte, error) {
	b, used, err := a.take(n)
	if used {
		clear(b)
	}
	return b, err
}

// Room is Take for bytes that are all written before they are read: they are what somebody left
// there.
func (a *Area) Room(n int) ([]byte, error) {
	b, _, err := a.take(n)
	return b, err
}

// take returns n bytes; used tells that they may not be 0.
func (a *Area) take(n int) (b []byte, used bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
		return nil, false, ErrClosed
	case n <= 0:
		return nil, false, nil
	case n > small:
		if b, used, err = a.region(n); err != nil {
			return nil, false, err
		}
		return b[:n:n], used, nil
	}
	if len(a.slab) < n {
		if err := a.begin(n); err != nil {
			return nil, false, err
		}
	}
	b = a.slab[:n:n]
	a.slab = a.slab[min((n+7)&^7, len(a.slab)):]
	return b, a.used, nil
}

// begin begins a slab with room for n bytes, n <= small.
func (a *Area) begin(n int) (err error) {
	size := max(a.next, firstSlab)
	for size < n {
		size *= 2
	}
	a.next = min(2*size, 4*largeSlab)
	if size < largeSlab {
		a.slab, a.used = make([]byte, size), false
		return nil
	}
	a.slab, a.used, err = a.region(size)
	return err
}

// region maps n bytes: anonymous ones while the pool has some, else of the file. used tells that
// they may not be 0.
func (a *Area) region(n int) (b []byte, used bool, err error) {
	n = rounded(n)
	if b, used = a.pool.anonymous(n); b != nil {
		a.regions[&b[0]] = region{bytes: b}
		return b, used, nil
	}
	if b, err = a.mapped(n); err != nil {
		return nil, false, a.pool.full(n, err)
	}
	a.regions[&b[0]] = region{b, true}
	return b, false, nil
}

// rounded is the size of a region for n bytes: one of eight in each octave, so that another one of
// about the size can have it later.
func rounded(n int) int {
	step := max(granule, 1<<max(bits.Len(uint(n-1))-4, 0))
	if step >= hugePage {
		step = (step + hugePage - 1) &^ (hugePage - 1)
	} else if n > hugePage {
		step = hugePage
	}
	return (n + step - 1) / step * step
}

// mapped reserves n bytes more of the file and maps them.
func (a *Area) mapped(n int) ([]byte, error) {
	if a.file == nil {
		f, err := unnamed(a.pool.disk.Dir)
		if err != nil {
			return nil, err
		}
		a.file = f
	}
	if err := a.pool.room(int64(n)); err != nil {
		return nil, err
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

// Beside returns an area of the same pool, which may be closed earlier and is closed with this one.
func (a *Area) Beside() *Area {
	b := a.pool.Area()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.beside = append(a.beside, b)
	return b
}

// Free gives back what Take returned, if it is large enough to matter before the area is closed.
// The disk is given back at the end.
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
	errs := lists.Map(a.beside, func(b *Area) error { return b.Close() })
	a.beside = nil
	if a.file != nil {
		errs = append(errs, a.file.Close())
		a.file = nil
	}
	return errors.Join(errs...)
}
