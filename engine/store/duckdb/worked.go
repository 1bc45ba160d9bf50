package duckdb

/*
#include <time.h>

static long long thread_time(void) {
	struct timespec t;
	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0)
		return 0;
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}
*/
import "C"

import (
	"runtime"
	"time"
)

// working measures the processor time of the calling goroutine until the function that it returns is called. A statement is
// executed by its caller's thread, which others join only when it takes long; how long it waits for a processor says nothing of it.
func working() (worked func() time.Duration) {
	runtime.LockOSThread()
	before := C.thread_time()
	return func() time.Duration {
		defer runtime.UnlockOSThread()
		return time.Duration(C.thread_time() - before)
	}
}
