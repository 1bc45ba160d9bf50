package estimator

import "unsafe"

// Memory is where numbers lie of which there are as many as persons or rows. How many these are is
// private, so nothing may fail because of it: a Memory is on disk where it is more than the server
// keeps in its own, and a mechanism asks it for everything whose size is not a public one. It is
// safe for concurrent use, and given back as a whole after the release; an Estimate holds none of
// it.
type Memory interface {
	// Take returns n zero bytes, aligned for words.
	Take(n int) ([]byte, error)
	// Free gives back what Take returned, before the rest. It is not used any more.
	Free([]byte)
}

// Make returns n zeros of a type without pointers from m; from the Go heap where m is nil, as in
// tests and benches. Where m has no room, which is a full disk, it panics with m's error: a
// mechanism has no answer then, and who runs it makes the panic the end of the release.
func Make[T any](m Memory, n int) []T {
	if m == nil || n == 0 {
		return make([]T, n)
	}
	var zero T
	b, err := m.Take(n * int(unsafe.Sizeof(zero)))
	if err != nil {
		panic(err)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// Free gives back what Make returned, the whole of it, before the rest of m.
func Free[T any](m Memory, x []T) {
	if m != nil && cap(x) > 0 {
		x = x[:cap(x)]
		m.Free(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(x[0]))))
	}
}

// Grow returns x with room for n more numbers, in memory from m where it has to be moved: for lists
// that are appended to. What it was in is given back.
func Grow[T any](m Memory, x []T, n int) []T {
	if cap(x)-len(x) >= n {
		return x
	}
	y := Make[T](m, max(len(x)+n, 2*cap(x), 16))[:len(x)]
	copy(y, x)
	Free(m, x)
	return y
}
