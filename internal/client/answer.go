package client

import (
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Answer is one result: the names of its columns and its rows.
type Answer struct {
	Columns []string
	Types   []string // MySQL's names
	Rows    [][]any  // nil, int64, uint64, float32, float64 or string
}

// Read takes one result of rows.
func Read(rows *sql.Rows) (Answer, error) {
	a, _, err := ReadUpTo(rows, math.MaxInt, math.MaxInt)
	return a, err
}

// ReadUpTo takes the first rows of a result, so many at most, whose texts have so many bytes at
// most; cut says that there are more.
func ReadUpTo(rows *sql.Rows, most, bytes int) (a Answer, cut bool, err error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return Answer{}, false, err
	}
	for _, t := range types {
		a.Columns, a.Types = append(a.Columns, t.Name()), append(a.Types, t.DatabaseTypeName())
	}
	for size := 0; rows.Next(); {
		row, to := make([]any, len(types)), make([]any, len(types))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return a, false, err
		}
		for i, v := range row {
			if b, ok := v.([]byte); ok {
				row[i] = string(b)
				size += len(b)
			}
		}
		if len(a.Rows) == most || size > bytes {
			return a, true, nil
		}
		a.Rows = append(a.Rows, row)
	}
	return a, false, rows.Err()
}

// Cell is a value as people read it; NULL where there is none.
func Cell(v any) string {
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

// Filled is the Answer without the columns that are NULL in all its rows.
func (a Answer) Filled() Answer {
	out := Answer{Rows: make([][]any, len(a.Rows))}
	for i := range a.Columns {
		if len(a.Rows) > 0 && !slices.ContainsFunc(a.Rows, func(row []any) bool { return row[i] != nil }) {
			continue
		}
		out.Columns, out.Types = append(out.Columns, a.Columns[i]), append(out.Types, a.Types[i])
		for r, row := range a.Rows {
			out.Rows[r] = append(out.Rows[r], row[i])
		}
	}
	return out
}

// Rounded is the Answer with its DOUBLEs to so many significant digits, for people to read.
func (a Answer) Rounded(digits int) Answer {
	rows := make([][]any, len(a.Rows))
	for r, row := range a.Rows {
		rows[r] = slices.Clone(row)
		for i, v := range row {
			if f, ok := v.(float64); ok {
				rows[r][i], _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', digits, 64), 64)
			}
		}
	}
	a.Rows = rows
	return a
}

// Numeric reports whether a column holds numbers.
func (a Answer) Numeric(column int) bool {
	t := strings.TrimPrefix(a.Types[column], "UNSIGNED ")
	return strings.HasSuffix(t, "INT") || t == "DECIMAL" || t == "DOUBLE" || t == "FLOAT" || t == "YEAR"
}

// Printable shows control characters as Go writes them, but for those that white lists.
func Printable(text, white string) string {
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

// Number is a value as a float, NaN where it is none.
func Number(v any) float64 {
	f, err := strconv.ParseFloat(Cell(v), 64)
	if err != nil {
		return math.NaN()
	}
	return f
}
