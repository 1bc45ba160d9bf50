package testenv

import (
	"os"
	"testing"
	"time"
)

// TestProcessorTimeIsNotElapsedTime: sleeping costs none, computing does, on all three clocks.
func TestProcessorTimeIsNotElapsedTime(t *testing.T) {
	const pause = 300 * time.Millisecond
	if took := Computes(t, func() { time.Sleep(pause) }); took >= pause {
		t.Errorf("sleeping used %v of a processor", took)
	}
	all, own := Processor(t), ProcessorOf(t, os.Getpid())
	if own < all {
		t.Errorf("the process has used %v, and %v by its number", all, own)
	}
	sum := 0
	took := Computes(t, func() {
		for Processor(t) < all+pause {
			for i := range 1 << 20 {
				sum += i
			}
		}
	})
	if took <= 0 || sum == 0 {
		t.Errorf("computing used %v of a processor", took)
	}
	if now := ProcessorOf(t, os.Getpid()); now < own+pause {
		t.Errorf("the process computed for %v, of which its number shows %v", pause, now-own)
	}
}
