package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
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
