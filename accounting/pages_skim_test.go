package accounting

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scrim/accounting/budget"
	"scrim/accounting/internal/boltfile"
	"scrim/accounting/privacy"
)

// longRecords makes a ledger whose records are longer than a page, so that leaves have more pages
// behind them, with a checkpoint.
func longRecords(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(memoryDir(t), "ledger")
	l := open(t, path, Options{Create: true, Checkpoints: true, part: smallParts})
	mustSet(t, l, "t", false, budget.All, privacy.MaxEpsilon, 1e-6, budget.Never)
	r := rand.New(rand.NewPCG(41, 1))
	for i := range smallParts {
		_, err := l.Reserve(t.Context(), Request{
			Principal: "a@%", Statement: strings.Repeat("SELECT ", r.IntN(budget.MaxStatement/7)), Charges: []Charge{{Account: "t", Loss: privacy.Loss{Rho: 1}}},
		})
		ok(t, err)
		if i%3 == 0 {
			ok(t, l.PutAnswer([]byte{byte(i % 20)}, make([]byte, r.IntN(9000))))
		}
	}
	settled(t, l)
	ok(t, l.Close())
	return path
}

// TestSkimming: a file whose leaves have more pages behind them is skimmed as it is walked; and
// what they say of their own length, what branches name and what is free must fit each other.
func TestSkimming(t *testing.T) {
	path := longRecords(t)
	want, members := wholeOf(t, path)
	l := checkpointed(t, path)
	if u := l.Upkeep(); u.Resumed == 0 {
		t.Fatalf("%+v", u)
	}
	sameAsWhole(t, l, "long records", want, members)
	if u := settled(t, l); u.Damage != nil {
		t.Errorf("%+v", u)
	}
	ok(t, l.Close())

	file, err := os.ReadFile(path)
	ok(t, err)
	size := os.Getpagesize()
	e := binary.NativeEndian
	kinds := map[uint16]int{}
	for id := 2; id < len(file)/size; id++ {
		head := file[id*size:]
		if e.Uint64(head) != uint64(id) {
			continue
		}
		kind, over := e.Uint16(head[8:]), e.Uint32(head[12:])
		for _, change := range []uint32{over + 1, over - 1, 1 << 20} {
			if kind != boltfile.LeafPage || over == 0 || kinds[kind] > 60 {
				break
			}
			b := append([]byte(nil), file...)
			e.PutUint32(b[id*size+12:], change)
			full, skimmedErr := boltfile.VerifyBytes(b, boltfile.Whole), boltfile.VerifyBytes(b, boltfile.Skimmed)
			if full == nil || skimmedErr == nil {
				t.Errorf("page %d with %d more pages in the place of %d: %v, %v", id, change, over, full, skimmedErr)
			}
			kinds[kind]++
		}
	}
	if kinds[boltfile.LeafPage] < 20 {
		t.Errorf("only %d lengths were changed", kinds[boltfile.LeafPage])
	}
	ok(t, boltfile.VerifyBytes(file, boltfile.Skimmed))
}

// TestSkimmingFindsWhatBoltFollows flips bits in branches, in the list of free pages and in the
// meta pages: what a whole walk refuses of these, skimming refuses.
func TestSkimmingFindsWhatBoltFollows(t *testing.T) {
	file, err := os.ReadFile(withCheckpoint(t))
	ok(t, err)
	size, e := os.Getpagesize(), binary.NativeEndian
	r := rand.New(rand.NewPCG(42, 1))
	tried, refused := 0, 0
	for id := range len(file) / size {
		kind := e.Uint16(file[id*size+8:])
		if kind != boltfile.BranchPage && kind != boltfile.FreelistPage && kind != boltfile.MetaPage {
			continue
		}
		for range often(60, 3000) {
			at, bit := id*size+r.IntN(size/4), r.IntN(8)
			file[at] ^= 1 << bit
			full, skim := boltfile.VerifyBytes(file, boltfile.Whole), boltfile.VerifyBytes(file, boltfile.Skimmed)
			tried++
			if full != nil {
				refused++
			}
			if (full == nil) != (skim == nil) && !sameButLeaves(full) {
				t.Errorf("%s: whole %v, skimmed %v", fmt.Sprintf("byte %d of page %d, bit %d", at-id*size, id, bit), full, skim)
			}
			file[at] ^= 1 << bit
		}
	}
	if tried < 100 || refused < 50 {
		t.Errorf("%d of %d were refused", refused, tried)
	}
}

// sameButLeaves reports whether a refusal is of the order of keys: those of leaves are not read.
func sameButLeaves(err error) bool {
	return err != nil && strings.Contains(err.Error(), "keys out of order")
}
