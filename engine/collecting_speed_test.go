package engine

import (
	"flag"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

var submitted = flag.Int("submit", 500, "how many reports a run of TestSubmitIsCheap sends")

// TestSubmitIsCheap sends single reports over 64 connections, as contributors do, in turns by the
// short way and by the SQL engine's plans. The short way must take less processor time, client and
// server together. With -v it states reports a second.
func TestSubmitIsCheap(t *testing.T) {
	const runs = 5
	ways := []string{"INSERT INTO dp_in.commute (token, report) VALUES (?, ?)", "INSERT INTO dp_in.commute (token, report) SELECT ?, ?"}
	o := startCollection(t, 2*runs**submitted)
	db := o.pool()
	db.SetMaxOpenConns(64)
	var used [2][]time.Duration
	for n := range 2 * runs {
		tokens, reports := make([][]byte, *submitted), make([][]byte, *submitted)
		for k := range tokens {
			tokens[k], reports[k] = o.next()
		}
		begin, before := time.Now(), processorTime()
		var at atomic.Int64
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() {
				for k := int(at.Add(1)) - 1; k < len(tokens); k = int(at.Add(1)) - 1 {
					if _, err := db.Exec(ways[n%2], tokens[k], reports[k]); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		cpu := (processorTime() - before) / time.Duration(len(tokens))
		t.Logf("%s: %.0f reports/s, %v of processor time each", ways[n%2][42:], float64(len(tokens))/time.Since(begin).Seconds(), cpu)
		used[n%2] = append(used[n%2], cpu)
	}
	o.wants(2*runs**submitted, "in the end")
	for _, u := range used {
		slices.Sort(u)
	}
	if used[0][runs/2] >= used[1][runs/2] {
		t.Errorf("the short way takes %v a report, a plan %v", used[0][runs/2], used[1][runs/2])
	}
}

func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
