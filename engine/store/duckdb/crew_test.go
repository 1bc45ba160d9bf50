package duckdb

import (
	"sync"
	"testing"
	"time"
)

// A statement that goes on calls the crew, which leaves after it; one that is brief does not.
func TestCrewHelpsLongStatements(t *testing.T) {
	s, _ := testOpen(t, Options{Threads: 2})
	crew := s.in.crew
	call := func() <-chan struct{} {
		crew.mu.Lock()
		defer crew.mu.Unlock()
		return crew.stop
	}
	last := call()
	shift := crew.begin()
	shift.end()
	if call() != last {
		t.Fatal("a brief statement called the crew")
	}
	equal(t, "sum", ask(t, s, "SELECT CAST(sum(range % 7) >> 40 AS BIGINT) FROM range(100000000)"), int64(0))
	if call() == last {
		t.Error("a long statement did not call the crew")
	}
	crew.running.Wait()
	equal(t, "statements left", crew.long, 0)
}

// Statements that end just when they would call the crew must neither leave it running nor dismiss it for others.
func TestCrewCountsStatements(t *testing.T) {
	s, _ := testOpen(t, Options{Threads: 2})
	crew := s.in.crew
	var group sync.WaitGroup
	for i := range 200 {
		group.Go(func() {
			shift := crew.begin()
			time.Sleep(patience + time.Duration(i-100)*10*time.Microsecond)
			shift.end()
		})
	}
	group.Wait()
	crew.running.Wait()
	equal(t, "statements left", crew.long, 0)
	equal(t, "a scan after them", ask(t, s, "SELECT 1::BIGINT"), int64(1))
}

func TestOneThreadHasNoCrew(t *testing.T) {
	s, _ := testOpen(t, Options{Threads: 1})
	equal(t, "sum", ask(t, s, "SELECT CAST(sum(range % 7) >> 40 AS BIGINT) FROM range(20000000)"), int64(0))
	if s.in.crew.stop != nil {
		t.Error("there is a crew")
	}
}
