package wire

import "testing"

func TestFrameLimit(t *testing.T) {
	packet := func(n int) []byte {
		return append([]byte{byte(n), byte(n >> 8), byte(n >> 16), 0}, make([]byte, n)...)
	}
	full := packet(maxPayload)
	for _, c := range []struct {
		name  string
		limit int
		in    [][]byte
		want  bool
	}{
		{"small packets", 100, [][]byte{packet(100), packet(100), packet(0)}, true},
		{"over the limit", 100, [][]byte{packet(101)}, false},
		{"announced only", 100, [][]byte{{101, 0, 0, 0}}, false},
		{"joined under the limit", maxPayload + 10, [][]byte{full, packet(10)}, true},
		{"joined over the limit", maxPayload + 10, [][]byte{full, packet(11)}, false},
		{"joined, then another", maxPayload + 10, [][]byte{full, packet(10), packet(100)}, true},
		{"empty last part", maxPayload, [][]byte{full, packet(0), full}, true},
	} {
		for _, step := range []int{1 << 30, 4096, 3} {
			f := frame{limit: c.limit}
			ok := true
			for _, b := range c.in {
				for len(b) > 0 && ok {
					n := min(step, len(b))
					ok = f.admit(b[:n])
					b = b[n:]
				}
			}
			if ok != c.want {
				t.Errorf("%s in steps of %d: got %v, want %v", c.name, step, ok, c.want)
			}
		}
	}
}

func TestCursorsAreNotAskedFor(t *testing.T) {
	execute := []byte{10, 0, 0, 0, comStmtExecute, 1, 0, 0, 0, 1, 1, 0, 0, 0}
	query := []byte{6, 0, 0, 0, 0x03, 1, 1, 1, 1, 1}
	for step := 1; step <= len(execute)+len(query); step++ {
		stream := append(append(append([]byte(nil), execute...), query...), execute...)
		f := frame{limit: 100}
		for b := stream; len(b) > 0; {
			n := min(step, len(b))
			if !f.admit(b[:n]) {
				t.Fatal("refused")
			}
			b = b[n:]
		}
		want := append(append(append([]byte(nil), execute...), query...), execute...)
		want[9], want[len(want)-5] = 0, 0
		if string(stream) != string(want) {
			t.Errorf("in steps of %d: got %v, want %v", step, stream, want)
		}
		if !f.idle() {
			t.Errorf("in steps of %d: not idle after whole commands", step)
		}
	}
}

func TestSyntaxErrorsAreNamed(t *testing.T) {
	body := append([]byte{packetErr, 0x51, 0x04}, "#HY000unknown error: syntax error at position 3"...)
	want := append([]byte{packetErr, 0x28, 0x04}, "#42000unknown error: syntax error at position 3"...)
	if got := namesSyntaxErrors(body); string(got) != string(want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if body[1] != 0x51 {
		t.Error("the caller's buffer was written")
	}
	header := []byte{byte(len(body)), 0, 0, 1}
	if got := namesSyntaxErrors(append(header, body...)); string(got[headerSize:]) != string(want) {
		t.Errorf("with its header: got %q, want %q", got, want)
	}
	other := append([]byte{packetErr, 0x51, 0x04}, "#HY000internal error"...)
	if got := namesSyntaxErrors(other); string(got) != string(other) {
		t.Errorf("got %q for another error, want it unchanged", got)
	}
}

func TestLongDataIsCapped(t *testing.T) {
	packet := func(command, id byte, n int) []byte {
		p := append([]byte{byte(n), byte(n >> 8), byte(n >> 16), 0, command, id, 0, 0, 0}, make([]byte, n)...)
		return p[:headerSize+n]
	}
	long := func(id byte) []byte { return packet(comStmtSendLongData, id, 400) }
	for _, c := range []struct {
		name string
		in   [][]byte
		want bool
	}{
		{"within", [][]byte{long(1), long(2)}, true},
		{"over, one statement", [][]byte{long(1), long(1), long(1)}, false},
		{"over, three statements", [][]byte{long(1), long(2), long(3)}, false},
		{"executed between", [][]byte{long(1), long(1), packet(comStmtExecute, 1, 10), long(1), long(1)}, true},
		{"closed between", [][]byte{long(1), long(2), packet(comStmtClose, 2, 5), long(1)}, true},
		{"closed between, then over", [][]byte{long(1), long(2), packet(comStmtClose, 2, 5), long(1), long(1)}, false},
		{"another one executed between", [][]byte{long(1), long(1), packet(comStmtExecute, 2, 10), long(1)}, false},
		{"reset between", [][]byte{long(1), long(1), packet(comStmtReset, 1, 5), long(1)}, true},
	} {
		for _, step := range []int{1 << 20, 7, 1} {
			f, ok := frame{limit: 1000}, true
			for _, b := range c.in {
				for b = append([]byte(nil), b...); len(b) > 0 && ok; {
					n := min(step, len(b))
					ok = f.admit(b[:n])
					b = b[n:]
				}
			}
			if ok != c.want {
				t.Errorf("%s in steps of %d: got %v, want %v", c.name, step, ok, c.want)
			}
		}
	}
}
