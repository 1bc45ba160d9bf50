package accounting

import (
	"flag"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// What the benchmarks of a large ledger work on. With a directory, the ledger is made there once and stays.
var (
	entriesFlag = flag.Int("ledger.entries", 1_000_000, "entries of the ledger of benchmarks")
	dirFlag     = flag.String("ledger.dir", "", "directory of the ledger of benchmarks; empty: a temporary one in memory")
)

// memoryDir returns a directory in memory, where there is one.
func memoryDir(t testing.TB) string {
	t.Helper()
	base := "/dev/shm"
	if _, err := os.Stat(base); err != nil {
		base = ""
	}
	dir, err := os.MkdirTemp(base, "scrim-ledger-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func largeLedger(b *testing.B) string {
	b.Helper()
	dir := *dirFlag
	if dir == "" {
		dir = memoryDir(b)
	}
	return filledLedger(b, dir, *entriesFlag)
}

// processor returns the processor time that this process has used.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// heap returns how much of the heap is in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers held
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkReopen opens a ledger of a million entries: time, processor time, and what it keeps on the heap.
func BenchmarkReopen(b *testing.B) {
	path := largeLedger(b)
	before := heap()
	var used time.Duration
	for b.Loop() {
		start := processor()
		l, err := Open(path, Options{DirectoryID: testDirectory})
		if err != nil {
			b.Fatal(err)
		}
		used += processor() - start
		b.StopTimer()
		b.ReportMetric(float64(heap()-before)/(1<<20), "MiB-heap")
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(used.Seconds()/float64(b.N), "processor-s/op")
}
