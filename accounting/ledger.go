package accounting

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/budget"
	"scrim/accounting/internal/boltfile"
	"scrim/accounting/internal/chain"
	"scrim/accounting/internal/index"
	"scrim/accounting/internal/invalid"
	"scrim/accounting/internal/state"
	"scrim/accounting/record"
)

// Options of Open. DirectoryID is required.
type Options struct {
	// DirectoryID names the data directory that the ledger belongs to. A ledger with another
	// one is refused.
	DirectoryID string
	// Create makes the file when it does not exist. Set it only for a data directory that is
	// new: otherwise a lost ledger would come back empty.
	Create bool
	// Now is the clock; time.Now when nil.
	Now func() time.Time
	// AnswerBytes bounds the stored answers, keys included; 64 MiB when zero. The oldest go
	// first.
	AnswerBytes int64
	// Accept takes a ledger that is older than its high-water mark, or that has none; see
	// Acceptance. Nil refuses it.
	Accept *Acceptance
	// ReadOnly opens the ledger without ever writing to its files. All that would write is
	// refused with ErrUnavailable.
	ReadOnly bool
	// Progress, which may be nil, is told how many of the records are read and verified while
	// the ledger opens.
	Progress func(done, total int64)
	// Checkpoints has the opening begin at the last checkpoint, and verify in the background
	// what was before it. Damage that is found then ends the ledger: all is refused with
	// ErrUnavailable and ErrDamaged. New checkpoints are written while the ledger is open.
	// Without it, or where ReadOnly or Accept is set, all is verified before Open returns.
	Checkpoints bool
	// Upkeep, which may be nil, is told whenever the work in the background has come to
	// something. It must not wait.
	Upkeep func(Upkeep)
	// LockTimeout is how long to wait for another process to close the file; one second when
	// zero.
	LockTimeout time.Duration

	part    uint64 // records of a part, a multiple of blockSize; partSize when zero
	archive bool   // the file is an archive
}

// Ledger is the privacy account: budgets, spending and the record of both, in one file. All methods
// are safe for concurrent use.
type Ledger struct {
	path      string
	directory string
	db        *bolt.DB
	now       func() time.Time
	answers   answerStore

	mu    sync.Mutex // never held while a file is touched
	state *state.State
	next  *batch // what the committer takes next
	armed bool   // a timer for next is running
	fault error  // why nothing works any more; nil while all is well

	renewing sync.Mutex // held by Renew and ResetBudget, so that either sees the other's record

	reading sync.RWMutex // for index; never taken together with mu
	index   *index.Index

	durable atomic.Pointer[chain.Mark] // the last record that a sync has made durable

	// The committer's own, once it runs:
	end   chain.Mark // the last durable record
	chain *chain.Chainer
	mark  *marker // nil when ReadOnly

	up upkeep

	// As they were when the ledger was opened:
	key      chain.Key
	base     cut         // before the first record of the file
	part     uint64      // how many records make a part
	archive  bool        // it is an archive
	accepted chain.Mark  // the end
	marked   *chain.Mark // the high-water mark; nil: none

	wake    chan struct{} // capacity 1
	closing chan struct{}
	stopped chan struct{}
	once    sync.Once

	hook func(point string) error // tests stop or fail the committer here; nil otherwise
}

var (
	errClosed   = fmt.Errorf("%w: closed", ErrUnavailable)
	errReadOnly = fmt.Errorf("%w: opened for reading only", ErrUnavailable)
)

// lazyDelay is how long records that nobody waits for (outcomes, stored answers) may wait for a
// commit to share.
const lazyDelay = 50 * time.Millisecond

// Close writes what is queued and releases the file. Every later call is refused with
// ErrUnavailable.
func (l *Ledger) Close() error {
	var err error
	l.once.Do(func() {
		close(l.closing)
		<-l.stopped
		<-l.up.idle
		l.mu.Lock()
		switch l.fault {
		case errClosed:
		case errReadOnly:
			l.fault = errClosed
		default:
			err = l.fault
		}
		l.mu.Unlock()
		if l.mark != nil {
			if e := l.mark.close(); err == nil && e != nil {
				err = fmt.Errorf("%w: %v", ErrUnavailable, e)
			}
		}
		if e := boltfile.Guard(l.db.Close); err == nil && e != nil {
			err = fmt.Errorf("%w: %v", ErrUnavailable, e)
		}
	})
	return err
}

// Err returns nil while the ledger works, else an error that is ErrUnavailable and says why.
func (l *Ledger) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fault
}

// usable returns nil while the ledger can be read.
func (l *Ledger) usable() error {
	if err := l.Err(); err != errReadOnly {
		return err
	}
	return nil
}

// searchable waits until the index holds all records, and returns nil while the ledger can be read.
func (l *Ledger) searchable(ctx context.Context) error {
	if err := l.usable(); err != nil {
		return err
	}
	select {
	case <-l.up.indexed:
	case <-l.closing:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	return l.usable()
}

// stamp gives a record its time, as it will be read back, and its day. l.mu is held.
func (l *Ledger) stamp(r *record.Record) {
	now := l.now()
	r.At = time.Unix(0, now.UnixNano()).UTC()
	r.Day = max(l.state.LastDay, budget.DateOf(now))
}

// append books a record and queues it for the committer. l.mu is held. The record is not durable
// before the batch is done.
func (l *Ledger) append(r *record.Record) (uint64, *batch, error) {
	if l.state.LastID >= index.MaxRecords {
		return 0, nil, fmt.Errorf("%w: %s holds %d records, which is all that it can; start a new data directory", ErrUnavailable, l.path, uint64(index.MaxRecords))
	}
	if err := l.state.Apply(r); err != nil {
		return 0, nil, fmt.Errorf("accounting: %w", err)
	}
	r.Print = record.Fingerprint(r.Digest)
	l.next.records = append(l.next.records, r)
	return l.state.LastID, l.next, nil
}

// wait wakes the committer and waits for b. When ctx ends first it returns ctx's error; what is
// queued is written nevertheless.
func (l *Ledger) wait(ctx context.Context, b *batch) error {
	l.signal()
	select {
	case <-b.done:
		return b.err
	case <-ctx.Done():
		// Both may be ready: what is durable is not reported as cancelled.
		select {
		case <-b.done:
			return b.err
		default:
			return fmt.Errorf("accounting: %w", ctx.Err())
		}
	}
}

func (l *Ledger) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// later makes sure that the next batch is written soon although nobody waits for it. l.mu is held.
func (l *Ledger) later() {
	if !l.armed {
		l.armed = true
		time.AfterFunc(lazyDelay, l.signal)
	}
}

// Note writes a record that costs nothing: that raw access was switched on, and the like. kind is a
// word for searching. It returns when the record is durable.
func (l *Ledger) Note(principal, kind, text string) error {
	if err := budget.CheckName("principal", principal); err != nil {
		return err
	}
	if err := budget.CheckName("kind", kind); err != nil {
		return err
	}
	return l.record(context.Background(), &record.Record{
		Kind: record.Note, Principal: principal, NoteKind: kind, Text: budget.Clip(text),
	})
}

// Replayed records that a stored answer was given again, at no cost: of is the record of the charge
// that paid for it, 0 where that is not known, and tables are the accounts that it reads. It does
// not wait, and what cannot be written is lost.
func (l *Ledger) Replayed(principal, statement, digest string, of uint64, tables []string) {
	if budget.CheckName("principal", principal) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault != nil || of > l.state.LastID {
		return
	}
	r := &record.Record{
		Kind: record.Replay, Principal: principal, Statement: budget.Clip(statement), Digest: budget.Clip(digest),
		Charge: of, Tables: unique(tables),
	}
	l.stamp(r)
	if _, _, err := l.append(r); err == nil {
		l.later()
	}
}

// record stamps, books and commits a record without a charge.
func (l *Ledger) record(ctx context.Context, r *record.Record) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("accounting: %w", err)
	}
	l.mu.Lock()
	if l.fault != nil {
		defer l.mu.Unlock()
		return l.fault
	}
	l.stamp(r)
	r.Budget.SetBy, r.Budget.SetAt = r.Principal, r.At // as when it is read back
	_, b, err := l.append(r)
	l.mu.Unlock()
	if err != nil {
		return err
	}
	return l.wait(ctx, b)
}

// Position is a place in a ledger's chain: a record and its hash, which stands for all records up
// to it.
type Position struct {
	Record uint64    `json:"record"` // 0 before the first
	At     time.Time `json:"at"`     // of the record
	Hash   string    `json:"hash"`
}

// String is the position in one line: record, nanoseconds since 1970 and hash. ParsePosition reads
// it.
func (p Position) String() string {
	return fmt.Sprintf("%d %d %s", p.Record, p.At.UnixNano(), p.Hash)
}

// ParsePosition reads what String writes.
func ParsePosition(text string) (p Position, err error) {
	f := strings.Fields(text)
	if len(f) != 3 {
		return p, fmt.Errorf("accounting: %q is no position of a ledger: want record, time and hash", text)
	}
	id, e1 := strconv.ParseUint(f[0], 10, 64)
	nanos, e2 := strconv.ParseInt(f[1], 10, 64)
	hash, e3 := hex.DecodeString(f[2])
	if e1 != nil || e2 != nil || e3 != nil || len(hash) != len(chain.Sum{}) {
		return p, fmt.Errorf("accounting: %q is no position of a ledger: want record, time and hash", text)
	}
	return Position{id, time.Unix(0, nanos).UTC(), f[2]}, nil
}

// Position is where the ledger ends: its last record that is known to be durable. It may be written
// elsewhere: no crash leaves a ledger that ends before it. It is known still after Close.
func (l *Ledger) Position() Position {
	return positionOf(*l.durable.Load())
}

// LastID is the id of the last record, which may not be durable yet.
func (l *Ledger) LastID() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.LastID
}

func positionOf(m chain.Mark) Position { return Position{m.ID, m.At, hex.EncodeToString(m.Hash[:])} }

// Continues reports whether the ledger has the record of p with the same hash: then it holds
// everything that a ledger holds which ends there, and perhaps more.
func (l *Ledger) Continues(p Position) (bool, error) {
	want, err := hex.DecodeString(p.Hash)
	if err != nil || len(want) != len(chain.Sum{}) {
		return false, fmt.Errorf("accounting: %q is no hash of a record", p.Hash)
	}
	have, found, err := l.hashAt(p.Record)
	return found && bytes.Equal(have[:], want), err
}

// hashAt returns the hash of a record as it is stored, if there is one.
func (l *Ledger) hashAt(id uint64) (hash chain.Sum, found bool, err error) {
	switch {
	case id == 0:
		return l.chain.Genesis(l.directory), true, nil
	case id == l.base.end.ID:
		return l.base.end.Hash, true, nil
	case id < l.base.end.ID:
		return l.archivedHash(id)
	}
	err = boltfile.Guard(func() error {
		return l.db.View(func(tx *bolt.Tx) error {
			v := tx.Bucket(chain.Records).Get(chain.RecordKey(id))
			if found = len(v) >= len(hash); found {
				hash = chain.Sum(v[:len(hash)])
			}
			return nil
		})
	})
	return hash, found, err
}

// Acceptance takes a ledger that does not reach its high-water mark, or has none: that of a backup.
// What was charged after it is then not in the account any more, so somebody has to say that this
// is known. It is recorded, as a note of kind RestoreNote.
type Acceptance struct {
	Of     time.Time // the UTC day of the ledger's last record, or the refusal says which it is
	By     string    // who accepts it
	Reason string
}

// RestoreNote is the kind of the note that records an Acceptance, and of that of a restore of data
// beside a ledger that stays, whose text ends with LedgerStays.
const (
	RestoreNote = "restore"
	LedgerStays = "; the ledger stays"
)

func (a *Acceptance) check(o *Options) error {
	switch {
	case a == nil:
		return nil
	case o.ReadOnly:
		return invalid.New("a ledger that is opened for reading cannot be accepted: that is recorded")
	}
	return budget.CheckName("accepted by", a.By)
}

func (a *Acceptance) text(l *Ledger) string {
	t := fmt.Sprintf("accepted the ledger of %s, which ends at record %d", a.Of.UTC().Format(time.DateOnly), l.accepted.ID)
	if a.Reason != "" {
		t += ": " + a.Reason
	}
	return budget.Clip(t)
}

// checkMark compares the loaded ledger with its mark. A reader may do without one.
func (l *Ledger) checkMark(o Options) error {
	l.accepted = l.end
	path := l.path + MarkSuffix
	m, err := readMark(path, chain.New(l.key.Derive("mark")))
	if err == nil {
		l.marked = &m
		err = l.reaches(m)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errNoMark) && o.ReadOnly:
		return nil
	case !errors.Is(err, ErrOlder):
		return err
	}
	day := l.end.At.UTC().Format(time.DateOnly)
	if o.Accept != nil && o.Accept.Of.UTC().Format(time.DateOnly) == day {
		return replaceMark(path)
	}
	return fmt.Errorf("%w. The ledger ends at record %d of %s. Put back the newest ledger. If there is none, scrim restore --accept-ledger-of %s takes this one, "+
		"and records that; charges made since are then unknown, so lower the budgets by what may have been spent", err, l.end.ID, day, day)
}

// reaches checks that the ledger holds what the mark knows to have been durable.
func (l *Ledger) reaches(m chain.Mark) error {
	if m.ID > l.end.ID {
		return fmt.Errorf("%w: %s has %d records, but there were %d on %s", ErrOlder, l.path, l.end.ID, m.ID, m.At.Format(time.DateOnly))
	}
	have, _, err := l.hashAt(m.ID)
	switch {
	case errors.Is(err, ErrArchive):
		return fmt.Errorf("%w: %s knows an older record than those of the ledger: %w", ErrOlder, l.path+MarkSuffix, err)
	case err != nil:
		return damaged(l.path, err)
	}
	if have != m.Hash {
		return fmt.Errorf("%w: %s went on from an older copy: its record %d is not the one that was written on %s", ErrOlder, l.path, m.ID, m.At.Format(time.DateOnly))
	}
	return nil
}
