package clients

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Outcome of one check: passed, or why not. What cannot be asked of a client is neither.
type Outcome struct {
	Passed bool
	NA     bool
	Why    string
}

// checks every client answers, in the order of the report.
var checks = []struct {
	name  string
	judge func(any) error
}{
	{"connect", judgeConnect},
	{"list", judgeList},
	{"describe", judgeDescribe},
	{"group", judgeGroup},
	{"public", judgePublic},
	{prepared, judgePublic},
	{"text", judgeText},
	{"error", judgeError},
}

const (
	extra    = "extra:"
	prepared = "prepared"
)

// judge compares what a client printed for a check with the truth. ok is false for a name that is
// no check.
func judge(name, value string) (o Outcome, ok bool) {
	f := judgeExtra
	if !strings.HasPrefix(name, extra) {
		i := slices.IndexFunc(checks, func(c struct {
			name  string
			judge func(any) error
		}) bool {
			return c.name == name
		})
		if i < 0 {
			return Outcome{}, false
		}
		f = checks[i].judge
	}
	var v any
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		return Outcome{Why: fmt.Sprintf("not JSON: %s", value)}, true
	}
	if s, is := v.(string); is && strings.HasPrefix(s, "n/a: ") {
		return Outcome{NA: true, Why: strings.TrimPrefix(s, "n/a: ")}, true
	}
	if s, is := v.(string); is && strings.HasPrefix(s, "failed: ") {
		return Outcome{Why: s}, true
	}
	if err := f(v); err != nil {
		return Outcome{Why: err.Error()}, true
	}
	return Outcome{Passed: true}, true
}

var version = regexp.MustCompile(`^8\.\d+\.\d+`)

func judgeConnect(v any) error {
	if s, _ := v.(string); !version.MatchString(s) {
		return fmt.Errorf("want a server version 8.x.y, have %v", v)
	}
	return nil
}

func judgeList(v any) error {
	rows, _ := v.([]any)
	var have []string
	for _, r := range rows {
		s, _ := r.(string)
		have = append(have, s)
		if !slices.Contains(tables, s) && !slices.Contains(views, s) {
			return fmt.Errorf("%q is not in %s: %v", s, database, v)
		}
	}
	for _, t := range tables {
		if !slices.Contains(have, t) {
			return fmt.Errorf("%s is missing: %v", t, v)
		}
	}
	return nil
}

func judgeDescribe(v any) error {
	rows, _ := v.([]any)
	if len(rows) != len(columns) {
		return fmt.Errorf("want %d columns, have %v", len(columns), v)
	}
	for i, r := range rows {
		row, _ := r.([]any)
		if len(row) != 2 || row[0] != columns[i].name || fmt.Sprint(row[1]) == "" || row[1] == nil {
			return fmt.Errorf("column %d: want %s and its type, have %v", i+1, columns[i].name, r)
		}
	}
	return nil
}

// judgeGroup wants averages within 2 % of the truth and counts within 2 %: at the loss of the data
// set's defaults that is more than ten standard deviations of the noise. An average without digits
// after the point was cut by the client or for it.
func judgeGroup(v any) error {
	rows, _ := v.([]any)
	want := groups()
	if len(rows) != len(want) {
		return fmt.Errorf("want %d departments, have %v", len(want), v)
	}
	for i, w := range want {
		row, _ := rows[i].([]any)
		if len(row) != 3 || row[0] != w.dept {
			return fmt.Errorf("want department %s, have %v", w.dept, rows[i])
		}
		a, okA := number(row[1])
		n, okN := number(row[2])
		switch {
		case !okA || math.Abs(a-w.average) > 0.02*w.average:
			return fmt.Errorf("average of %s: want about %v, have %v", w.dept, w.average, row[1])
		case a == math.Trunc(a):
			return fmt.Errorf("average of %s is rounded: %v", w.dept, row[1])
		case !okN || n != math.Trunc(n) || math.Abs(n-float64(w.count)) > 0.02*float64(w.count):
			return fmt.Errorf("count of %s: want about %d, have %v", w.dept, w.count, row[2])
		}
	}
	return nil
}

func judgePublic(v any) error {
	rows, _ := v.([]any)
	if len(rows) != 3 {
		return fmt.Errorf("want 3 products, have %v", v)
	}
	for i, r := range rows {
		row, _ := r.([]any)
		if len(row) != 2 {
			return fmt.Errorf("want id and price, have %v", r)
		}
		id, ok := number(row[0])
		p, okP := number(row[1])
		if want := price(i + 1); !ok || !okP || id != float64(i+1) || math.Abs(p-want) > 1e-9*want {
			return fmt.Errorf("product %d: want price %v, have %v", i+1, want, r)
		}
	}
	return nil
}

func judgeText(v any) error {
	if v != title {
		return fmt.Errorf("want %q, have %q", title, fmt.Sprint(v))
	}
	return nil
}

// refusal is what a message about raw rows of a protected table says however a tool shortens it.
var refusal = regexp.MustCompile(`(?i)\baggregate`)

func judgeError(v any) error {
	if s, _ := v.(string); !refusal.MatchString(s) {
		return fmt.Errorf("want our refusal, have %v", v)
	}
	return nil
}

func judgeExtra(v any) error {
	if v != true {
		return fmt.Errorf("%v", v)
	}
	return nil
}

// number reads a JSON number or a number as text, as decimals come.
func number(v any) (float64, bool) {
	switch x := v.(type) {
	case float64:
		return x, true
	case string:
		f, err := strconv.ParseFloat(strings.TrimSpace(x), 64)
		return f, err == nil
	}
	return 0, false
}
