package exec

import (
	"unsafe"

	"scrim/internal/spill"
)

// room is take for numbers that are all written before they are read.
func room[T int32 | int64 | uint32 | uint64 | uint8 | int](memory *spill.Area, n int) ([]T, error) {
	var zero T
	b, err := memory.Room(n * int(unsafe.Sizeof(zero)))
	if err != nil || n == 0 {
		return nil, err
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n), nil
}

// take returns n zeros from a release's memory. They may lie on disk, so that how many there are
// decides nothing.
func take[T int32 | int64 | uint64 | uint8 | int | place | unitSlot | textSlot](memory *spill.Area, n int) ([]T, error) {
	var zero T
	b, err := memory.Take(n * int(unsafe.Sizeof(zero)))
	if err != nil || n == 0 {
		return nil, err
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n), nil
}

// grown returns a list of n numbers, in the memory of s where that suffices; what they are means
// nothing.
func grown[T uint8 | int | int32 | int64 | uint64](memory *spill.Area, s []T, n int) ([]T, error) {
	if cap(s) >= n {
		return s[:n], nil
	}
	free(memory, s)
	out, err := room[T](memory, max(n, 2*cap(s)))
	return out[:min(n, len(out))], err
}

// free gives back what take returned, before the rest of the memory.
func free[T any](memory *spill.Area, x []T) {
	if cap(x) > 0 {
		x = x[:cap(x)]
		memory.Free(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(x[0]))))
	}
}
