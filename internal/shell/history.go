package shell

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// kept is how many statements of the history file are read.
const kept = 1000

// secret finds statements that may hold a password, or a contributor's token.
var secret = regexp.MustCompile(`(?i)\b(identified|password|dp_in)\b`)

// history is what was typed, oldest first: a line of the file for each, quoted as Go does, so that
// a statement of several lines is one.
type history struct {
	path  string
	items []string
}

// openHistory reads the file, which need not be there; path "" keeps the history in memory.
func openHistory(path string) (*history, error) {
	h := &history{path: path}
	if path == "" {
		return h, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return h, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		if item, err := strconv.Unquote(lines.Text()); err == nil {
			h.items = append(h.items, item)
		}
	}
	h.items = h.items[max(len(h.items)-kept, 0):]
	return h, lines.Err()
}

// add notes what was typed, unless it is what was typed before or may hold a secret. The file is
// for its owner alone.
func (h *history) add(item string) error {
	item = strings.TrimSpace(item)
	if item == "" || secret.MatchString(item) || len(h.items) > 0 && h.items[len(h.items)-1] == item {
		return nil
	}
	h.items = append(h.items, item)
	if h.path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(h.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.Quote(item) + "\n")
	return errors.Join(err, f.Chmod(0o600), f.Close())
}

// Write is the editor's, which notes every line: the shell notes them itself, by add.
func (h *history) Write(string) (int, error) { return len(h.items), nil }

// GetLine returns what was typed as number i, from 0.
func (h *history) GetLine(i int) (string, error) {
	if i < 0 || i >= len(h.items) {
		return "", errors.New("shell: there is no such line in the history")
	}
	return h.items[i], nil
}

// Len is how much there is.
func (h *history) Len() int { return len(h.items) }

// Dump is the whole history, for the editor.
func (h *history) Dump() any { return h.items }
