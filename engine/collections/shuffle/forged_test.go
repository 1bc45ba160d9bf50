package shuffle

import (
	"encoding/binary"
	"math"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
	"scrim/test/stattest"
)

// TestOneForgedBundle is what docs/collections.md says where protocols are chosen: one of a hundred
// contributors moves a shuffled sum from 40 of 100 to 82 within an interval that says nothing of
// it, and only a sum that no hundred values have is refused. Of a tree's mean a forged bundle moves
// no more than its messages' part of the batch.
func TestOneForgedBundle(t *testing.T) {
	const n, honest = 100, 40.0
	p := first(t, collect.ShufSum, collect.Declaration{Epsilon: one, Expected: n, Lo: 0, Hi: 100})
	all := bag(t, exact.New(stattest.Source(t, "forged")), p, n, func(int) collect.Value { return collect.Value{honest} })
	forged := func(mean float64) *Tally {
		steps := uint64((mean - honest) / 100 * float64(p.Batch.Grid) * n)
		out := append([]byte(nil), all...)
		last := out[len(out)-8:]
		binary.BigEndian.PutUint64(last, (binary.BigEndian.Uint64(last)+steps)&(1<<p.Batch.Bits-1))
		return tally(t, p, n, out)
	}
	e, err := Decode(p, forged(82))
	fatal(t, err)
	mean, stderr, _ := e.Mean()
	lo, hi, _ := e.Interval(0.95)
	if math.Abs(mean-82) > 6*stderr || hi-lo > 8 || lo < 70 || len(e.Info().Warnings) != 0 {
		t.Errorf("mean %v ± %v, interval %v to %v: the page is to be mended", mean, stderr, lo, hi)
	}
	if err := forged(800).batches[0].Check(); err == nil {
		t.Error("a sum beyond all values is taken")
	}
}

// TestOneForgedTreeBundle: every message of one bundle names the top leaf.
func TestOneForgedTreeBundle(t *testing.T) {
	const n = 10_000
	p := first(t, collect.ShufHier, collect.Declaration{Epsilon: one, Expected: n, Lo: 0, Hi: 100, Levels: 2})
	r := exact.New(stattest.Source(t, "forged tree"))
	all := bag(t, r, p, n, func(int) collect.Value { return collect.Value{40} })
	before, _, _ := decode(t, p, n, all).Mean()
	top := bag(t, r, p, 1, func(int) collect.Value { return collect.Value{99} })
	leaf := top[:16]
	// of the messages that a device makes, the one of the deepest node on the right
	for m := 16; m < len(top); m += 16 {
		if binary.BigEndian.Uint32(top[m+4:]) > binary.BigEndian.Uint32(leaf[4:]) {
			leaf = top[m : m+16]
		}
	}
	for range p.Batch.Cap {
		all = append(all, leaf...)
	}
	after, _, _ := decode(t, p, n, all).Mean()
	t.Logf("%d messages of one bundle moved the mean by %.3f of 100", p.Batch.Cap, after-before)
	if moved := math.Abs(after - before); moved > 100*float64(p.Batch.Cap)/n {
		t.Errorf("one bundle of %d messages moved the mean by %v", p.Batch.Cap, moved)
	}
}
