package fork

import (
	"errors"
	"sync/atomic"
	"testing"
)

// TestPanicsReachTheCaller: all pieces run, and the panic of one is the caller's, with its value.
func TestPanicsReachTheCaller(t *testing.T) {
	why, ran := errors.New("why"), atomic.Int64{}
	defer func() {
		if p := recover(); p != why || ran.Load() != 99 {
			t.Errorf("got %v after %d pieces", p, ran.Load())
		}
	}()
	var g Group
	for i := range 100 {
		g.Go(func() {
			if i == 50 {
				panic(why)
			}
			ran.Add(1)
		})
	}
	g.Wait()
}
