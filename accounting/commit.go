package accounting

import (
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/budget"
	"scrim/accounting/internal/boltfile"
	"scrim/accounting/internal/chain"
	"scrim/accounting/record"
)

// batch is what one transaction writes: everything that was queued while the one before was being
// written. Under load many reservations share one fsync this way, and alone none waits for company.
type batch struct {
	records  []*record.Record // with numbers without gaps
	outcomes []record.OutcomeOf
	remarks  []*record.Record
	answers  []answerPut
	lastDay  budget.Date
	written  bool          // handed to the file: it may be there although its commit failed
	done     chan struct{} // closed when the batch is durable, or never will be
	err      error         // set before done is closed
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
			b.err = boltfile.Guard(func() error { return l.write(b) })
			if b.err != nil {
				fault := l.poison(b.err)
				if b.err = fault; b.written {
					b.err = fmt.Errorf("%w: %w", ErrInDoubt, fault)
				}
			}
			close(b.done)
			l.moveMark()
			l.nudge()
		}
		if last {
			return
		}
	}
}

// take removes the queued batch and completes it with the day that belongs to it;
// nil when nothing is queued. When last, nothing may be queued afterwards.
func (l *Ledger) take(last bool) *batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = false
	if last && l.fault == nil {
		l.fault = errClosed
	}
	l.conclude()
	b := l.next
	if len(b.records) == 0 && len(b.answers) == 0 {
		return nil
	}
	b.lastDay = l.state.LastDay
	l.next = newBatch()
	return b
}

// conclude makes one record of all outcomes that are queued, and one of each remark. l.mu is held.
func (l *Ledger) conclude() {
	queued := l.next.remarks
	if len(l.next.outcomes) > 0 {
		queued = append(queued, &record.Record{Kind: record.Outcomes, Outcomes: l.next.outcomes})
	}
	l.next.outcomes, l.next.remarks = nil, nil
	for _, r := range queued {
		l.stamp(r)
		_, _, _ = l.append(r) // refuses nothing: Finish and Remark have checked the numbers
	}
}

// write makes a batch durable, and what it holds visible.
func (l *Ledger) write(b *batch) error {
	if err := l.Err(); err != nil && err != errClosed {
		return err
	}
	if err := l.at("before-transaction"); err != nil {
		return err
	}
	end := l.end
	err := l.db.Update(func(tx *bolt.Tx) error {
		if err := l.put(tx, b, &end); err != nil {
			return err
		}
		if err := l.answers.write(tx, b.answers); err != nil {
			return err
		}
		if err := l.at("in-transaction"); err != nil {
			return err
		}
		b.written = true
		return nil
	})
	if err != nil {
		return err
	}
	l.end = end
	l.durable.Store(&end)
	l.answers.written(b.answers)
	l.reading.Lock()
	for _, r := range b.records {
		l.index.Add(r)
	}
	l.reading.Unlock()
	return l.at("after-transaction")
}

// put writes the records, with their hashes, and the head, which is moved to the end.
func (l *Ledger) put(tx *bolt.Tx, b *batch, end *chain.Mark) error {
	records := tx.Bucket(chain.Records)
	records.FillPercent = 1 // records are only ever added at the end
	for _, r := range b.records {
		if r.Weighed != nil {
			<-r.Weighed
		}
		end.ID, end.At = end.ID+1, r.At
		payload := r.Encode(make([]byte, len(chain.Sum{}), 512))
		end.Hash = l.chain.Next(&end.Hash, end.ID, payload[len(chain.Sum{}):])
		copy(payload, end.Hash[:])
		if err := records.Put(chain.RecordKey(end.ID), payload); err != nil {
			return err
		}
		if slices.ContainsFunc(r.Charges, func(c record.Booked) bool { return c.Since > 0 }) {
			if err := tx.Bucket(metaBucket).Put(formatKey, []byte(chain.RenewedFormat)); err != nil {
				return err
			}
		}
	}
	return tx.Bucket(metaBucket).Put(headKey, chain.Head{Mark: *end, Day: b.lastDay}.Encode())
}

// moveMark moves the high-water mark on to what is durable. Nobody waits for it; but a disk that
// does not take it is not trusted further.
func (l *Ledger) moveMark() {
	l.mu.Lock()
	fault := l.fault
	l.mu.Unlock()
	if fault != nil && fault != errClosed {
		return
	}
	if err := l.mark.move(l.end); err != nil {
		_ = l.poison(err)
	}
}

func (l *Ledger) at(point string) error {
	l.mu.Lock()
	hook := l.hook
	l.mu.Unlock()
	if hook == nil {
		return nil
	}
	return hook(point)
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
