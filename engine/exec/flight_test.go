package exec

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
)

// TestOneQueryAtOnceIsChargedOnce: executions that would find each other's answer wait for it.
func TestOneQueryAtOnceIsChargedOnce(t *testing.T) {
	s, l := fixture(t)
	x := executor(s, l)
	var wg sync.WaitGroup
	answers := make([]string, 16)
	for i := range answers {
		wg.Go(func() {
			st, r := counts(t, 1, false)
			ctx := sql.NewEmptyContext()
			e, err := x.Begin(ctx, st)
			if err == nil {
				var rows []sql.Row
				rows, err = e.Answer(ctx, r)
				answers[i] = fmt.Sprint(rows)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, a := range answers {
		if a != answers[0] {
			t.Errorf("got %s and %s", a, answers[0])
		}
	}
	if n := charges(t, l); n != 1 {
		t.Errorf("got %d charges, want 1", n)
	}
	if len(x.flights.now) != 0 {
		t.Error("keys are still taken")
	}
}

// TestFlightsDoNotBlock: many executions with overlapping keys all come through, and one that is
// cancelled gives back what it had.
func TestFlightsDoNotBlock(t *testing.T) {
	var f flights
	var wg sync.WaitGroup
	var inside [5]atomic.Int32
	for i := range 50 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			for range 40 {
				var keys []string
				var held []int
				for k := range inside {
					if r.IntN(2) == 0 {
						keys, held = append(keys, fmt.Sprint(k)), append(held, k)
					}
				}
				r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
				free, _, err := f.take(context.Background(), keys)
				if err != nil {
					t.Error(err)
					return
				}
				for _, k := range held {
					if inside[k].Add(1) != 1 {
						t.Error("two executions have one key")
					}
				}
				for _, k := range held {
					inside[k].Add(-1)
				}
				free()
			}
		})
	}
	wg.Wait()
	free, _, _ := f.take(context.Background(), []string{"b"})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, _, err := f.take(ctx, []string{"a", "b"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	free()
	if free, waited, err := f.take(context.Background(), []string{"a", "b", "a"}); waited || err != nil {
		t.Errorf("waited %v, %v: a cancelled execution kept its keys", waited, err)
	} else {
		free()
	}
}
