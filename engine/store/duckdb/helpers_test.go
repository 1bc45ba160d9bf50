package duckdb

import (
	"sync"
	"testing"
	"time"
)

// A statement that goes on calls the helpers, which leave after it; one that is brief does not.
func TestHelpersHelpLongStatements(t *testing.T) {
	s, _ := testOpen(t, Options{Threads: 2})
	helpers := s.in.helpers
	call := func() <-chan struct{} {
		helpers.mu.Lock()
		defer helpers.mu.Unlock()
		return helpers.stop
	}
	last := call()
	for brief := false; !brief; { // where the machine was busy the statement was not brief
		start := time.Now()
		end := helpers.begin(patience)
		end()
		brief = time.Since(start) < patience
		if brief && call() != last {
			t.Fatal("a brief statement called the helpers")
		}
		last = call()
	}
	equal(t, "sum", ask(t, s, "SELECT CAST(sum(range % 7) >> 40 AS BIGINT) FROM range(100000000)"), int64(0))
	if call() == last {
		t.Error("a long statement did not call the helpers")
	}
	helpers.running.Wait()
	equal(t, "statements left", helpers.long, 0)
}

// Statements that end just when they would call the helpers must neither leave them running nor
// dismiss them for others.
func TestHelpersCountStatements(t *testing.T) {
	s, _ := testOpen(t, Options{Threads: 2})
	helpers := s.in.helpers
	var group sync.WaitGroup
	for i := range 200 {
		group.Go(func() {
			end := helpers.begin(patience)
			time.Sleep(patience + time.Duration(i-100)*10*time.Microsecond)
			end()
		})
	}
	group.Wait()
	helpers.running.Wait()
	equal(t, "statements left", helpers.long, 0)
	equal(t, "a scan after them", ask(t, s, "SELECT 1::BIGINT"), int64(1))
}

func TestOneThreadHasNoHelpers(t *testing.T) {
	s, _ := testOpen(t, Options{Threads: 1})
	equal(t, "sum", ask(t, s, "SELECT CAST(sum(range % 7) >> 40 AS BIGINT) FROM range(20000000)"), int64(0))
	if s.in.helpers.stop != nil {
		t.Error("there are helpers")
	}
}
