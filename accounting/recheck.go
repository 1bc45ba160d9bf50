package accounting

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/budget"
	"scrim/accounting/internal/boltfile"
	"scrim/accounting/internal/chain"
	"scrim/accounting/internal/codec"
	"scrim/accounting/internal/index"
	"scrim/accounting/internal/part"
	"scrim/accounting/internal/state"
	"scrim/accounting/record"
)

// recheckChunk is how many records one read transaction of the upkeep visits: some milliseconds. A
// writer may have to wait for readers when the file grows.
const recheckChunk = 4096

// damage is an error that says that the records are not what was written.
type damage struct{ cause error }

func (d *damage) Error() string { return d.cause.Error() }

// Unwrap lets newer see the cause.
func (d *damage) Unwrap() error { return d.cause }

func damagedRecords(format string, args ...any) error { return &damage{fmt.Errorf(format, args...)} }

// catchUp completes the index, and verifies all records up to the checkpoint that the opening began
// with.
func (l *Ledger) catchUp() error {
	u := &l.up
	opened, digest := u.kept, u.digest
	full := index.New(l.base.end.ID)
	err := u.parts.read(opened.Hash, func(x *index.Part) error {
		full.Join(x)
		return l.running()
	})
	rebuilt := errors.Is(err, errSegments)
	if rebuilt {
		full, err = l.rebuild(opened, digest)
	}
	if err != nil {
		return err
	}
	full.Joined()
	l.reading.Lock()
	full.Merge(l.index)
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
func (l *Ledger) rebuild(opened chain.Mark, digest chain.Sum) (*index.Index, error) {
	u := &l.up
	full := index.New(l.base.end.ID)
	*u.parts = *newSegments(u.parts.path, l.key, l.base.end.Hash)
	f, failed := u.parts.open()
	if failed == nil {
		defer f.Close()
	}
	err := l.verifyParts(opened, digest, func(time.Duration) error { return l.running() }, func(_ int, p *part.Part) error {
		if failed == nil {
			failed = u.parts.append(f, p.Hash, p.Index.Encode(nil))
		}
		full.Join(&p.Index)
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
		*u.parts = *newSegments(u.parts.path, l.key, l.base.end.Hash)
		u.change(func(s *Upkeep) { s.Failed = failed })
	}
	return full, nil
}

// recheck reads the records up to the checkpoint and compares what they come to with the checkpoint
// and with the segments of the index.
func (l *Ledger) recheck(opened chain.Mark, digest chain.Sum, pause func(time.Duration) error, tags []chain.Sum) error {
	before := l.base.end.Hash
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
	}, func(i int, p *part.Part) error {
		if l.up.parts.tag(&before, &p.Hash, p.Index.Encode(nil)) != tags[i] {
			return damagedRecords("the index of records %d to %d is not what they say", p.First, p.Last)
		}
		before = p.Hash
		return nil
	})
}

// verifyParts reads the records from the base to a mark, part by part, and compares what they come
// to.
func (l *Ledger) verifyParts(to chain.Mark, digest chain.Sum, pause func(time.Duration) error, each func(i int, p *part.Part) error) error {
	s, err := l.base.decode()
	if err != nil {
		return err
	}
	at, memory := l.base.end, l.scratch()
	for i, b := range partsBetween(at.ID, to.ID, l.part) {
		p, end, err := l.readPart(b, at.Hash, s, memory, pause)
		if err != nil {
			return err
		}
		if err := each(i, p); err != nil {
			return err
		}
		at = end
		l.up.change(func(u *Upkeep) { u.Verified = end.ID })
	}
	if at.Hash != to.Hash {
		return damagedRecords("record %d is not the one at which the checkpoint was made", to.ID)
	}
	if sha256.Sum256(s.Encode(nil)) != digest {
		return damagedRecords("the records up to number %d do not come to what the checkpoint says", to.ID)
	}
	return nil
}

// scratch is memory for reading one part after the other.
func (l *Ledger) scratch() *index.Scratch { return &index.Scratch{Outcomes: make([]uint8, l.part)} }

// readPart reads and verifies records, the first of which follows a hash, books them in s, and says
// where they end. It pauses in between.
func (l *Ledger) readPart(b stretch, after chain.Sum, s *state.State, memory *index.Scratch, pause func(time.Duration) error) (p *part.Part, end chain.Mark, err error) {
	last, err := l.headOf(b.last)
	if err != nil {
		return nil, end, err
	}
	p = part.New(b.first, b.last, last.Day, memory)
	p.Start = &after
	var never atomic.Bool
	for begun := false; p.At <= p.Last; begun = true {
		start := time.Now()
		err := boltfile.Guard(func() error {
			return l.db.View(func(tx *bolt.Tx) error {
				if !begun {
					if err := p.Begin(tx, l.key); err != nil {
						return err
					}
				}
				return p.Some(tx, min(p.Last, p.At+recheckChunk-1), &never)
			})
		})
		if err != nil {
			return nil, end, &damage{err}
		}
		if err := pause(time.Since(start)); err != nil {
			return nil, end, err
		}
	}
	p.End()
	s.Starts = budget.StartsOf(last.Day)
	if err := p.Join(s); err != nil {
		return nil, end, &damage{err}
	}
	if s.LastDay != last.Day {
		return nil, end, damagedRecords("record %d is of another day than it was", b.last)
	}
	return p, chain.Mark{ID: b.last, At: time.Unix(0, last.At).UTC(), Hash: p.Hash}, nil
}

// headOf returns what a record begins with. It is not verified.
func (l *Ledger) headOf(id uint64) (h record.Head, err error) {
	err = boltfile.Guard(func() error {
		return l.db.View(func(tx *bolt.Tx) error {
			v := tx.Bucket(chain.Records).Get(chain.RecordKey(id))
			if len(v) < len(chain.Sum{}) {
				return fmt.Errorf("record %d is missing", id)
			}
			d := codec.NewDecoder(v[len(chain.Sum{}):])
			if h = record.ReadHead(d); d.Bad {
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

// Rechecked is what a verification of an open ledger has found sound.
type Rechecked struct {
	Records  uint64 // of the file, read and verified
	Archived uint64 // records before them, which are not in the file
	End      Position
}

// errRechecking says that a verification is asked for while one runs.
var errRechecking = errors.New("accounting: the ledger is being verified already")

// Recheck reads and verifies all records of the file again, up to the last durable one, while the
// ledger is used: their hashes, their order, and that they can be booked one after the other.
// Damage ends the ledger, as in the verification after an opening.
func (l *Ledger) Recheck(ctx context.Context) (r Rechecked, err error) {
	if err := l.usable(); err != nil {
		return r, err
	}
	if !l.up.again.TryLock() {
		return r, errRechecking
	}
	defer l.up.again.Unlock()
	end := *l.durable.Load()
	err = l.recheckTo(ctx, end)
	var d *damage
	switch stopped := l.running(); {
	case stopped != nil:
		return r, errClosed
	case errors.As(err, &d):
		l.condemn(err)
		return r, l.Err()
	case err != nil:
		return r, err
	}
	base := l.base.end.ID
	return Rechecked{Records: end.ID - base, Archived: base, End: positionOf(end)}, nil
}

func (l *Ledger) recheckTo(ctx context.Context, end chain.Mark) error {
	s, err := l.base.decode()
	if err != nil {
		return err
	}
	pause := func(time.Duration) error {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("accounting: %w", err)
		}
		return l.running()
	}
	at, memory := l.base.end, l.scratch()
	for _, b := range partsBetween(at.ID, end.ID, l.part) {
		if b.last < b.first {
			break
		}
		if _, at, err = l.readPart(b, at.Hash, s, memory, pause); err != nil {
			return err
		}
	}
	if at.Hash != end.Hash {
		return damagedRecords("record %d is not the one that was written", end.ID)
	}
	return nil
}

// Report is what an opened ledger was found to hold. Opening verifies all of it.
type Report struct {
	Path      string
	Directory string
	Bytes     int64  // of the file
	Records   uint64 // of the ledger, the archived ones included
	Archived  uint64 // of them: those that are in archives
	Entries   map[EntryKind]uint64
	Outcomes  map[record.Outcome]uint64
	Budgets   int
	First     time.Time // of the first record of the file; zero when there is none
	Last      time.Time
	Marked    uint64 // the record of the high-water mark; NoMark: there is none
	Answers   int64  // bytes of stored answers
}

// NoMark stands for a high-water mark that is missing.
const NoMark = ^uint64(0)

// Report says what the ledger holds.
func (l *Ledger) Report() (Report, error) {
	if err := l.searchable(context.Background()); err != nil {
		return Report{}, err
	}
	r := Report{Path: l.path, Directory: l.directory, Marked: NoMark, Entries: map[EntryKind]uint64{}, Outcomes: map[record.Outcome]uint64{}}
	info, err := os.Stat(l.path)
	if err != nil {
		return Report{}, err
	}
	r.Bytes = info.Size()
	l.mu.Lock()
	r.Budgets = len(l.state.Budgets)
	l.mu.Unlock()
	l.answers.mu.Lock()
	r.Answers = l.answers.size
	l.answers.mu.Unlock()
	l.reading.RLock()
	r.count(l.index)
	l.reading.RUnlock()
	if l.marked != nil {
		r.Marked = l.marked.ID
	}
	r.Archived = l.base.end.ID
	if r.Records == r.Archived {
		return r, nil
	}
	err = l.records([]uint32{uint32(r.Archived + 1), uint32(r.Records)}, func(id uint64, x *record.Record) {
		if id == r.Archived+1 {
			r.First = x.At
		}
		r.Last = x.At
	})
	return r, err
}

func (r *Report) count(x *index.Index) {
	r.Records = uint64(x.Last)
	for kind, name := range kindNames {
		if name != "" {
			r.Entries[name] = x.Kinds[kind].GetCardinality()
		}
	}
	for o, b := range x.Outcomes {
		r.Outcomes[record.Outcome(o)] = b.GetCardinality()
	}
}
