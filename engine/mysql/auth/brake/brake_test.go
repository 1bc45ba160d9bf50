package brake

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"scrim/engine/mysql/wire"
)

// TestWaitsGrow: the first failures cost nothing, then each doubles the wait, up to a longest one;
// they are forgotten again.
func TestWaitsGrow(t *testing.T) {
	b, now := &brake{rule: &pairRule}, time.Unix(1_000_000, 0)
	var waits []time.Duration
	for range 14 {
		b.fail(now)
		waits = append(waits, b.next.Sub(now))
	}
	want := "[0s 0s 250ms 500ms 1s 2s 4s 8s 16s 30s 30s 30s 30s 30s]"
	if got := fmt.Sprint(waits); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if ok, wait := b.turn(now.Add(29 * time.Second)); ok || wait != time.Second {
		t.Errorf("before the time: got %v, %v", ok, wait)
	}
	if ok, _ := b.turn(now.Add(30 * time.Second)); !ok {
		t.Error("an attempt in time has to wait")
	}
	if later := now.Add(12*30*time.Second + time.Second); !b.idle(later) {
		t.Errorf("%v failures are left when all are forgotten", b.failures)
	}
}

// TestGuessesFromOneAddress: of thousands of guesses at an account a few are looked at, whatever
// runs at the same time; the account's owner elsewhere, another account at the address, and who was
// in before, do not wait.
func TestGuessesFromOneAddress(t *testing.T) {
	a := New()
	known, ok, _, _ := a.begin("bob", "10.0.0.1")
	if !ok {
		t.Fatal("the first attempt was refused")
	}
	a.end(known, true)
	var mu sync.Mutex
	looked, told := 0, 0
	var guessing sync.WaitGroup
	for range 20 {
		guessing.Go(func() {
			for range 150 {
				try, ok, _, unlooked := a.begin("ann", "10.0.0.1")
				if ok {
					a.end(try, false)
				}
				mu.Lock()
				told += unlooked
				if ok {
					looked++
				}
				mu.Unlock()
			}
		})
	}
	guessing.Wait()
	if looked < 3 || looked > 8 {
		t.Errorf("%d of 3000 guesses were looked at, want 3 to 8", looked)
	}
	if told == 0 || told > 3000-looked {
		t.Errorf("%d attempts are told of, of %d", told, 3000-looked)
	}
	for user, address := range map[string]string{"ann": "10.0.0.2", "eve": "10.0.0.1", "bob": "10.0.0.1"} {
		try, ok, wait, _ := a.begin(user, address)
		if !ok || wait != 0 {
			t.Errorf("%s from %s: got %v after %v, want no wait", user, address, ok, wait)
		}
		a.end(try, true)
	}
	if try, ok, _, _ := a.begin("ann", "10.0.0.1"); ok {
		a.end(try, false)
		t.Error("the next guess does not wait")
	}
}

// TestManyNamesFromOneAddress: who tries one password at many accounts is slowed down too, but not
// who has shown a password there.
func TestManyNamesFromOneAddress(t *testing.T) {
	a := New()
	first, _, _, _ := a.begin("bob", "2001:db8:1:2::1")
	a.end(first, true)
	for i := range 40 { // neighbours in the same network
		b := a.attempt(fmt.Sprint("name", i), wire.Network(fmt.Sprintf("2001:db8:1:2::%x", i)), time.Now())
		b.pair.fail(time.Now())
		b.address.fail(time.Now())
	}
	stranger := a.attempt("another", wire.Network("2001:db8:1:2::ffff"), time.Now())
	if ok, wait := stranger.turn(time.Now()); ok || wait < time.Second {
		t.Errorf("after 40 failures: got %v, %v, want a wait of more than a second", ok, wait)
	}
	if ok, _ := a.attempt("bob", wire.Network("2001:db8:1:2::1"), time.Now()).turn(time.Now()); !ok {
		t.Error("who has shown a password waits for the others' failures")
	}
	if ok, _ := a.attempt("another", wire.Network("2001:db8:1:3::1"), time.Now()).turn(time.Now()); !ok {
		t.Error("another network waits")
	}
}

// TestBurstOfAPool: connections that a program opens at the same time, with the right password, are
// all let in.
func TestBurstOfAPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New()
		var all sync.WaitGroup
		for range 200 {
			all.Go(func() {
				try, ok, wait, _ := a.begin("ann", "10.0.0.1")
				if !ok {
					t.Errorf("refused, with a wait of %v", wait)
					return
				}
				time.Sleep(time.Millisecond)
				a.end(try, true)
			})
		}
		all.Wait()
	})
}

// TestAttemptsAreBounded: names without end do not fill the memory, nor make those forgotten that
// were guessed at.
func TestAttemptsAreBounded(t *testing.T) {
	a := New()
	guessed := a.attempt("ann", "10.0.0.1", time.Now())
	for range 8 {
		guessed.pair.fail(time.Now())
	}
	for i := range 3 * maxBrakes {
		try := a.attempt(fmt.Sprint("name", i), fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), time.Now())
		try.pair.fail(time.Now())
		try.address.fail(time.Now())
	}
	if n := len(a.brakes); n > maxBrakes {
		t.Errorf("%d are remembered, want at most %d", n, maxBrakes)
	}
	if again := a.attempt("ann", "10.0.0.1", time.Now()); again.pair != guessed.pair {
		t.Error("an account that was guessed at is forgotten")
	}
}
