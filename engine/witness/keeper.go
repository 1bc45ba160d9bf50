package witness

import (
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"
)

// Keeper keeps a witness up to date while a server runs.
type Keeper struct {
	w    *Witness
	run  string
	now  func() string
	tell func(Report)
	said Report

	written string // the position of our last line
	stop    chan struct{}
	done    chan struct{}
	once    sync.Once
}

// Report says how a witness is. It is told when it changes.
type Report struct {
	Failing error  // why it cannot be read or written; nil: it can
	Other   *Entry // the line of another process that was found behind our own, the first one
}

// The witness is looked at every second for a position that has changed, and every half minute for
// another process.
const (
	every = time.Second
	looks = 30
)

// Keep writes the first line, and then goes on by itself until Close. now is the position at that
// moment, and tell hears what Report says, from one goroutine.
func (w *Witness) Keep(now func() string, tell func(Report)) (*Keeper, error) {
	b := make([]byte, 8)
	if _, err := rand.Read(b); err != nil {
		return nil, err
	}
	k := &Keeper{w: w, run: hex.EncodeToString(b), now: now, tell: tell, stop: make(chan struct{}), done: make(chan struct{})}
	if err := k.add(); err != nil {
		return nil, err
	}
	go k.keep()
	return k, nil
}

func (k *Keeper) keep() {
	defer close(k.done)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-tick.C:
			if n%looks == 0 || k.now() != k.written {
				k.step()
			}
		case <-k.stop:
			k.step()
			return
		}
	}
}

// step looks for another process's line, adds ours where the position has changed, and tells what
// is new.
func (k *Keeper) step() {
	r := Report{Other: k.said.Other}
	last, ok, err := k.w.Last()
	if err == nil && ok && last.Run != k.run && r.Other == nil {
		r.Other = &last
	}
	if err == nil && (k.now() != k.written || ok && last.Run != k.run) {
		err = k.add()
	}
	r.Failing = err
	if (r.Failing == nil) != (k.said.Failing == nil) || r.Other != k.said.Other {
		k.tell(r)
	}
	k.said = r
}

// add writes the position of the moment. After another's line it says so to the other, too.
func (k *Keeper) add() error {
	now := k.now()
	err := k.w.Add(Entry{Run: k.run, Position: now})
	if err == nil {
		k.written = now
	}
	return err
}

// Close writes the last position.
func (k *Keeper) Close() {
	if k != nil {
		k.once.Do(func() { close(k.stop) })
		<-k.done
	}
}
