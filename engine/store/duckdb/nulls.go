package duckdb

import (
	"math/bits"
	"unsafe"
)

// validity is DuckDB's bits: one a value, in 64-bit words, set where the value is there. nil means
// that all are.
type validity []uint64

func validityOf(p unsafe.Pointer, n int) validity {
	if p == nil {
		return nil
	}
	return unsafe.Slice((*uint64)(p), (n+63)/64)
}

// has tells whether the value at i is there.
func (v validity) has(i int) bool { return v == nil || v[i>>6]>>(i&63)&1 == 1 }

// complete tells whether all of the first n values are there.
func (v validity) complete(n int) bool {
	for i, w := range v {
		if rest := n - 64*i; rest < 64 {
			w |= ^uint64(0) << rest
		}
		if w != ^uint64(0) {
			return false
		}
	}
	return true
}

// all tells whether the values from from to to, without to, are there.
func (v validity) all(from, to int) bool {
	for from < to {
		n := min(64-from&63, to-from)
		if bits.OnesCount64(v[from>>6]>>(from&63)<<(64-n)) != n {
			return false
		}
		from += n
	}
	return true
}

// absent expands DuckDB's validity bits of n values, into mask if that is large enough; nil when
// none is NULL.
func absent(mask []bool, p unsafe.Pointer, n int) []bool {
	words := validityOf(p, n)
	if words.complete(n) {
		return nil
	}
	mask = grow(mask, n)
	for i := range mask {
		mask[i] = !words.has(i)
	}
	return mask
}

// nullMask is absent into a column's buffer.
func (r *reader) nullMask(column int, p unsafe.Pointer, n int) []bool {
	mask := absent(r.nulls[column], p, n)
	if mask != nil {
		r.nulls[column] = mask
	}
	return mask
}

// holed adds to the mask of n arrays those with a NULL among their width elements, whose validity
// bits follow each other. The elements of a NULL array are NULL or undefined.
func (r *reader) holed(column int, mask []bool, p unsafe.Pointer, n, width int) []bool {
	words := validityOf(p, n*width)
	if words.complete(n * width) {
		return mask
	}
	if mask == nil {
		mask = grow(r.nulls[column], n)
		clear(mask)
		r.nulls[column] = mask
	}
	for i := range mask {
		mask[i] = mask[i] || !words.all(i*width, (i+1)*width)
	}
	return mask
}
