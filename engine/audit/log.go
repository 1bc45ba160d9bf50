package audit

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
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
	if o.MaxSize == 0 {
		o.MaxSize = 64 << 20
	}
	if o.OnFailure == "" {
		o.OnFailure = Refuse
	}
	if o.Queue == 0 {
		o.Queue = 4096
	}
	if o.now == nil {
		o.now = time.Now
	}
	if o.every == 0 {
		o.every = time.Second
	}
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
