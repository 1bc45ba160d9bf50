package device

import (
	"math"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/geometry"
	"scrim/test/stattest"
)

// counted draws messages of one value many times and counts nodes.
func counted(t *testing.T, p *collect.Params, cell uint32, v collect.Value, times int) (counts, lengths []int64) {
	t.Helper()
	r := exact.New(stattest.Source(t, "nodes"))
	counts, lengths = make([]int64, geometry.Nodes(p.Batch.Levels)), make([]int64, p.Batch.Cap+1)
	for range times {
		m, err := Messages(r, p, cell, v)
		if err != nil {
			t.Fatal(err)
		}
		lengths[len(m)]++
		for _, x := range m {
			counts[x.Node()]++
		}
	}
	return counts, lengths
}

// TestEveryLevelIsNamedOnce takes the noise away and finds the path from the root to the value's
// leaf.
func TestEveryLevelIsNamedOnce(t *testing.T) {
	p := roundOf(t, collect.ShufHier, "", 1).Clone()
	p.Batch.Flip = 0
	counts, lengths := counted(t, p, 0, collect.Value{37}, 1)
	if lengths[3] != 1 {
		t.Errorf("numbers of messages: %v", lengths)
	}
	for level, v := range []uint64{37 / 16, 37 / 4, 37} { // 64 leaves of width 1
		if counts[geometry.Node(level+1, v)] != 1 {
			t.Errorf("level %d: node %d is not named", level+1, v)
		}
	}
}

// TestNoiseOfNodes checks that every node has noise with probability Flip/2^32, and that the
// value's own nodes have it besides.
func TestNoiseOfNodes(t *testing.T) {
	p := roundOf(t, collect.ShufHier, "", 1).Clone()
	p.Batch.Flip, p.Batch.Cap = 1<<30, 80
	const times = 4000
	counts, lengths := counted(t, p, 0, collect.Value{37}, times)
	for _, node := range []uint64{2, geometry.Node(2, 9), geometry.Node(3, 37)} {
		counts[node] -= times
	}
	for node, c := range counts {
		bits := make([]float64, times)
		for i := range c {
			bits[i] = 1
		}
		stattest.Accept(t, stattest.Mean("noise of a node", bits, 0.25, math.Sqrt(0.25*0.75)))
		if node == 0 {
			stattest.Reject(t, stattest.Mean("noise of another probability", bits, 0.3, math.Sqrt(0.25*0.75)))
		}
	}
	if lengths[3] != 0 || lengths[80] != 0 {
		t.Errorf("numbers of messages: %v", lengths)
	}
}

// TestNoiseThatDoesNotFitIsDrawnAnew checks the cap, and that it does not depend on the value.
func TestNoiseThatDoesNotFitIsDrawnAnew(t *testing.T) {
	p := roundOf(t, collect.ShufHier, "", 1).Clone()
	p.Batch.Flip, p.Batch.Cap = 1<<30, 24 // 21 noise messages of 84 are the mean
	_, a := counted(t, p, 0, collect.Value{37}, 500)
	_, b := counted(t, p, 0, nil, 500)
	at := int64(0)
	for n := range a {
		if a[n] != b[n] {
			t.Errorf("%d messages are sent %d times, and %d times for another value on the same stream", n, a[n], b[n])
		}
		at += a[n]
	}
	if at != 500 || a[24] < 50 {
		t.Errorf("%d of 500 within the cap, %d at it", at, a[24])
	}
	p.Batch.Cap = 3
	if _, err := Messages(exact.New(stattest.Source(t, "full")), p, 0, nil); err == nil {
		t.Error("parameters without room for noise are taken")
	}
}

// TestTreesOfRotatedVectors checks the leaves of SHUF_SCM3 against LDP_SCM3's codes.
func TestTreesOfRotatedVectors(t *testing.T) {
	for round := 1; round <= 2; round++ {
		p := roundOf(t, collect.ShufSCM3, "", round).Clone()
		p.Batch.Flip = 0
		for _, c := range p.Cells {
			for _, v := range vectors {
				_, leaf := New(p).rotatedLeaf(c, v)
				m := messages(t, "rotated", p, c.Cell, v)
				last := m[len(m)-1]
				if want := geometry.Node(p.Batch.Levels, leaf); uint64(last.Node()) != want || int(last.Coordinate()) != c.Coordinate {
					t.Errorf("round %d, cell %d: node %d, coordinate %d; want node %d of leaf %d", round, c.Cell, last.Node(), last.Coordinate(), want, leaf)
				}
			}
		}
	}
}
