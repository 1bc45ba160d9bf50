package wire

// frame follows the packets of the command phase and caps what one command may hold: the protocol
// implementation joins packets of the maximal size without a limit of its own.
type frame struct {
	limit  int
	header [headerSize]byte
	have   int // bytes of the header seen
	left   int // bytes of the payload still to come
	total  int // payload bytes of the command so far
	joined bool
}

// admit follows p; false when a command announces more than the limit.
func (f *frame) admit(p []byte) bool {
	for len(p) > 0 {
		if f.left > 0 {
			n := min(f.left, len(p))
			f.left -= n
			p = p[n:]
			continue
		}
		n := copy(f.header[f.have:], p)
		f.have += n
		p = p[n:]
		if f.have < headerSize {
			return true
		}
		f.have = 0
		f.left = payloadLength(f.header[:])
		if !f.joined {
			f.total = 0
		}
		f.total += f.left
		f.joined = f.left == maxPayload
		if f.total > f.limit {
			return false
		}
	}
	return true
}
