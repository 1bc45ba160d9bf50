package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"scrim/engine/observe/watch"
)

// Policy says what happens to statements while the log cannot be written.
type Policy string

// The policies.
const (
	Refuse Policy = "refuse" // none runs
	Count  Policy = "count"  // they run, and the log says later how many records are missing
)

// ErrUnavailable is what Admit returns while the log takes no records.
var ErrUnavailable = errors.New("audit: the log cannot be written")

// Options say how a log is kept. Dir is required.
type Options struct {
	Dir       string
	MaxSize   int64 // bytes after which a new file is begun, by default 64 MiB
	Days      int   // days that files are kept; 0 keeps all
	OnFailure Policy
	// records that wait to be written, and statements that run, at most; by default 4096
	Queue int
	Log   zerolog.Logger
	now   func() time.Time
	every time.Duration // between flushes
}

func (o Options) withDefaults() Options {
	o.MaxSize = cmp.Or(o.MaxSize, 64<<20)
	o.OnFailure = cmp.Or(o.OnFailure, Refuse)
	o.Queue = cmp.Or(o.Queue, 4096)
	if o.now == nil {
		o.now = time.Now
	}
	o.every = cmp.Or(o.every, time.Second)
	return o
}

// Log is an open audit log. A nil Log takes every record and keeps none. It is safe for concurrent
// use.
type Log struct {
	o       Options
	days    atomic.Int64
	places  chan struct{} // one element a place that is taken
	records chan Record
	failing atomic.Bool
	lost    atomic.Uint64 // not yet told in the log
	total   atomic.Uint64
	follow  atomic.Pointer[func() string]
	closing chan struct{}
	once    sync.Once
	done    chan struct{}
	end     error
}

// Open opens or begins the log in a directory, which it creates.
func Open(o Options) (*Log, error) {
	o = o.withDefaults()
	a, err := resume(o.Dir, o.now())
	if err != nil {
		return nil, err
	}
	l := &Log{
		o: o, places: make(chan struct{}, o.Queue), records: make(chan Record, o.Queue),
		closing: make(chan struct{}), done: make(chan struct{}),
	}
	l.days.Store(int64(o.Days))
	w := &writer{log: l, to: a}
	go w.run()
	return l, nil
}

// Keep changes how many days files are kept.
func (l *Log) Keep(days int) {
	if l != nil {
		l.days.Store(int64(days))
	}
}

// Missing is the number of records that were lost since the log was opened.
func (l *Log) Missing() uint64 {
	if l == nil {
		return 0
	}
	return l.total.Load()
}

// Failing reports whether the disk does not take what is written.
func (l *Log) Failing() bool { return l != nil && l.failing.Load() }

// Place is a place for one record. The zero Place belongs to no log.
type Place struct {
	l     *Log
	taken bool
}

// Admit takes a place. It never waits. The error is ErrUnavailable, and comes under the policy
// Refuse only; a record that is written all the same counts as lost.
func (l *Log) Admit() (Place, error) {
	if l == nil {
		return Place{}, nil
	}
	if l.o.OnFailure == Refuse && l.failing.Load() {
		return Place{l: l}, ErrUnavailable
	}
	select {
	case l.places <- struct{}{}:
		return Place{l, true}, nil
	default:
	}
	if l.o.OnFailure == Refuse {
		return Place{l: l}, ErrUnavailable
	}
	return Place{l: l}, nil
}

// Write puts the record into the place, which is used up. Without a place it counts as lost. A
// record without a time gets the present one.
func (p *Place) Write(r Record) {
	switch {
	case p.l == nil:
	case p.taken:
		if r.Time.IsZero() {
			r.Time = p.l.o.now().UTC()
		}
		p.l.records <- r // there is room: a record in it has a place
	default:
		p.l.miss(1)
	}
	*p = Place{}
}

// Free gives the place back.
func (p *Place) Free() {
	if p.taken {
		<-p.l.places
	}
	*p = Place{}
}

// Write records what is no statement. It never waits and never fails: a record for which there is
// no place counts as lost.
func (l *Log) Write(r Record) {
	if l == nil {
		return
	}
	p := Place{l: l}
	select {
	case l.places <- struct{}{}:
		p.taken = true
	default:
	}
	p.Write(r)
}

func (l *Log) miss(n int) {
	l.lost.Add(uint64(n))
	l.total.Add(uint64(n))
}

// Close writes and flushes what waits, and logs what the disk does not take. Nothing may be
// admitted afterwards.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.once.Do(func() { close(l.closing) })
	<-l.done
	return l.end
}

// Follow has every later record say where the ledger ended when it was written, where that is not
// what the record before says.
func (l *Log) Follow(ledger func() string) {
	if l != nil {
		l.follow.Store(&ledger)
	}
}

// LastLedger returns what the last record in dir that speaks of the ledger says of it; "" where
// none does, or where there is no log.
func LastLedger(dir string) (string, error) {
	all, err := files(dir)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for _, f := range slices.Backward(all) {
		if last, err := lastLedger(filepath.Join(dir, f.name)); err != nil || last != "" {
			return last, err
		}
	}
	return "", nil
}

// lastLedger is LastLedger of one file. A line that a crash has torn says nothing.
func lastLedger(path string) (last string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("audit: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", err // a device has no end
	}
	for in := bufio.NewReaderSize(f, 1<<16); ; {
		line, err := in.ReadBytes('\n')
		var r struct{ Ledger string }
		if bytes.Contains(line, []byte(`"ledger":`)) && json.Unmarshal(line, &r) == nil && r.Ledger != "" {
			last = r.Ledger
		}
		switch {
		case err == io.EOF:
			return last, nil
		case err != nil:
			return "", fmt.Errorf("audit: %w", err)
		}
	}
}

// Kind is what a record is of.
type Kind string

// The kinds.
const (
	Statement    Kind = "statement"
	Login        Kind = "login"
	LoginRefused Kind = "login refused"
	Logout       Kind = "logout"
	Start        Kind = "start"  // of the server; Note says which
	Ledger       Kind = "ledger" // is open, and is as far as it is known to have been
	Stop         Kind = "stop"   // of the server, in good order
	Reload       Kind = "reload" // of the configuration; Note lists what changed
	Backup       Kind = "backup" // Note says where to
	Lost         Kind = "lost"   // Missing records are not in the log
	// one that is older than it was known to be; Note says why
	Accepted Kind = "ledger accepted"
	Damaged  Kind = "ledger damaged"  // found while the server runs; Note says where
	Archived Kind = "ledger archived" // its older records are in an archive; Note says which
	// the data directory is, or may be, in use in a second place; Note says how that is known
	Elsewhere Kind = "elsewhere"
	// what a schedule had the server do by itself; Note says why it was not done, if it was not
	Scheduled Kind = "scheduled"
)

// Record is one line.
type Record struct {
	Time       time.Time `json:"time"`
	Kind       Kind      `json:"kind"`
	ID         string    `json:"id,omitempty"`
	Connection uint32    `json:"connection,omitempty"`
	Principal  string    `json:"principal,omitempty"`
	From       string    `json:"from,omitempty"`
	Database   string    `json:"database,omitempty"`
	Statement  string    `json:"statement,omitempty"`
	Digest     string    `json:"digest,omitempty"`
	Outcome    string    `json:"outcome,omitempty"`
	Errno      int       `json:"errno,omitempty"`
	SQLState   string    `json:"sqlstate,omitempty"`
	Cause      string    `json:"cause,omitempty"`
	Private    bool      `json:"private,omitempty"`
	Replayed   int       `json:"replayed,omitempty"`
	Charged    int       `json:"charged,omitempty"`
	Tables     []string  `json:"tables,omitempty"`
	Millis     float64   `json:"ms,omitempty"`
	Note       string    `json:"note,omitempty"`
	Missing    uint64    `json:"missing,omitempty"`
	// Ledger is where the ledger ended when the record was written, where that has changed since
	// the record before.
	Ledger string `json:"ledger,omitempty"`
}

// Of is the record of a statement.
func Of(e watch.Event) Record {
	return Record{
		Time: e.At.UTC(), Kind: Statement, ID: e.ID, Connection: e.Client, Principal: e.Principal, Database: e.Database,
		Statement: e.Statement, Digest: e.Digest, Outcome: string(e.Outcome), Errno: e.Errno, SQLState: e.SQLState, Cause: e.Cause,
		Private: e.Private, Replayed: e.Replayed, Charged: e.Charged, Tables: e.Tables,
		Millis: float64(e.Duration.Microseconds()) / 1000,
	}
}
