package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/reeflective/readline"

	"scrim/internal/client"
)

// Talk reads statements that a person types at the terminal, until Ctrl-D or \q. An error ends a
// statement and nothing else.
func (s *Shell) Talk(ctx context.Context) error {
	s.talking = true
	h, err := openHistory(s.History)
	if err != nil {
		fmt.Fprintf(s.Err, "The history cannot be read: %v\n", err)
	}
	editor := s.editor(ctx, h)
	for !s.left {
		text, err := editor.Readline()
		switch {
		case errors.Is(err, readline.ErrInterrupt):
			continue // the line is forgotten
		case errors.Is(err, io.EOF):
			fmt.Fprintln(s.Err)
			return nil
		case err != nil:
			return fmt.Errorf("shell: the terminal: %w", err)
		}
		if err := h.add(text); err != nil {
			fmt.Fprintf(s.Err, "The history cannot be written: %v\n", err)
			h.path = ""
		}
		_ = s.Script(ctx, text) // it has told its errors
	}
	return nil
}

// editor is the line editor: Enter runs what is complete, and otherwise begins another line.
func (s *Shell) editor(ctx context.Context, h *history) *readline.Shell {
	rl := readline.NewShell()
	// terminals that do not answer would hold the prompt back
	_ = rl.Config.Set("cursor-position-probe", false)
	_ = rl.Config.Set("completion-ignore-case", true)
	rl.Prompt.Primary(func() string { return strings.TrimSpace("scrim "+client.Printable(s.database, "")) + "> " })
	rl.Prompt.Secondary(func() string { return "    -> " })
	rl.AcceptMultiline = func(line []rune) bool { return client.Complete(string(line)) }
	rl.Completer = func(line []rune, cursor int) readline.Completions {
		prefix, words := s.completions(ctx, string(line[:cursor]))
		offered := readline.CompleteValues(words...).NoSort()
		offered.PREFIX = prefix // a word ends where a name does, and not at a space alone
		return offered
	}
	rl.History.Add("statements", h)
	return rl
}

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
