package spill

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
	"unsafe"
)

// fill writes a pattern that tells pieces apart.
func fill(b []byte, seed byte) {
	for i := range b {
		b[i] = seed + byte(i)
	}
}

func filled(b []byte, seed byte) bool {
	for i, x := range b {
		if x != seed+byte(i) {
			return false
		}
	}
	return true
}

// TestPiecesAreTheirOwn takes pieces of all sizes from heap, anonymous memory and file: they are
// zero, aligned, do not overlap, and keep what is written in them while others are taken, given
// back and written to disk.
func TestPiecesAreTheirOwn(t *testing.T) {
	p := NewPool(Disk{Dir: t.TempDir()}, 8<<20)
	for round := range 3 { // later rounds get what earlier ones used
		a, r := p.Area(), rand.New(rand.NewPCG(1, uint64(round)))
		type piece struct {
			b    []byte
			seed byte
		}
		var all []piece
		for i := range 400 {
			n := 1 + r.IntN(1<<(1+r.IntN(20)))
			b, err := a.Take(n)
			if err != nil {
				t.Fatal(err)
			}
			if len(b) != n || cap(b) != n || uintptr(unsafe.Pointer(&b[0]))%8 != 0 {
				t.Fatalf("want %d bytes, have %d of %d at %p", n, len(b), cap(b), &b[0])
			}
			if len(bytes.TrimLeft(b, "\x00")) > 0 {
				t.Fatalf("piece %d of %d bytes is not zero", i, n)
			}
			fill(b, byte(i))
			if all = append(all, piece{b, byte(i)}); i%5 == 4 {
				k := r.IntN(len(all))
				a.Free(all[k].b)
				all = append(all[:k], all[k+1:]...)
			}
		}
		for _, x := range all {
			if !filled(x.b, x.seed) {
				t.Fatalf("a piece of %d bytes was written by others", len(x.b))
			}
		}
		if a.Spilled() == 0 {
			t.Error("nothing spilled")
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if p.used != 0 || p.mapped != 0 || len(p.files) != 0 || p.kept > 8<<20 {
		t.Errorf("after all is closed %d bytes are used, %d mapped in %d parts, %d kept", p.used, p.mapped, len(p.files), p.kept)
	}
	p.rest()
	if p.kept != 0 || len(p.free) != 0 {
		t.Errorf("at rest %d bytes are kept", p.kept)
	}
}

// TestNothingIsLeftInTheDirectory: the file has no name, while it is used and afterwards.
func TestNothingIsLeftInTheDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made when it is needed")
	a := NewPool(Disk{Dir: dir}, 0).Area()
	defer a.Close()
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory is made before anything spills")
	}
	if _, err := a.Take(1 << 20); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("got %v and %v", left, err)
	}
}

// TestLimitIsOfAllAreas: two areas together get as much anonymous memory as the pool has, and the
// rest on disk.
func TestLimitIsOfAllAreas(t *testing.T) {
	p := NewPool(Disk{Dir: t.TempDir()}, 4<<20)
	a, b := p.Area(), p.Area()
	defer b.Close()
	for _, area := range []*Area{a, b} {
		if _, err := area.Take(3 << 20); err != nil {
			t.Fatal(err)
		}
	}
	if a.Spilled() != 0 || b.Spilled() < 3<<20 {
		t.Errorf("%d and %d bytes spilled", a.Spilled(), b.Spilled())
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	before := b.Spilled()
	if _, err := b.Take(3 << 20); err != nil || b.Spilled() != before {
		t.Errorf("%d bytes spilled although memory was given back (%v)", b.Spilled()-before, err)
	}
}

// TestFullDisk: where the directory cannot be written, or what is reserved of its disk would be
// touched, taking fails and tells the sizes; what was taken before is as it was.
func TestFullDisk(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*Pool{"no directory": NewPool(Disk{Dir: file}, 2<<20), "reserved": NewPool(Disk{t.TempDir(), 1 << 60}, 2<<20)} {
		a := p.Area()
		b, err := a.Take(2 << 20)
		if err != nil {
			t.Fatal(name, err)
		}
		fill(b, 7)
		var full *Full
		if _, err := a.Take(3 << 20); !errors.As(err, &full) || full.Wanted < 3<<20 || full.Dir != p.disk.Dir || full.Cause == nil {
			t.Errorf("%s: got %v", name, err)
		}
		if !filled(b, 7) {
			t.Errorf("%s: what was taken before has changed", name)
		}
		if err := a.Close(); err != nil {
			t.Error(name, err)
		}
		if _, err := a.Take(8); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: got %v after the end", name, err)
		}
	}
}

// TestResidentPagesAreHandedBack: of a mapped file that is read and written by several, few pages
// stay resident, and nothing is lost.
func TestResidentPagesAreHandedBack(t *testing.T) {
	before, err := residentFiles()
	if err != nil {
		t.Skip("not known on this system")
	}
	const parts, size = 48, 8 << 20
	p := NewPool(Disk{Dir: t.TempDir()}, 16<<20)
	a := p.Area()
	defer a.Close()
	all := make([][]byte, parts)
	var wait sync.WaitGroup
	for w := range 2 {
		wait.Go(func() {
			for i := w; i < parts; i += 2 {
				b, err := a.Take(size)
				if err != nil {
					t.Error(err)
					return
				}
				fill(b, byte(i))
				all[i] = b
			}
		})
	}
	wait.Wait()
	for i, b := range all {
		if !filled(b, byte(i)) {
			t.Fatalf("part %d is not as it was written", i)
		}
	}
	// Two looks have passed at the least when this ends, or the pages never go.
	deadline := time.Now().Add(time.Minute)
	for {
		now, err := residentFiles()
		if err != nil {
			t.Fatal(err)
		}
		if now-before <= p.resident()+(16<<20) { // the test itself grows, too
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d MiB of %d are resident", (now-before)>>20, parts*size>>20)
		}
		time.Sleep(tick)
	}
}

// TestSizesOfRegions: a region has room for what is asked, at most an eighth more beside rounding,
// so that memory that was used serves again.
func TestSizesOfRegions(t *testing.T) {
	for n := small + 1; n < 1<<30; n += 1 + n/7 {
		r := rounded(n)
		if r < n || r%granule != 0 || r > hugePage && r%hugePage != 0 || r-n > max(hugePage, n/8) {
			t.Errorf("%d bytes get a region of %d", n, r)
		}
	}
}

// TestBesideEndsEarlier: an area beside another is closed alone, or with it.
func TestBesideEndsEarlier(t *testing.T) {
	p := NewPool(Disk{Dir: t.TempDir()}, 64<<20)
	a := p.Area()
	early, late := a.Beside(), a.Beside()
	for _, x := range []*Area{a, early, late} {
		if _, err := x.Take(1 << 20); err != nil {
			t.Fatal(err)
		}
	}
	if err := early.Close(); err != nil || p.used != 2<<20 {
		t.Errorf("%d bytes are used, %v", p.used, err)
	}
	if err := a.Close(); err != nil || p.used != 0 {
		t.Errorf("%d bytes are used, %v", p.used, err)
	}
}
