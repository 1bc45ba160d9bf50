package duckdb

/*
#include <stdint.h>

// Of the functions that run DuckDB's tasks on threads of ours, which the driver's mapping leaves out: as duckdb.h of DuckDB 1.4
// declares them, with plain pointers for its handles.
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

	"github.com/marcboeker/go-duckdb/mapping"
)

// crew are the threads that help the one that executes a statement. DuckDB's own would be woken for every task, and the caller
// would wait for what they took; that costs a short statement more than it does itself. So DuckDB has no threads of its own, and
// these come when a statement has run for a while: it is planned for all threads, and what nobody has begun is left to them.
type crew struct {
	size  int // beside the caller's thread
	state unsafe.Pointer
	rests atomic.Bool // while a snapshot has the store to itself

	mu      sync.Mutex
	long    int           // statements that have run for a while
	stop    chan struct{} // closed when there are none
	running sync.WaitGroup
}

const (
	// patience is how long a statement runs alone.
	patience = 5 * time.Millisecond
	// pause is how long a thread of the crew waits when there is nothing to do, while long statements run: they have stages that
	// one thread does.
	pause = 50 * time.Microsecond
	// batch is how many tasks are done before looking whether anything still runs.
	batch = 16
)

func newCrew(db mapping.Database) *crew {
	return &crew{state: C.duckdb_create_task_state(db.Ptr)}
}

// shift is the time of one statement.
type shift struct {
	c     *crew
	timer *time.Timer

	mu           sync.Mutex
	joined, over bool
}

// begin is called when a statement starts to run, end of the result when it has.
func (c *crew) begin() *shift {
	s := &shift{c: c}
	if c.size > 0 {
		s.timer = time.AfterFunc(patience, s.join)
	}
	return s
}

func (s *shift) join() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.joined = true
		s.c.join()
	}
}

func (s *shift) end() {
	if s.timer == nil || s.timer.Stop() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	if s.joined {
		s.c.leave()
	}
}

// join counts a statement that goes on; the first one calls the threads.
func (c *crew) join() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.long++; c.long > 1 {
		return
	}
	stop := make(chan struct{})
	c.stop = stop
	for range c.size {
		c.running.Go(func() { c.work(stop) })
	}
}

func (c *crew) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.long--; c.long == 0 {
		close(c.stop)
	}
}

// work does tasks of any statement.
func (c *crew) work(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		switch {
		case c.rests.Load():
			time.Sleep(patience)
		case C.duckdb_execute_n_tasks_state(c.state, batch) == 0:
			time.Sleep(pause)
		}
	}
}

// close waits for the threads. No statement runs any more.
func (c *crew) close() {
	c.running.Wait()
	C.duckdb_destroy_task_state(c.state)
}
