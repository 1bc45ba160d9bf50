package witness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"
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
