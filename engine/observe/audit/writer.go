package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"scrim/internal/durable"
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

const day = "2006-01-02"

var fileName = regexp.MustCompile(`^audit-(\d{6,})-(\d{4}-\d{2}-\d{2})\.jsonl$`)

// file is one of the log's files.
type file struct {
	name   string
	number int
	begun  time.Time // midnight, UTC
}

// files lists the log's files in dir, oldest first. Other files are none of ours.
func files(dir string) ([]file, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	var out []file
	for _, e := range entries {
		m := fileName.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		n, nerr := strconv.Atoi(m[1])
		begun, derr := time.Parse(day, m[2])
		if nerr == nil && derr == nil {
			out = append(out, file{e.Name(), n, begun})
		}
	}
	slices.SortFunc(out, func(a, b file) int { return a.number - b.number })
	return out, nil
}

// appender is the file that is written.
type appender struct {
	dir  string
	file file
	f    *os.File
	size int64
}

// resume opens the last file of dir, or begins the first.
func resume(dir string, now time.Time) (*appender, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	all, err := files(dir)
	if err != nil {
		return nil, err
	}
	a := &appender{dir: dir}
	if len(all) == 0 {
		return a, a.next(now)
	}
	a.file = all[len(all)-1]
	return a, a.open(os.O_RDWR)
}

// open opens the file, with O_APPEND always, and ends a line that a crash has torn.
func (a *appender) open(flags int) error {
	f, err := os.OpenFile(filepath.Join(a.dir, a.file.name), flags|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	fi, err := f.Stat()
	if err == nil {
		a.f, a.size = f, fi.Size()
		err = a.endLine()
	}
	if err != nil {
		_ = f.Close()
		return fmt.Errorf("audit: %w", err)
	}
	return nil
}

func (a *appender) endLine() error {
	if a.size == 0 {
		return nil
	}
	var last [1]byte
	if _, err := a.f.ReadAt(last[:], a.size-1); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if last[0] == '\n' {
		return nil
	}
	_, err := a.write([]byte{'\n'})
	return err
}

// write appends, and returns how much of b is in the file.
func (a *appender) write(b []byte) (int, error) {
	n, err := a.f.Write(b)
	a.size += int64(n)
	return n, err
}

// due reports whether a new file is to be begun.
func (a *appender) due(now time.Time, maxSize int64) bool {
	return a.size >= maxSize || now.UTC().Format(day) > a.file.begun.Format(day)
}

// next begins a new file, whose name is on disk when next returns.
func (a *appender) next(now time.Time) error {
	begun := now.UTC().Truncate(24 * time.Hour)
	following := file{number: a.file.number + 1, begun: begun}
	following.name = fmt.Sprintf("audit-%06d-%s.jsonl", following.number, begun.Format(day))
	fresh := &appender{dir: a.dir, file: following}
	if err := fresh.open(os.O_CREATE | os.O_EXCL | os.O_RDWR); err != nil {
		return err
	}
	if err := durable.SyncDir(a.dir); err != nil {
		_ = fresh.f.Close()
		_ = os.Remove(filepath.Join(a.dir, following.name))
		return err
	}
	if a.f != nil {
		_ = a.f.Close()
	}
	*a = *fresh
	return nil
}

// prune removes the files whose last day is more than keep days ago, and returns their names. A
// file's last day is the day on which the next was begun.
func (a *appender) prune(now time.Time, keep int) (removed []string, err error) {
	all, err := files(a.dir)
	if err != nil || keep <= 0 {
		return nil, err
	}
	limit := now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -keep)
	for i, f := range all {
		if f.number >= a.file.number || i+1 >= len(all) || !all[i+1].begun.Before(limit) {
			break
		}
		if err := os.Remove(filepath.Join(a.dir, f.name)); err != nil {
			return removed, fmt.Errorf("audit: %w", err)
		}
		removed = append(removed, f.name)
	}
	return removed, nil
}
