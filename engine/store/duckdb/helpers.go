package duckdb

/*
#include <stdint.h>
#include <unistd.h>

// Of the functions that run DuckDB's tasks on threads of ours, which the driver's mapping leaves
// out: as duckdb.h of DuckDB 1.4 declares them, with plain pointers for its handles.
extern void *duckdb_create_task_state(void *database);
extern uint64_t duckdb_execute_n_tasks_state(void *state, uint64_t max_tasks);
extern void duckdb_destroy_task_state(void *state);
*/
import "C"

import (
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/marcboeker/go-duckdb/v2/mapping"
)

// helperThreads help the thread that executes a statement. DuckDB's own would be woken for every
// task, and the caller would wait for what they took: a short statement took a quarter more of the
// processors' time. So DuckDB has no threads of its own, and these come when a statement has run
// for a while: it is planned for all threads, and what nobody has begun is left to them.
//
// They can rest, too. DuckDB's own could not be stopped after its configuration is locked.
type helperThreads struct {
	size  int // beside the caller's thread
	state unsafe.Pointer
	rests atomic.Bool // while a snapshot has the store to itself

	mu      sync.Mutex
	long    int           // statements that have run for a while
	stop    chan struct{} // closed when there are none
	running sync.WaitGroup
}

const (
	// patience is how long a statement runs alone, and lessPatience one whose order of rows does
	// not follow from which thread is first.
	patience     = 2 * time.Millisecond
	lessPatience = 500 * time.Microsecond
	// pause is how long a helper waits when there is nothing to do, while long statements run: they
	// have stages that one thread does.
	pause = 50 // microseconds
	// heavy is how long a statement runs that may leave much memory behind.
	heavy = 50 * time.Millisecond
	// batch is how many tasks are done before looking whether anything still runs.
	batch = 16
)

func newHelperThreads(db mapping.Database) *helperThreads {
	return &helperThreads{state: C.duckdb_create_task_state(db.Ptr)}
}

// begin is called when a statement starts to run, alone for so long, and what it returns when the
// statement has ended and its result is gone or held: a heavy one's memory is given back then.
func (h *helperThreads) begin(alone time.Duration) (end func()) {
	began := time.Now()
	freed := func() {
		if time.Since(began) >= heavy {
			giveBack()
		}
	}
	if h.size == 0 {
		return freed
	}
	joined := make(chan struct{})
	timer := time.AfterFunc(alone, func() {
		h.join()
		close(joined)
	})
	return func() {
		if !timer.Stop() {
			<-joined
			h.leave()
			freed()
		}
	}
}

// join counts a statement that goes on; the first one calls the threads.
func (h *helperThreads) join() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.long++; h.long > 1 {
		return
	}
	stop := make(chan struct{})
	h.stop = stop
	for range h.size {
		h.running.Go(func() { h.work(stop) })
	}
}

func (h *helperThreads) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.long--; h.long == 0 {
		close(h.stop)
	}
}

// work does tasks of any statement.
func (h *helperThreads) work(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		switch {
		case h.rests.Load():
			time.Sleep(patience)
		case C.duckdb_execute_n_tasks_state(h.state, batch) == 0:
			C.usleep(pause) // time.Sleep takes a millisecond where nothing else runs
		}
	}
}

// close waits for the threads. No statement runs any more, but a stopped one may have left tasks
// that nobody has begun, which keep the database open: they are begun here, and end at once.
func (h *helperThreads) close() {
	h.running.Wait()
	for C.duckdb_execute_n_tasks_state(h.state, batch) > 0 {
	}
	C.duckdb_destroy_task_state(h.state)
}
