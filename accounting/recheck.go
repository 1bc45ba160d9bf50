package accounting

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/budget"
	"scrim/accounting/internal/codec"
)

// recheckChunk is how many records one read transaction of the upkeep visits: some milliseconds. A
// writer may have to wait for readers when the file grows.
const recheckChunk = 4096

// damage is an error that says that the records are not what was written.
type damage struct{ cause error }

func (d *damage) Error() string { return d.cause.Error() }

func damagedRecords(format string, args ...any) error { return &damage{fmt.Errorf(format, args...)} }

// catchUp completes the index, and verifies all records up to the checkpoint that the opening began
// with.
func (l *Ledger) catchUp() error {
	u := &l.up
	opened, digest := u.kept, u.digest
	full := newIndexAfter(l.base.end.id)
	err := u.parts.read(opened.hash, func(x *partIndex) error {
		full.join(x)
		return l.running()
	})
	rebuilt := errors.Is(err, errSegments)
	if rebuilt {
		full, err = l.rebuild(opened, digest)
	}
	if err != nil {
		return err
	}
	full.joined()
	l.reading.Lock()
	full.merge(l.index)
	l.index = full
	l.reading.Unlock()
	u.searchable()
	if !rebuilt {
		err = l.recheck(opened, digest, l.pause, u.parts.tags)
	}
	if err == nil {
		u.change(func(s *Upkeep) { s.VerifiedAt = l.now() })
	}
	return err
}

// running returns errStopping when the ledger is being closed.
func (l *Ledger) running() error {
	select {
	case <-l.closing:
		return errStopping
	default:
		return nil
	}
}

// rebuild makes the index from the records, and its file, and so verifies them. People wait for it.
func (l *Ledger) rebuild(opened mark, digest sum) (*index, error) {
	u := &l.up
	full := newIndexAfter(l.base.end.id)
	*u.parts = *newSegments(u.parts.path, l.key, l.base.end.hash)
	f, failed := u.parts.open()
	if failed == nil {
		defer f.Close()
	}
	err := l.verifyParts(opened, digest, func(time.Duration) error { return l.running() }, func(_ int, p *part) error {
		if failed == nil {
			failed = u.parts.append(f, p.hash, p.index.encode(nil))
		}
		full.join(&p.index)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if failed == nil {
		failed = f.Sync()
	}
	if failed != nil { // the next checkpoint begins anew
		u.kept = l.base.end
		*u.parts = *newSegments(u.parts.path, l.key, l.base.end.hash)
		u.change(func(s *Upkeep) { s.Failed = failed })
	}
	return full, nil
}

// recheck reads the records up to the checkpoint and compares what they come to with the checkpoint
// and with the segments of the index.
func (l *Ledger) recheck(opened mark, digest sum, pause func(time.Duration) error, tags []sum) error {
	before := l.base.end.hash
	return l.verifyParts(opened, digest, func(worked time.Duration) error {
		select {
		case <-l.up.wake:
			l.checkpoint(l.pause)
		default:
		}
		if err := l.Err(); err != nil {
			return errStopping
		}
		return pause(worked)
	}, func(i int, p *part) error {
		if l.up.parts.tag(&before, &p.hash, p.index.encode(nil)) != tags[i] {
			return damagedRecords("the index of records %d to %d is not what they say", p.first, p.last)
		}
		before = p.hash
		return nil
	})
}

// verifyParts reads the records from the base to a mark, part by part, and compares what they come
// to.
func (l *Ledger) verifyParts(to mark, digest sum, pause func(time.Duration) error, each func(i int, p *part) error) error {
	s, err := l.base.decode()
	if err != nil {
		return err
	}
	at, memory := l.base.end, l.scratch()
	for i, b := range partsBetween(at.id, to.id, l.part) {
		p, end, err := l.readPart(b, at.hash, s, memory, pause)
		if err != nil {
			return err
		}
		if err := each(i, p); err != nil {
			return err
		}
		at = end
		l.up.change(func(u *Upkeep) { u.Verified = end.id })
	}
	if at.hash != to.hash {
		return damagedRecords("record %d is not the one at which the checkpoint was made", to.id)
	}
	if sha256.Sum256(s.encode(nil)) != digest {
		return damagedRecords("the records up to number %d do not come to what the checkpoint says", to.id)
	}
	return nil
}

// scratch is memory for reading one part after the other.
func (l *Ledger) scratch() *scratch { return &scratch{outcomes: make([]uint8, l.part)} }

// readPart reads and verifies records, the first of which follows a hash, books them in s, and says
// where they end. It pauses in between.
func (l *Ledger) readPart(b stretch, after sum, s *state, memory *scratch, pause func(time.Duration) error) (p *part, end mark, err error) {
	last, err := l.headOf(b.last)
	if err != nil {
		return nil, end, err
	}
	p = newPart(b.first, b.last, last.day, memory)
	p.start = &after
	var never atomic.Bool
	for begun := false; p.at <= p.last; begun = true {
		start := time.Now()
		err := guard(func() error {
			return l.db.View(func(tx *bolt.Tx) error {
				if !begun {
					if err := p.begin(tx, l.key); err != nil {
						return err
					}
				}
				return p.some(tx, min(p.last, p.at+recheckChunk-1), &never)
			})
		})
		if err != nil {
			return nil, end, &damage{err}
		}
		if err := pause(time.Since(start)); err != nil {
			return nil, end, err
		}
	}
	p.end()
	s.starts = budget.StartsOf(last.day)
	if err := p.join(s); err != nil {
		return nil, end, &damage{err}
	}
	if s.lastDay != last.day {
		return nil, end, damagedRecords("record %d is of another day than it was", b.last)
	}
	return p, mark{b.last, time.Unix(0, last.at).UTC(), p.hash}, nil
}

// headOf returns what a record begins with. It is not verified.
func (l *Ledger) headOf(id uint64) (h recordHead, err error) {
	err = guard(func() error {
		return l.db.View(func(tx *bolt.Tx) error {
			v := tx.Bucket(recordsBucket).Get(recordKey(id))
			if len(v) < len(sum{}) {
				return fmt.Errorf("record %d is missing", id)
			}
			d := codec.NewDecoder(v[len(sum{}):])
			if h = readHead(d); d.Bad {
				return fmt.Errorf("record %d does not decode", id)
			}
			return nil
		})
	})
	if err != nil {
		err = &damage{err}
	}
	return h, err
}
