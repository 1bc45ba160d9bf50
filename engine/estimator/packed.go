package estimator

// AppendGroup appends a group of a packed chunk: how far it is behind the one before it, which is −1 before the first, and the values of its
// coordinates.
func AppendGroup(dst []byte, gap int64, values []int64) []byte {
	dst = AppendNumber(dst, gap)
	for _, v := range values {
		dst = AppendNumber(dst, v)
	}
	return dst
}

// AppendNumber appends a number in groups of seven bits, the lowest first, with the eighth bit set in all but the last; the sign is the lowest bit of all.
// Small numbers take a byte.
func AppendNumber(dst []byte, x int64) []byte {
	if u := uint64(x)<<1 ^ uint64(x>>63); u < 1<<7 {
		return append(dst, byte(u))
	}
	return appendLong(dst, x)
}

// MostBytes is the length of the longest number.
const MostBytes = 10

func appendLong(dst []byte, x int64) []byte {
	u := uint64(x)<<1 ^ uint64(x>>63)
	for ; u >= 1<<7; u >>= 7 {
		dst = append(dst, byte(u)|1<<7)
	}
	return append(dst, byte(u))
}

// Number reads a number that AppendNumber wrote, and returns what is behind it.
func Number(b []byte) (int64, []byte) {
	if c := b[0]; c < 1<<7 {
		return int64(c>>1) ^ -int64(c&1), b[1:]
	}
	return longNumber(b)
}

func longNumber(b []byte) (int64, []byte) {
	u := uint64(0)
	for shift, n := uint(0), 0; ; shift += 7 {
		c := b[n]
		n++
		if u |= uint64(c&(1<<7-1)) << shift; c < 1<<7 {
			return int64(u>>1) ^ -int64(u&1), b[n:]
		}
	}
}

// Unpack appends the groups of person i of a packed chunk, and Width values for each.
func (c *Chunk) Unpack(i int, groups []int32, values []int64) ([]int32, []int64) {
	at, v := int64(-1), int64(0)
	for b := c.Packed[c.Starts[i]:c.Starts[i+1]]; len(b) > 0; {
		v, b = Number(b)
		at += v
		groups = append(groups, int32(at))
		for range c.Width {
			v, b = Number(b)
			values = append(values, v)
		}
	}
	return groups, values
}
