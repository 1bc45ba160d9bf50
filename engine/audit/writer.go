package audit

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
)

// writer is the goroutine that owns the file.
type writer struct {
	log    *Log
	to     *appender
	buf    bytes.Buffer // whole lines
	torn   int          // bytes of the first of them that the file has already
	places int          // that the lines in buf take
	dirty  bool         // something is written and not flushed
	giveUp bool         // a flush failed: the file is not to be used any more
	ledger string       // what the last record said of the ledger
	pruned string       // the day on which old files were looked for
}

func (w *writer) run() {
	defer close(w.log.done)
	tick := time.NewTicker(w.log.o.every)
	defer tick.Stop()
	w.prune()
	for {
		select {
		case r := <-w.log.records:
			w.encode(r)
			w.gather(batch)
			if !w.log.failing.Load() {
				w.write()
			}
		case <-tick.C:
			w.write()
			w.flush()
			w.prune()
		case <-w.log.closing:
			w.gather(1 << 40)
			w.write()
			w.flush()
			if w.log.failing.Load() {
				w.log.o.Log.Error().Int("records", w.places).Msg("the last records of the audit log could not be written")
			}
			w.log.end = w.to.f.Close()
			return
		}
	}
}

// batch bounds what is written at a time, in bytes.
const batch = 1 << 20

// gather encodes the records that wait.
func (w *writer) gather(limit int) {
	for w.buf.Len() < limit {
		select {
		case r := <-w.log.records:
			w.encode(r)
		default:
			return
		}
	}
}

func (w *writer) encode(r Record) {
	w.places++
	if follow := w.log.follow.Load(); follow != nil {
		if now := (*follow)(); now != w.ledger {
			r.Ledger, w.ledger = now, now
		}
	}
	w.line(r)
}

func (w *writer) line(r Record) {
	e := json.NewEncoder(&w.buf)
	e.SetEscapeHTML(false)
	_ = e.Encode(r) // of strings and numbers: it does not fail
}

// write appends what waits. What the disk did not take stays, and its places stay taken.
func (w *writer) write() {
	if n := w.log.lost.Swap(0); n > 0 {
		w.line(Record{Time: w.log.o.now().UTC(), Kind: Lost, Missing: n})
	}
	failing := w.log.failing.Load()
	if w.buf.Len() == 0 && !failing || !w.rotate() {
		return
	}
	n, err := w.to.write(w.buf.Bytes()[w.torn:])
	w.dirty = w.dirty || n > 0
	if err != nil {
		w.keepFrom(w.torn + n)
		w.fail(err)
		return
	}
	w.buf.Reset()
	w.torn = 0
	for range w.places {
		<-w.log.places
	}
	w.places = 0
	if failing {
		w.recovered()
	}
}

// recovered ends a failure when the disk has taken a flush, too.
func (w *writer) recovered() {
	w.dirty = true
	w.flush()
	if !w.giveUp {
		w.log.failing.Store(false)
		w.log.o.Log.Warn().Msg("the audit log is written again")
	}
}

// keepFrom drops the lines that the file has whole of its first n bytes; their places are given
// back with the rest's.
func (w *writer) keepFrom(n int) {
	whole := bytes.LastIndexByte(w.buf.Bytes()[:n], '\n') + 1
	w.buf.Next(whole)
	w.torn = n - whole
}

// rotate begins a new file where one is due, and reports whether there is one to write to.
func (w *writer) rotate() bool {
	now := w.log.o.now()
	if !w.giveUp && (w.torn > 0 || !w.to.due(now, w.log.o.MaxSize)) {
		return true
	}
	if !w.giveUp {
		w.flush()
	}
	if err := w.to.next(now); err != nil {
		w.fail(err)
		return false
	}
	w.giveUp, w.dirty, w.torn = false, false, 0
	w.ledger = "" // every file says it anew
	return true
}

func (w *writer) flush() {
	if !w.dirty || w.giveUp {
		return
	}
	if err := w.to.f.Sync(); err != nil {
		w.giveUp = true
		w.fail(err)
		return
	}
	w.dirty = false
}

func (w *writer) fail(err error) {
	if !w.log.failing.Swap(true) {
		w.log.o.Log.Error().Err(err).Str("then", string(w.log.o.OnFailure)).Msg("the audit log cannot be written")
	}
}

// prune removes old files, once a day and after the retention has changed.
func (w *writer) prune() {
	now, days := w.log.o.now(), int(w.log.days.Load())
	if today := now.UTC().Format(day) + "/" + strconv.Itoa(days); today != w.pruned {
		w.pruned = today
		removed, err := w.to.prune(now, days)
		if err != nil {
			w.log.o.Log.Warn().Err(err).Msg("old files of the audit log could not be removed")
		}
		if len(removed) > 0 {
			w.log.o.Log.Info().Strs("files", removed).Int("days", days).Msg("old files of the audit log are removed")
		}
	}
}
