package client

import (
	"database/sql"
	"fmt"
	"math"
	"regexp"
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

// alias finds the name that an expression of a select list is given.
var alias = regexp.MustCompile("(?is)^(.*?\\S)\\s+AS\\s+(`[^`]+`|[a-z_][a-z_0-9]*)$")

// SelectList is the select list of a query, by its text alone.
type SelectList struct {
	query string
	from  int      // where FROM stands
	Items []string // as they are written
}

// ParseSelect finds the select list of SELECT … FROM …; ok is false where the text is not so
// simple: DISTINCT, * as a column, or no FROM.
func ParseSelect(query string) (l SelectList, ok bool) {
	if !WordAt(query, 0, "SELECT") {
		return l, false
	}
	l.query = query
	start := len("SELECT")
	for depth, i := 0, start; i < len(query) && l.from == 0; i = skip(query, i) {
		switch query[i] {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				l.Items, start = append(l.Items, item(query[start:i])), i+1
			}
		case 'F', 'f':
			if depth == 0 && WordAt(query, i, "FROM") {
				l.Items, l.from = append(l.Items, item(query[start:i])), i
			}
		}
	}
	if l.from == 0 || WordAt(l.Items[0], 0, "DISTINCT") {
		return l, false
	}
	if slices.ContainsFunc(l.Items, func(text string) bool { return text == "" || strings.HasSuffix(text, "*") }) {
		return l, false
	}
	return l, true
}

// item is an expression of a select list without what stands around it; a hint is no part of it.
func item(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "/*") {
		text = strings.TrimSpace(text[skip(text, 0):])
	}
	return text
}

// WithIntervals is the query with the ends of the 95 % intervals of some items, by their indices,
// after its select list:
//
//	SELECT city, COUNT(*) AS n FROM visits GROUP BY city
//	SELECT city, COUNT(*) AS n, DP_LOW(n), DP_HIGH(n) FROM visits GROUP BY city
//
// Whether the server knows an interval is for the server to say.
func (l SelectList) WithIntervals(items ...int) string {
	out := strings.TrimRight(l.query[:l.from], " \t\r\n")
	for _, i := range items {
		answer := l.Items[i]
		if m := alias.FindStringSubmatch(answer); m != nil {
			answer = m[2]
		}
		out += ", DP_LOW(" + answer + "), DP_HIGH(" + answer + ")"
	}
	return out + " " + l.query[l.from:]
}

// mostTried bounds how many items are tried for intervals one by one.
const mostTried = 8

// Intervals returns the items whose intervals the server tells for the same price: of those that
// are made of calls, all where same says so of them together, else those of which it says so one by
// one.
func (l SelectList) Intervals(same func(items ...int) bool) (items []int) {
	for i, text := range l.Items {
		if strings.Contains(text, "(") && len(items) < mostTried {
			items = append(items, i)
		}
	}
	if len(items) == 0 || same(items...) {
		return items
	}
	items = slices.DeleteFunc(items, func(i int) bool { return !same(i) })
	if len(items) > 0 && !same(items...) {
		return nil
	}
	return items
}

// WithIntervals adds the ends of the 95 % interval of the second column to a SELECT of two columns;
// ok is false where it is none.
func WithIntervals(query string) (extended string, ok bool) {
	l, ok := ParseSelect(query)
	if !ok || len(l.Items) != 2 {
		return "", false
	}
	return l.WithIntervals(1), true
}

// WordAt reports whether a word stands at i, in any case.
func WordAt(text string, i int, word string) bool {
	end := i + len(word)
	return end <= len(text) && strings.EqualFold(text[i:end], word) && (i == 0 || !Letter(text[i-1])) && (end == len(text) || !Letter(text[end]))
}

// Letter reports whether a byte may be part of a name.
func Letter(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// BudgetQuery asks for the budgets that an account may see, and what is left of them.
const BudgetQuery = "SELECT account_type, account, principal, " +
	"epsilon, rho, delta, budget_window, spent_epsilon, remaining_epsilon, remaining_rho, questions_left FROM dp.budgets"

// LastCostNumber asks which private statement of the connection was the last that cost something.
const LastCostNumber = "SELECT COALESCE(MAX(number), 0) FROM dp.last_cost"

// CostQuery asks what the connection's last private statement cost, if it came after that number:
// nothing where none did. CostLine words each row; CostNumber is its number.
func CostQuery(after int64) string {
	return fmt.Sprintf(`SELECT c.id, c.entry, c.account_type, c.account, c.epsilon, c.delta, c.pure_epsilon, c.rho, c.remaining_epsilon, c.remaining_rho,
		(SELECT MIN(b.questions_left) FROM dp.budgets b WHERE b.account = c.account AND b.account_type = c.account_type) AS questions_left, c.replay_of, c.number
		FROM dp.last_cost c WHERE c.number > %d ORDER BY c.id, c.account_type DESC`, after)
}

// The columns of CostQuery.
const (
	costID = iota
	costEntry
	_
	costAccount
	costEpsilon
	costDelta
	costPure
	costRho
	costRemaining
	costRemainingRho
	costQuestions
	costReplayOf
	costNumber
)

// CostNumber is the number of the statement that a row of CostQuery is about.
func CostNumber(row []any) int64 { return int64(Number(row[costNumber])) }

// CostLine words a row of CostQuery: the loss, what is left, and for how many questions that is
// enough.
func CostLine(row []any) string {
	if Cell(row[costEntry]) == "replay" {
		return fmt.Sprintf("Cost: nothing; a stored answer, that of entry %s of the ledger.", Cell(row[costReplayOf]))
	}
	line := fmt.Sprintf("Cost: %s of %s", Loss(row[costEpsilon], row[costRho], row[costPure], row[costDelta]), Printable(Cell(row[costAccount]), ""))
	if left := Remaining(row[costRemaining], row[costRemainingRho]); left != "" {
		line += "; " + left
	}
	if row[costQuestions] != nil {
		line += fmt.Sprintf("; %s at the default loss left", Counted(int(Number(row[costQuestions])), "question"))
	}
	return fmt.Sprintf("%s (ledger %s).", line, Cell(row[costID]))
}

// Counted writes a number of things.
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Loss words a charge in the unit that the account is kept in.
func Loss(epsilon, rho, pure, delta any) string {
	switch {
	case epsilon != nil:
		text := fmt.Sprintf("epsilon %.3g", Number(epsilon))
		if d := Number(delta); d > 0 {
			text += fmt.Sprintf(", delta %.3g", d)
		}
		return text
	case pure != nil:
		return fmt.Sprintf("pure epsilon %.3g", Number(pure))
	}
	return fmt.Sprintf("rho %.3g", Number(rho))
}

// Remaining words what is left of a budget, "" where the account has none that it may see.
func Remaining(epsilon, rho any) string {
	switch {
	case epsilon != nil:
		return fmt.Sprintf("epsilon %.3g left", Number(epsilon))
	case rho != nil:
		return fmt.Sprintf("rho %.3g left", Number(rho))
	}
	return ""
}
