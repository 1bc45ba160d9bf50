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
	"slices"
	"strconv"
	"strings"

	"github.com/reeflective/readline"

	"scrim/internal/client"
	"scrim/internal/lists"
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

// keywords are the words of statements that are offered.
var keywords = strings.Fields(`SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT AS AND OR NOT IN IS NULL LIKE BETWEEN EXISTS JOIN LEFT INNER ON USING
	DISTINCT COUNT SUM AVG MIN MAX STDDEV VARIANCE CASE WHEN THEN ELSE END WITH ROLLUP UNION ALL OVER PARTITION ASC DESC INTERVAL
	EXPLAIN DESCRIBE SHOW TABLES DATABASES COLUMNS WARNINGS USE SET CALL INSERT INTO VALUES UPDATE DELETE CREATE TABLE VIEW DROP ALTER
	GRANT REVOKE USER BEGIN COMMIT ROLLBACK`)

// names are what the account may name: read when they are first wanted, and again after a statement
// that may have changed them.
type names struct {
	columns map[string][]string // by table, and by schema.table
	words   []string            // whatever stands alone
}

// known reads the names. A server that does not tell them has none.
func (s *Shell) known(ctx context.Context) names {
	if s.names.columns != nil {
		return s.names
	}
	n := names{columns: map[string][]string{}}
	for _, row := range s.listed(ctx, "SELECT table_schema, table_name, column_name FROM information_schema.columns ORDER BY table_schema, table_name, ordinal_position") {
		schema, table, column := client.Cell(row[0]), client.Cell(row[1]), client.Cell(row[2])
		if !plain(schema) || !plain(table) || !plain(column) {
			continue
		}
		full := schema + "." + table
		if n.columns[full] == nil {
			n.words = append(n.words, full)
		}
		n.columns[full] = append(n.columns[full], column)
		if schema == s.database {
			n.columns[table] = append(n.columns[table], column)
			n.words = append(n.words, table, column)
		}
	}
	for _, row := range s.listed(ctx, "SELECT name FROM dp.functions UNION ALL SELECT name FROM dp.procedures UNION ALL SELECT name FROM dp.variables") {
		n.words = append(n.words, client.Cell(row[0]))
	}
	n.words = append(n.words, keywords...)
	slices.SortFunc(n.words, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	n.words = slices.Compact(n.words)
	s.names = n
	return n
}

// plain reports whether a name may be written without quotes, and harms no terminal.
func plain(name string) bool {
	for i := range len(name) {
		if !client.Letter(name[i]) {
			return false
		}
	}
	return name != "" && client.Printable(name, "") == name
}

// listed asks for rows of names.
func (s *Shell) listed(ctx context.Context, query string) [][]any {
	answers, _, err := s.send(ctx, query)
	if err != nil || len(answers) == 0 {
		return nil
	}
	return answers[0].Rows
}

// completions are the words that may stand where a text ends, and the part of them that is typed:
// commands after a backslash at its beginning, columns after a table and a dot, else all names.
// Keywords are offered in the case of what is typed.
func (s *Shell) completions(ctx context.Context, text string) (prefix string, words []string) {
	start := len(text)
	for start > 0 && (client.Letter(text[start-1]) || text[start-1] == '.') {
		start--
	}
	prefix = text[start:]
	if trimmed := strings.TrimLeft(text, " \n"); strings.HasPrefix(trimmed, `\`) && !strings.Contains(trimmed, " ") {
		words = append(words, lists.Map(commands(), func(c command) string { return c.name })...)
		return trimmed, beginning(words, trimmed)
	}
	n := s.known(ctx)
	if dot := strings.LastIndexByte(prefix, '.'); dot >= 0 {
		words = append(words, lists.Map(n.columns[prefix[:dot]], func(column string) string { return prefix[:dot+1] + column })...)
	}
	words = append(words, n.words...)
	if prefix != "" && prefix == strings.ToLower(prefix) {
		for i, w := range words {
			if slices.Contains(keywords, w) {
				words[i] = strings.ToLower(w)
			}
		}
	}
	return prefix, beginning(words, prefix)
}

// beginning are the words that begin with a prefix, in any case.
func beginning(words []string, prefix string) []string {
	return lists.Filter(words, func(w string) bool { return len(w) >= len(prefix) && strings.EqualFold(w[:len(prefix)], prefix) })
}
