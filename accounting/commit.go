package accounting

import (
	"encoding/binary"
	"fmt"
	"runtime/debug"

	bolt "go.etcd.io/bbolt"
)

// batch is what one transaction writes: everything that was queued while the one before was being
// written. Under load many reservations share one fsync this way, and alone none waits for company.
type batch struct {
	records  []sealed
	answers  []answerPut
	counters []counted
	head     []byte
	done     chan struct{} // closed when the batch is durable, or never will be
	err      error         // set before done is closed
}

// sealed is a record with its number, chain hash and payload.
type sealed struct {
	id    uint64
	value []byte
}

// counted is a counter with its value after the batch's records.
type counted struct {
	counter
	spent tally
}

func newBatch() *batch { return &batch{done: make(chan struct{})} }

// commit writes batches until the ledger is closed and nothing is queued.
func (l *Ledger) commit() {
	defer close(l.stopped)
	for {
		last := false
		select {
		case <-l.wake:
		case <-l.closing:
			last = true
		}
		b := l.take(last)
		if b != nil {
			b.err = guard(func() error { return l.write(b) })
			if b.err != nil {
				b.err = l.poison(b.err)
			}
			close(b.done)
		}
		if last {
			return
		}
	}
}

// take removes the queued batch and completes it with the counters and the head that belong to it;
// nil when nothing is queued. When last, nothing may be queued afterwards.
func (l *Ledger) take(last bool) *batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, s := l.next, l.state
	l.armed = false
	if last && l.fault == nil {
		l.fault = errClosed
	}
	if len(b.records) == 0 && len(b.answers) == 0 {
		return nil
	}
	for c := range s.dirty {
		b.counters = append(b.counters, counted{c, s.spent[c.holder].days[c.day]})
	}
	clear(s.dirty)
	b.head = s.head()
	l.next = newBatch()
	return b
}

// write makes a batch durable.
func (l *Ledger) write(b *batch) error {
	if err := l.Err(); err != nil && err != errClosed {
		return err
	}
	if err := l.at("before-transaction"); err != nil {
		return err
	}
	err := l.db.Update(func(tx *bolt.Tx) error {
		records, counters := tx.Bucket(recordsBucket), tx.Bucket(countersBucket)
		records.FillPercent = 1 // records are only ever added at the end
		for _, r := range b.records {
			if err := records.Put(binary.BigEndian.AppendUint64(nil, r.id), r.value); err != nil {
				return err
			}
		}
		for _, c := range b.counters {
			if err := counters.Put(c.counter.key(), c.spent.append(nil)); err != nil {
				return err
			}
		}
		if err := tx.Bucket(metaBucket).Put(headKey, b.head); err != nil {
			return err
		}
		if err := l.answers.write(tx, b.answers); err != nil {
			return err
		}
		return l.at("in-transaction")
	})
	if err != nil {
		return err
	}
	l.answers.written(b.answers)
	return l.at("after-transaction")
}

func (l *Ledger) at(point string) error {
	if l.hook == nil {
		return nil
	}
	return l.hook(point)
}

// poison ends the ledger's work. After a failed write or fsync nobody can say what is on the disk,
// so nothing more is granted until a new opening has read it.
func (l *Ledger) poison(cause error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault == nil || l.fault == errClosed {
		l.fault = fmt.Errorf("%w: writing %s failed: %v; check the disk, then restart the server", ErrUnavailable, l.path, cause)
	}
	return l.fault
}

// guard calls f and turns panics, and faults on the memory-mapped file (a disk error, a file cut
// short by someone else), into errors.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("accounting: ledger file: %v", p)
		}
	}()
	return f()
}
