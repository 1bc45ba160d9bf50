package testenv

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Processor returns the processor time that this process has used. A bound on it holds on a busy
// machine, where one on elapsed time does not.
func Processor(t testing.TB) time.Duration {
	t.Helper()
	return clock(t, unix.CLOCK_PROCESS_CPUTIME_ID)
}

// ProcessorOf returns the processor time that another process has used.
func ProcessorOf(t testing.TB, pid int) time.Duration {
	t.Helper()
	return clock(t, int32(^pid<<3|2)) // see clock_getcpuclockid(3)
}

// Computes runs f and returns the processor time that f used on its own goroutine.
func Computes(t testing.TB, f func()) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := clock(t, unix.CLOCK_THREAD_CPUTIME_ID)
	f()
	return clock(t, unix.CLOCK_THREAD_CPUTIME_ID) - before
}

func clock(t testing.TB, id int32) time.Duration {
	t.Helper()
	var at unix.Timespec
	if err := unix.ClockGettime(id, &at); err != nil {
		t.Fatal(err)
	}
	return time.Duration(at.Nano())
}
