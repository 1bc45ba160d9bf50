package source

import (
	"errors"
	"sync/atomic"
)

// errStopped ends a reading because a batch could not be handed over.
var errStopped = errors.New("source: a batch was not taken")

// Piped lets rows be read while those before are handed over. read fills the batch that it is given
// first, and gets an empty one for each full one from next, whose errors it returns; it returns the
// last one, which may be a part. Piped returns the first error of each, or else that of read.
func Piped(columns []Column, each func(*Batch) error, read func(first *Batch, next func(*Batch) (*Batch, error)) (last *Batch, err error)) (err error) {
	p := &pipe{full: make(chan *Batch), free: make(chan *Batch, 1)}
	p.free <- NewBatch(columns)
	go p.run(each)
	defer func() {
		close(p.full)
		for range p.free { // until the other side is done
		}
		switch {
		case p.panicked != nil:
			panic(p.panicked)
		case p.err != nil:
			err = p.err
		}
	}()
	last, err := read(NewBatch(columns), p.next)
	if err == nil && last.Len > 0 {
		p.full <- last
	}
	return err
}

// pipe has two batches go to and fro.
type pipe struct {
	full, free chan *Batch
	failed     atomic.Bool
	err        error // of each
	panicked   any   // in each
}

func (p *pipe) run(each func(*Batch) error) {
	defer close(p.free)
	for b := range p.full {
		if !p.failed.Load() {
			p.one(b, each)
		}
		b.Len = 0
		p.free <- b
	}
}

// one hands over a batch. A panic is the reader's: nobody else would catch it.
func (p *pipe) one(b *Batch, each func(*Batch) error) {
	defer func() {
		if p.panicked = recover(); p.panicked != nil || p.err != nil {
			p.failed.Store(true)
		}
	}()
	p.err = each(b)
}

func (p *pipe) next(b *Batch) (*Batch, error) {
	p.full <- b
	b = <-p.free
	if p.failed.Load() {
		return nil, errStopped
	}
	return b, nil
}
