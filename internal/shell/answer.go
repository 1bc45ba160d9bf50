package shell

import (
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// answer is one result: the names of its columns and its rows.
type answer struct {
	columns []string
	types   []string // MySQL's names
	rows    [][]any  // nil, int64, uint64, float32, float64 or string
}

// read takes one result of rows.
func read(rows *sql.Rows) (answer, error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return answer{}, err
	}
	var a answer
	for _, t := range types {
		a.columns, a.types = append(a.columns, t.Name()), append(a.types, t.DatabaseTypeName())
	}
	for rows.Next() {
		row, to := make([]any, len(types)), make([]any, len(types))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return a, err
		}
		for i, v := range row {
			if b, ok := v.([]byte); ok {
				row[i] = string(b)
			}
		}
		a.rows = append(a.rows, row)
	}
	return a, rows.Err()
}

// cell is a value as people read it; NULL where there is none.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case float64:
		return decimal(v, 64)
	case float32:
		return decimal(float64(v), 32)
	}
	return fmt.Sprint(v)
}

// decimal writes the shortest digits that tell a number from all others, without an exponent where
// that is readable.
func decimal(f float64, bits int) string {
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e15) {
		return strconv.FormatFloat(f, 'g', -1, bits)
	}
	return strconv.FormatFloat(f, 'f', -1, bits)
}

// filled is the answer without the columns that are NULL in all its rows.
func (a answer) filled() answer {
	out := answer{rows: make([][]any, len(a.rows))}
	for i := range a.columns {
		if len(a.rows) > 0 && !slices.ContainsFunc(a.rows, func(row []any) bool { return row[i] != nil }) {
			continue
		}
		out.columns, out.types = append(out.columns, a.columns[i]), append(out.types, a.types[i])
		for r, row := range a.rows {
			out.rows[r] = append(out.rows[r], row[i])
		}
	}
	return out
}

// numeric reports whether a column holds numbers.
func (a answer) numeric(column int) bool {
	t := strings.TrimPrefix(a.types[column], "UNSIGNED ")
	return strings.HasSuffix(t, "INT") || t == "DECIMAL" || t == "DOUBLE" || t == "FLOAT" || t == "YEAR"
}

// printable shows control characters as Go writes them, but for those that white lists.
func printable(text, white string) string {
	if strings.IndexFunc(text, control(white)) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if control(white)(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// control tells control characters, those that turn the direction of text among them.
func control(white string) func(rune) bool {
	return func(r rune) bool {
		return !strings.ContainsRune(white, r) && (r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069)
	}
}
