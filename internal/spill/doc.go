// Package spill gives memory that is not bounded by the machine's: what is more than a bound lies
// in a file that the operating system reads and writes as pages are touched.
//
//	NewPool(dir, limit, reserve) ─▶ Pool ─▶ Area   one piece of work, whose memory is given back as a whole
//
// An Area takes from the Go heap at first, which costs a small piece of work nothing; then
// anonymous memory, as far as the pool's limit over all areas goes; then mappings of one file of
// its own in dir. The file has no name once it is open, so that nothing of it outlives the process,
// and its blocks are reserved before they are mapped: a disk without space is an error where memory
// is taken, never a fault where it is touched.
//
// Resident are at most about limit bytes of anonymous memory and a quarter of that of mapped files:
// whenever those are more, the pool hands their pages back to the operating system, which keeps
// them in its cache or on disk.
//
// The numbers in it are what persons have, whose number is private. So whether memory is there must
// never decide between an answer and a failure: only a full disk does. How long work takes may tell
// that it spilled.
//
// Nothing in the memory may hold a Go pointer, and none of it may be used after the Area was
// closed.
package spill
