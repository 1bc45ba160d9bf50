package witness

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"scrim/internal/durable"
	"scrim/internal/lists"
)

// Entry is one line.
type Entry struct {
	Time      time.Time `json:"time"`
	Directory string    `json:"directory"`
	Run       string    `json:"run"`
	Position  string    `json:"position"`
	// why the position may be an older one than the line before has
	Note string `json:"note,omitempty"`
}

// place is where the lines are.
type place interface {
	// tail returns the end of the list, which begins with a whole line.
	tail() ([]byte, error)
	// add adds a line, which is durable then.
	add(line []byte) error
}

// Witness is a second place that knows how far the ledger of one directory had come.
type Witness struct {
	where     string
	directory string
	place     place
}

// At returns the witness at a path or an http(s) URL, for the directory of that id. It opens
// nothing.
func At(where, directory string) *Witness {
	w := &Witness{where: where, directory: directory, place: file(where)}
	if IsURL(where) {
		w.place = address(where)
	}
	return w
}

// IsURL reports whether a witness is an HTTP address.
func IsURL(where string) bool {
	return strings.HasPrefix(where, "http://") || strings.HasPrefix(where, "https://")
}

// Check reports what is wrong with the place of a witness for the data directory; nil when nothing
// is.
func Check(where, dataDir string) error {
	if IsURL(where) {
		if u, err := url.Parse(where); err != nil || u.Host == "" {
			return fmt.Errorf("witness %q: want a path, or an address such as https://host/path", where)
		}
		return nil
	}
	path, err := filepath.Abs(where)
	if err != nil {
		return fmt.Errorf("witness %q: %w", where, err)
	}
	if dir, err := filepath.Abs(dataDir); err == nil && strings.HasPrefix(path, dir+string(filepath.Separator)) {
		return fmt.Errorf("witness %q is in the data directory, with which it would be rolled back: want a file on another disk, or a URL", where)
	}
	return nil
}

// String is where the witness is.
func (w *Witness) String() string { return w.where }

// Last returns the last entry; ok is false where there is none yet.
func (w *Witness) Last() (e Entry, ok bool, err error) {
	text, err := w.place.tail()
	if err != nil {
		return e, false, fmt.Errorf("witness %s: %w", w.where, err)
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	if len(lines) == 1 && len(lines[0]) == 0 {
		return e, false, nil
	}
	for i := len(lines) - 1; i >= 0; i-- {
		if e = (Entry{}); json.Unmarshal(lines[i], &e) != nil || e.Position == "" {
			continue // torn by a crash
		}
		if e.Directory != w.directory {
			return e, false, fmt.Errorf("witness %s is another data directory's (%s, and this is %s): give each its own", w.where, e.Directory, w.directory)
		}
		return e, true, nil
	}
	return e, false, fmt.Errorf("witness %s holds no position; if it was meant for this, put back what it held", w.where)
}

// Add adds an entry, with the time and the directory's id.
func (w *Witness) Add(e Entry) error {
	e.Time, e.Directory = time.Now().UTC(), w.directory
	line, err := json.Marshal(e)
	if err == nil {
		err = w.place.add(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("witness %s: %w", w.where, err)
	}
	return nil
}

// address is a witness at an HTTP address.
type address string

// client does not follow a redirect, which would turn a POST into a GET.
var client = &http.Client{
	Timeout:       5 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (a address) tail() ([]byte, error) {
	r, err := client.Get(string(a))
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	switch r.StatusCode {
	case http.StatusNotFound, http.StatusNoContent:
		return nil, nil
	case http.StatusOK:
		return io.ReadAll(io.LimitReader(r.Body, tailSize))
	}
	return nil, fmt.Errorf("GET: have status %s, want 200, or 404 where there is no line", r.Status)
}

func (a address) add(line []byte) error {
	r, err := client.Post(string(a), "application/json", bytes.NewReader(line))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode/100 != 2 {
		return fmt.Errorf("POST: have status %s, want 200", r.Status)
	}
	return nil
}

// file is a witness at a path.
type file string

// tailSize is what is read of a file's end: far more than a line.
const tailSize = 64 << 10

func (f file) tail() ([]byte, error) {
	in, err := os.Open(string(f))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, info.Size()-tailSize)
	text, err := io.ReadAll(io.NewSectionReader(in, from, tailSize))
	if from > 0 {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return text, err
}

func (f file) add(line []byte) error {
	if done, err := f.compacted(line); done {
		return err
	}
	_, err := os.Lstat(string(f)) // what cannot be cut down grows
	fresh := errors.Is(err, os.ErrNotExist)
	out, err := os.OpenFile(string(f), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	line = append(unended(out), line...)
	_, err = out.Write(line)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil || !fresh {
		return err
	}
	return durable.SyncDir(filepath.Dir(string(f)))
}

// unended returns the end of line that the last line of f lacks since a crash, if it does.
func unended(f *os.File) []byte {
	info, err := f.Stat()
	var last [1]byte
	if err != nil || info.Size() == 0 {
		return nil
	}
	if _, err := f.ReadAt(last[:], info.Size()-1); err != nil || last[0] == '\n' {
		return nil
	}
	return []byte("\n")
}

// mostFile is the size from which a file is cut down to the newest line of each directory: some
// 5000 lines, far more than is ever read.
const mostFile = 1 << 20

// compacted replaces a file that has grown by the newest line of each directory and a further one;
// ok is false where it has not: the file is small, is no file that can be replaced, or holds no
// position.
//
// The new file is whole and durable before it takes the old one's name, so a crash leaves one of
// the two, and each of them ends with a newest line. What another process adds to the old file
// between the two is lost; the next line that either writes tells both of each other.
func (f file) compacted(line []byte) (ok bool, err error) {
	path, err := filepath.EvalSymlinks(string(f))
	if err != nil {
		return false, err
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() <= mostFile || !info.Mode().IsRegular() {
		return false, err
	}
	kept, err := newest(path)
	if err != nil || len(kept) == 0 {
		return false, err
	}
	if err := durable.Replace(path, info.Mode().Perm(), durable.Bytes(append(bytes.Join(kept, nil), line...))); err != nil {
		return false, err
	}
	return true, nil
}

// newest returns the last line of each directory, the last of all at the end.
func newest(path string) (lines [][]byte, err error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	last, order := map[string][]byte{}, []string(nil)
	s := bufio.NewScanner(in)
	s.Buffer(nil, tailSize)
	for s.Scan() {
		var e Entry
		if json.Unmarshal(s.Bytes(), &e) != nil || e.Position == "" {
			continue // torn by a crash
		}
		if _, known := last[e.Directory]; known {
			order = slices.DeleteFunc(order, func(d string) bool { return d == e.Directory })
		}
		order = append(order, e.Directory)
		last[e.Directory] = append(bytes.Clone(s.Bytes()), '\n')
	}
	lines = append(lines, lists.Map(order, func(d string) []byte { return last[d] })...)
	return lines, s.Err()
}

// Keeper keeps a witness up to date while a server runs.
type Keeper struct {
	w    *Witness
	run  string
	now  func() string
	tell func(Report)
	said Report

	written string // the position of our last line
	stop    chan struct{}
	done    chan struct{}
	once    sync.Once
}

// Report says how a witness is. It is told when it changes.
type Report struct {
	Failing error  // why it cannot be read or written; nil: it can
	Other   *Entry // the line of another process that was found behind our own, the first one
}

// The witness is looked at every second for a position that has changed, and every half minute for
// another process.
const (
	every = time.Second
	looks = 30
)

// Keep writes the first line, and then goes on by itself until Close. now is the position at that
// moment, and tell hears what Report says, from one goroutine.
func (w *Witness) Keep(now func() string, tell func(Report)) (*Keeper, error) {
	b := make([]byte, 8)
	if _, err := rand.Read(b); err != nil {
		return nil, err
	}
	k := &Keeper{w: w, run: hex.EncodeToString(b), now: now, tell: tell, stop: make(chan struct{}), done: make(chan struct{})}
	if err := k.add(); err != nil {
		return nil, err
	}
	go k.keep()
	return k, nil
}

func (k *Keeper) keep() {
	defer close(k.done)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-tick.C:
			if n%looks == 0 || k.now() != k.written {
				k.step()
			}
		case <-k.stop:
			k.step()
			return
		}
	}
}

// step looks for another process's line, adds ours where the position has changed, and tells what
// is new.
func (k *Keeper) step() {
	r := Report{Other: k.said.Other}
	last, ok, err := k.w.Last()
	if err == nil && ok && last.Run != k.run && r.Other == nil {
		r.Other = &last
	}
	if err == nil && (k.now() != k.written || ok && last.Run != k.run) {
		err = k.add()
	}
	r.Failing = err
	if (r.Failing == nil) != (k.said.Failing == nil) || r.Other != k.said.Other {
		k.tell(r)
	}
	k.said = r
}

// add writes the position of the moment. After another's line it says so to the other, too.
func (k *Keeper) add() error {
	now := k.now()
	err := k.w.Add(Entry{Run: k.run, Position: now})
	if err == nil {
		k.written = now
	}
	return err
}

// Close writes the last position.
func (k *Keeper) Close() {
	if k != nil {
		k.once.Do(func() { close(k.stop) })
		<-k.done
	}
}
