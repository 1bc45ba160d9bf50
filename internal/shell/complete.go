package shell

import (
	"context"
	"slices"
	"strings"

	"scrim/internal/client"
)

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
		for _, c := range commands() {
			words = append(words, c.name)
		}
		return trimmed, beginning(words, trimmed)
	}
	n := s.known(ctx)
	if dot := strings.LastIndexByte(prefix, '.'); dot >= 0 {
		for _, column := range n.columns[prefix[:dot]] {
			words = append(words, prefix[:dot+1]+column)
		}
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
	var out []string
	for _, w := range words {
		if len(w) >= len(prefix) && strings.EqualFold(w[:len(prefix)], prefix) {
			out = append(out, w)
		}
	}
	return out
}
