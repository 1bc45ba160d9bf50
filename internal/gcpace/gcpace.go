// Package gcpace sets the pace of the garbage collector: a server that keeps little in memory does
// not collect after every few dozen statements, and one that keeps much does as Go does by default.
package gcpace

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// roomyHeap is how large the heap may grow before garbage is collected, in bytes. A server that
// keeps more than half of it collects as Go does by default.
const roomyHeap = 256 << 20

// calmHeap is the memory from which garbage is collected whatever the pace: texts of many megabytes
// may come and go between two collections, and the pace of a small heap would let them grow to ten
// times their size.
const calmHeap = 2 * roomyHeap

// Set sets the collector's pace, anew after every collection, unless GOGC or GOMEMLIMIT says what
// it should be.
func Set() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		pace(nil)
	}
}

// collected is garbage from the start, so that its finalizer runs once in every collection.
type collected struct{ _ [16]byte }

func pace(*collected) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if live[0].Value.Kind() == metrics.KindUint64 {
		debug.SetGCPercent(gcPercent(live[0].Value.Uint64()))
		debug.SetMemoryLimit(memoryLimit(live[0].Value.Uint64()))
	}
	runtime.SetFinalizer(&collected{}, pace)
}

// memoryLimit is the memory at which garbage is collected early: as much as may be garbage, beside
// what lives, is a third of a large heap, which must not be collected all the time, and no more
// than half of roomyHeap of a smaller one.
func memoryLimit(live uint64) int64 {
	live = min(live, 1<<59)
	return int64(max(calmHeap, live+max(roomyHeap/2, live/3)))
}

// gcPercent is the percentage by which the heap may grow from live bytes.
func gcPercent(live uint64) int {
	const most = 1000
	if live == 0 {
		return most
	}
	grow := (roomyHeap - min(live, roomyHeap)) * 100 / live
	return int(min(max(grow, 100), most))
}
