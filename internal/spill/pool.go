package spill

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"sync"
	"time"

	"scrim/internal/lists"
)

// Pool is what areas share: a bound on memory, and a directory. It is safe for concurrent use.
type Pool struct {
	disk  Disk
	limit int64 // of anonymous memory

	mu     sync.Mutex
	used   int64            // anonymous bytes in areas
	kept   int64            // anonymous bytes that no area has, for the next one
	free   map[int][][]byte // by size
	idle   *time.Timer      // until kept memory goes back
	files  map[*byte][]byte // mapped parts of files
	mapped int64
	end    chan struct{} // of the watch over mapped parts; nil where there are none
}

// NewPool returns a pool of areas that hold limit bytes of anonymous memory together and write what
// is more to files in a directory, as far as its disk has room.
func NewPool(disk Disk, limit int64) *Pool {
	return &Pool{disk: disk, limit: limit, free: map[int][][]byte{}, files: map[*byte][]byte{}}
}

// Area returns an empty area.
func (p *Pool) Area() *Area { return &Area{pool: p, regions: map[*byte]region{}} }

// Full is the failure of a disk, for the operator: nothing in it tells of what the memory was for.
type Full struct {
	Dir    string
	Wanted int64 // bytes more
	Free   int64 // bytes, −1 where it is not known
	Cause  error
}

// Error tells what was wanted and what there was.
func (f *Full) Error() string {
	return fmt.Sprintf("spill: want %d MiB more in %s, where %d MiB are free: %v", f.Wanted>>20, f.Dir, f.Free>>20, f.Cause)
}

// Unwrap returns the cause.
func (f *Full) Unwrap() error { return f.Cause }

func (p *Pool) full(wanted int, cause error) error {
	free, _, err := p.disk.Free()
	if err != nil {
		free = -1
	}
	return &Full{p.disk.Dir, int64(wanted), free, cause}
}

var errReserve = errors.New("the disk has no more room beside what is to stay free")

// room fails where n bytes more would touch what is to stay free of the disk.
func (p *Pool) room(n int64) error {
	room, err := p.disk.Room()
	if err == nil && room < n {
		err = errReserve
	}
	return err
}

// anonymous returns n bytes within the pool's limit, nil beyond it; used tells that they may not be
// 0.
func (p *Pool) anonymous(n int) (b []byte, used bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used+int64(n) > p.limit {
		return nil, false
	}
	if list := p.free[n]; len(list) > 0 {
		b, p.free[n] = list[len(list)-1], list[:len(list)-1]
		p.kept -= int64(n)
		p.used += int64(n)
		return b, true
	}
	p.shrink(p.limit - p.used - int64(n))
	b, err := mapAnonymous(n)
	if err != nil {
		return nil, false
	}
	p.used += int64(n)
	return b, false
}

// giveBack keeps anonymous memory for the next area: new memory costs as much as what is done with
// it. After a while without work all of it goes back to the system.
func (p *Pool) giveBack(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used -= int64(len(b))
	p.kept += int64(len(b))
	p.free[len(b)] = append(p.free[len(b)], b)
	if p.used > 0 {
		return
	}
	p.shrink(p.limit * 3 / 8) // the store may fill its own limit next
	if p.idle == nil {
		p.idle = time.AfterFunc(idleTime, p.rest)
	} else {
		p.idle.Reset(idleTime)
	}
}

// idleTime is how long memory is kept while nobody has any: for the next of a series of queries,
// not beside what the store needs for other work.
const idleTime = time.Second

// rest gives kept memory back to the system, unless there is work again.
func (p *Pool) rest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used == 0 {
		p.shrink(0)
	}
}

// shrink unmaps what is kept beyond most bytes. p.mu is held.
func (p *Pool) shrink(most int64) {
	for n, list := range p.free {
		for len(list) > 0 && p.kept > most {
			unmap(list[len(list)-1])
			list = list[:len(list)-1]
			p.kept -= int64(n)
		}
		if p.free[n] = list; len(list) == 0 {
			delete(p.free, n)
		}
	}
}

// tick is how often resident pages of files are counted; a disk reads and writes some ten MiB
// meanwhile.
const tick = 20 * time.Millisecond

// watch counts a mapped part of a file among those whose pages are handed back.
func (p *Pool) watch(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files[&b[0]] = b
	p.mapped += int64(len(b))
	if p.end == nil && p.mapped > p.resident() {
		p.end = make(chan struct{})
		program, _ := residentFiles() // what is resident of files before: the program itself
		go p.trim(p.end, program)
	}
}

// resident bounds the resident bytes of mapped files.
func (p *Pool) resident() int64 { return max(p.limit/4, 16<<20) }

func (p *Pool) unwatch(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.files, &b[0])
	if p.mapped -= int64(len(b)); p.end != nil && p.mapped <= p.resident() {
		close(p.end)
		p.end = nil
	}
}

// trim hands the pages of mapped files back to the system whenever too many are resident.
func (p *Pool) trim(end <-chan struct{}, program int64) {
	every := time.NewTicker(tick)
	defer every.Stop()
	for {
		select {
		case <-end:
			return
		case <-every.C:
			p.handBack(program)
		}
	}
}

// handBack hands the pages back if there are too many beside the program's.
func (p *Pool) handBack(program int64) {
	if n, err := residentFiles(); err == nil && n <= p.resident()+program {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.files {
		handBack(b)
	}
}

// Disk is the file system of a directory that is spilled to.
type Disk struct {
	Dir string
	// Reserve is how many bytes are to stay free; 0: 1 GiB, or one part in 20 of a small disk.
	Reserve int64
}

const (
	mostReserved  = 1 << 30
	reservedShare = 20
)

// Free returns the bytes that are free for this process, and those that are to stay free.
func (d Disk) Free() (free, reserve int64, err error) {
	free, size, err := fileSystem(d.Dir)
	if err != nil {
		return 0, 0, err
	}
	if reserve = d.Reserve; reserve <= 0 {
		reserve = min(mostReserved, size/reservedShare)
	}
	return free, reserve, nil
}

// Room returns the bytes that may be spilled. An eighth of the reserve more than that stays free,
// so that spilling alone never brings the disk to where less than the reserve is: what one piece of
// work spills is not told to the next.
func (d Disk) Room() (int64, error) {
	free, reserve, err := d.Free()
	return max(0, free-reserve-reserve/8), err
}

// zeros writes n zero bytes from at on, where the file system reserves blocks by writing alone.
func zeros(f *os.File, at, n int64) error {
	page := make([]byte, min(n, 1<<20))
	for n > 0 {
		k, err := f.WriteAt(page[:min(n, int64(len(page)))], at)
		if err != nil {
			return err
		}
		at, n = at+int64(k), n-int64(k)
	}
	return nil
}

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
