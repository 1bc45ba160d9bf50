package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// validator is what the module puts in the place of a value that it checks by a function.
type validator interface{ Validate(any) (bool, error) }

// differs says how an answer's rows differ from the expected ones; "" if they do not. The order
// counts only for statements with ORDER BY, as in the module's own harness.
func differs(statement string, want []sql.Row, a answer) string {
	upper := strings.ToUpper(statement)
	anyTime := strings.HasPrefix(upper, "SHOW ") && !strings.Contains(upper, "EVENTS")
	if len(a.types) == 0 && len(a.rows) == 0 && len(want) == 1 && len(want[0]) == 0 {
		return "" // SET and SELECT INTO give no rows here, and one row without columns there
	}
	if len(want) != len(a.rows) {
		return fmt.Sprintf("%d rows in place of %d", len(a.rows), len(want))
	}
	want = asMySQL(upper, want, a.rows)
	same := func(w sql.Row, g []any) bool {
		if len(w) != len(g) {
			return false
		}
		for i := range w {
			if !equal(w[i], g[i], a.types[i], anyTime) {
				return false
			}
		}
		return true
	}
	if strings.Contains(upper, "ORDER BY ") || len(want) <= 1 {
		for i := range want {
			if len(want[i]) != len(a.rows[i]) {
				return fmt.Sprintf("%d columns in place of %d", len(a.rows[i]), len(want[i]))
			}
			for j := range want[i] {
				if !equal(want[i][j], a.rows[i][j], a.types[j], anyTime) {
					return fmt.Sprintf("row %d, column %d (%s): %s in place of %s", i+1, j+1, a.types[j], show(a.rows[i][j]), show(want[i][j]))
				}
			}
		}
		return ""
	}
	used := make([]bool, len(a.rows))
next:
	for i, w := range want {
		for j, g := range a.rows {
			if !used[j] && same(w, g) {
				used[j] = true
				continue next
			}
		}
		return fmt.Sprintf("row %d is missing: %s", i+1, showRow(w))
	}
	return ""
}

// asMySQL returns the expected rows as MySQL would give them, for the statements about the
// catalogue in which go-mysql-server leaves something out: SHOW CREATE TABLE has DEFAULT NULL for
// every column without another default, SHOW FULL COLUMNS lists privileges, and SHOW INDEX has the
// order A of each column and a count that is unknown. rows are the answer's, and say which columns
// and keys there are.
func asMySQL(upper string, want []sql.Row, rows [][]any) []sql.Row {
	f := strings.Fields(upper)
	if len(f) < 2 || f[0] != "SHOW" {
		return want
	}
	out := make([]sql.Row, len(want))
	for i, w := range want {
		out[i] = append(sql.Row{}, w...)
		switch {
		case f[1] == "CREATE" && len(w) == 2:
			if s, ok := w[1].(string); ok && i < len(rows) && len(rows[i]) == 2 {
				out[i][1] = withNulls(s, text(rows[i][1]))
			}
		case f[1] == "FULL" && len(w) == 9 && w[7] == "":
			out[i][7] = "select,insert,update,references"
		case (f[1] == "INDEX" || f[1] == "INDEXES" || f[1] == "KEYS") && len(w) == 15:
			if w[5] == nil {
				out[i][5] = "A"
			}
			out[i][6] = nil
		}
	}
	return out
}

// withNulls adds DEFAULT NULL, and the NULL of a timestamp, to the lines of want that differ from
// got's by nothing else. A CHECK and an index on an expression are compared without brackets and
// letters' case, in which go-mysql-server writes them otherwise, and a generated column without the
// order of its words.
func withNulls(want, got string) string {
	lines, answer := strings.Split(want, "\n"), strings.Split(got, "\n")
	plain := func(l string) string {
		l = strings.Replace(l, " DEFAULT NULL", "", 1)
		if head, tail, ok := strings.Cut(l, " NULL"); ok && strings.Contains(head, "` timestamp") && !strings.HasSuffix(head, " NOT") {
			l = head + tail
		}
		if strings.Contains(l, " GENERATED ALWAYS AS (") {
			if l = strings.Replace(l, " VIRTUAL", "", 1); strings.Contains(l, " NOT NULL") {
				l = strings.Replace(l, " NOT NULL", "", 1) + " NOT NULL"
			}
		}
		if strings.Contains(l, "KEY `") && strings.Contains(l, "((") {
			l = strings.ToLower(strings.NewReplacer("(", "", ")", "", " ", "", "`", "").Replace(l))
		}
		if strings.HasPrefix(l, "  CONSTRAINT ") && strings.Contains(l, " CHECK (") {
			l = strings.ToLower(strings.NewReplacer("(", "", ")", "", " ", "").Replace(l))
		}
		return l
	}
	for i, l := range lines {
		if i < len(answer) && plain(l) == plain(answer[i]) {
			lines[i] = answer[i]
		}
	}
	return strings.Join(lines, "\n")
}

// equal compares an expected Go value with what the driver made of the wire's text. kind is the
// driver's name of the column's type.
func equal(want, got any, kind string, anyTime bool) bool {
	if want == nil || got == nil {
		return want == nil && got == nil
	}
	switch w := want.(type) {
	case validator:
		ok, err := w.Validate(got)
		return ok && err == nil
	case bool:
		n := int64(0)
		if w {
			n = 1
		}
		return integer(big.NewInt(n), got, kind)
	case int, int8, int16, int32, int64:
		return integer(big.NewInt(reflect.ValueOf(w).Int()), got, kind)
	case uint, uint8, uint16, uint32, uint64:
		return integer(new(big.Int).SetUint64(reflect.ValueOf(w).Uint()), got, kind)
	case float32:
		return near(float64(w), got, 1e-6)
	case float64:
		return near(w, got, 1e-9)
	case apd.Decimal:
		return w.Text('f') == text(got)
	case *apd.Decimal:
		return w.Text('f') == text(got)
	case time.Time:
		return anyTime || sameTime(w, text(got))
	case types.Timespan:
		return trimFraction(w.String()) == trimFraction(text(got))
	case types.GeometryValue:
		return string(w.Serialize()) == text(got)
	case sql.JSONWrapper:
		v, err := w.ToInterface(context.Background())
		if err != nil {
			return false
		}
		b, err := json.Marshal(v)
		return err == nil && sameJSON(string(b), text(got))
	case []byte:
		return string(w) == text(got)
	case string:
		return sameText(w, got, kind)
	case map[string]any, []any:
		b, err := json.Marshal(w)
		return err == nil && sameJSON(string(b), text(got))
	}
	return false
}

// text is a value as the wire had it.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float32:
		return strconv.FormatFloat(float64(v), 'g', -1, 32)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// integer compares whole numbers. A column of BIT has bytes, one of floating point may have a
// whole number, and one of DECIMAL must have no decimals.
func integer(want *big.Int, got any, kind string) bool {
	switch g := got.(type) {
	case float32:
		return near(bigFloat(want), g, 1e-6)
	case float64:
		return near(bigFloat(want), g, 1e-9)
	case string:
		if kind == "BIT" {
			return new(big.Int).SetBytes([]byte(g)).Cmp(want) == 0
		}
	}
	n, ok := new(big.Int).SetString(text(got), 10)
	return ok && n.Cmp(want) == 0
}

func bigFloat(n *big.Int) float64 { f, _ := new(big.Float).SetInt(n).Float64(); return f }

func near(want float64, got any, tolerance float64) bool {
	if g, ok := got.(float32); ok { // the client has read six digits
		six := func(x float64) string { return strconv.FormatFloat(x, 'e', 5, 64) }
		if six(want) == six(float64(g)) {
			return true
		}
		tolerance = max(tolerance, 1e-6)
		got = float64(g)
	}
	g, err := strconv.ParseFloat(text(got), 64)
	if err != nil {
		return false
	}
	return want == g || math.IsNaN(want) && math.IsNaN(g) || math.Abs(want-g) <= tolerance*math.Max(math.Abs(want), math.Abs(g))
}

func sameTime(want time.Time, got string) bool {
	for _, layout := range []string{"2006-01-02 15:04:05.999999", "2006-01-02", "15:04:05.999999"} {
		if g, err := time.Parse(layout, got); err == nil {
			return want.Format("2006-01-02 15:04:05.000000") == g.Format("2006-01-02 15:04:05.000000")
		}
	}
	return want.IsZero() && strings.HasPrefix(got, "0000-00-00")
}

// trimFraction takes a fraction of zeros from a time.
func trimFraction(s string) string {
	if before, after, ok := strings.Cut(s, "."); ok && strings.Trim(after, "0") == "" {
		return before
	}
	return s
}

// sameText compares an expected text. For columns that are not text it stands for the value.
func sameText(want string, got any, kind string) bool {
	g := text(got)
	if want == g {
		return true
	}
	switch kind {
	case "DATETIME", "TIMESTAMP", "TIME":
		return trimFraction(want) == trimFraction(g)
	case "JSON":
		return sameJSON(want, g)
	case "FLOAT", "DOUBLE":
		w, err := strconv.ParseFloat(want, 64)
		return err == nil && near(w, got, 1e-9)
	}
	return false
}

// sameJSON compares documents, whatever their spaces and the order of their keys.
func sameJSON(a, b string) bool {
	var x, y any
	for s, into := range map[*string]*any{&a: &x, &b: &y} {
		d := json.NewDecoder(bytes.NewReader([]byte(*s)))
		if d.Decode(into) != nil || d.More() {
			return false
		}
	}
	return reflect.DeepEqual(x, y)
}

// show is a value for a person.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return strconv.Quote(v)
	case []byte:
		return strconv.Quote(string(v))
	case apd.Decimal:
		return "DECIMAL " + v.Text('f')
	case *apd.Decimal:
		return "DECIMAL " + v.Text('f')
	case time.Time:
		return v.Format("2006-01-02 15:04:05.999999")
	case sql.JSONWrapper:
		if x, err := v.ToInterface(context.Background()); err == nil {
			b, _ := json.Marshal(x)
			return "JSON " + string(b)
		}
	}
	return fmt.Sprintf("%v", v)
}

func showRow(row []any) string {
	var out []string
	for _, v := range row {
		out = append(out, show(v))
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// showRows is at most five rows for a person.
func showRows[R ~[]any](rows []R) string {
	var out []string
	for i, r := range rows {
		if i == 5 {
			out = append(out, fmt.Sprintf("… %d rows", len(rows)))
			break
		}
		out = append(out, showRow(r))
	}
	return strings.Join(out, " ")
}
