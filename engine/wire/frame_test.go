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
