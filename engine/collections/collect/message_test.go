package collect

import (
	"bytes"
	"testing"
)

func TestMessage(t *testing.T) {
	m := NewMessage(ShufVec, 0x0102, 0x03040506, 0x0708090a0b0c0d0e)
	want := []byte{1, 17, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}
	if !bytes.Equal(m[:], want) || m.Coordinate() != 0x0102 || m.Node() != 0x03040506 || m.Value() != 0x0708090a0b0c0d0e {
		t.Errorf("got %x, want %x", m, want)
	}
}

// TestCheckMessage: the range of messages, at its ends.
func TestCheckMessage(t *testing.T) {
	sum, vec, tree := sampleRound(t, "sum", 1), sampleRound(t, "vec", 1), sampleRound(t, "nodes", 1)
	boxes, norms, last := sampleRound(t, "shuffled scm3", 1), sampleRound(t, "shuffled scm3", 2), sampleRound(t, "shuffled scm3", 3)
	top := func(p *Params) uint64 { return 1<<p.Batch.Bits - 1 }
	for _, c := range []struct {
		name string
		p    *Params
		cell uint32
		m    Message
		want bool
	}{
		{"share", sum, 0, NewMessage(ShufSum, 0, 0, top(sum)), true},
		{"share beyond", sum, 0, NewMessage(ShufSum, 0, 0, top(sum)+1), false},
		{"share of a coordinate", sum, 0, NewMessage(ShufSum, 1, 0, 0), false},
		{"share of a node", sum, 0, NewMessage(ShufSum, 0, 1, 0), false},
		{"another protocol", sum, 0, NewMessage(ShufVec, 0, 0, 0), false},
		{"another version", sum, 0, Message{0: 2, 1: 16}, false},
		{"another cell", sum, 1, NewMessage(ShufSum, 0, 0, 0), false},
		{"coordinate", vec, 0, NewMessage(ShufVec, 7, 0, top(vec)), true},
		{"coordinate beyond", vec, 0, NewMessage(ShufVec, 8, 0, 0), false},
		{"node", tree, 0, NewMessage(ShufHier, 0, 1363, 0), true},
		{"node beyond", tree, 0, NewMessage(ShufHier, 0, 1364, 0), false},
		{"node with a value", tree, 0, NewMessage(ShufHier, 0, 5, 1), false},
		{"node of a coordinate", tree, 0, NewMessage(ShufHier, 1, 5, 0), false},
		{"box", boxes, 7, NewMessage(ShufSCM3, 7, 83, 0), true},
		{"box of another coordinate", boxes, 6, NewMessage(ShufSCM3, 7, 83, 0), false},
		{"box beyond", boxes, 7, NewMessage(ShufSCM3, 8, 83, 0), false},
		{"norm", norms, 0, NewMessage(ShufSCM3, 0, 83, 0), true},
		{"norm beyond", norms, 0, NewMessage(ShufSCM3, 0, 84, 0), false},
		{"last", last, 0, NewMessage(ShufSCM3, 7, 0, top(last)), true},
		{"local", sampleRound(t, "bit", 1), 0, NewMessage(LDPBit, 0, 0, 0), false},
	} {
		if err := c.p.CheckMessageOf(c.cell, c.m); (err == nil) != c.want || err != nil && !isMalformed(err) {
			t.Errorf("%s: %v, want accepted: %v", c.name, err, c.want)
		}
	}
	if err := boxes.CheckMessage(NewMessage(ShufSCM3, 7, 83, 0)); err != nil {
		t.Errorf("some cell's message: %v", err)
	}
}

func TestMessages(t *testing.T) {
	for name, want := range map[string]uint64{"sum": 8, "vec": 64, "nodes": sampleRound(t, "nodes", 1).Batch.Cap, "bit": 0} {
		if got := sampleRound(t, name, 1).Messages(); got != want {
			t.Errorf("%s: %d messages, want %d", name, got, want)
		}
	}
}
