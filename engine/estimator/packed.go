package estimator

// Packing says what a packed chunk holds of a person: for each group, in order, how far it is
// behind the one before it, which is −1 before the first, then Numbers numbers, of which coordinate
// c of the group is number Of[c]; all as AppendNumber writes them.
type Packing struct {
	Numbers int
	Of      []int // one for each coordinate of a group
}

// AppendNumber appends a number in groups of seven bits, the lowest first, with the eighth bit set
// in all but the last; the sign is the lowest bit of all. Small numbers take a byte.
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

// Skip returns what is behind a number.
func Skip(b []byte) []byte {
	n := 0
	for b[n] >= 1<<7 {
		n++
	}
	return b[n+1:]
}

// EachGroup calls visit for each group of person i of a packed chunk, in order, with its
// coordinates, which lie in x.
func (c *Chunk) EachGroup(i int, x []int64, visit func(g int, x []int64)) {
	var few [8]int64
	numbers := few[:min(len(few), c.Packing.Numbers)]
	if c.Packing.Numbers > len(few) {
		numbers = make([]int64, c.Packing.Numbers)
	}
	of := c.Packing.Of
	x = x[:len(of)]
	at, v := int64(-1), int64(0)
	for b := c.Packed[c.Starts[i]:c.Starts[i+1]]; len(b) > 0; {
		v, b = Number(b)
		at += v
		for k := range numbers {
			numbers[k], b = Number(b)
		}
		for k, n := range of {
			x[k] = numbers[n]
		}
		visit(int(at), x)
	}
}
