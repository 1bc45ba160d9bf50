package engine

import (
	"fmt"
	"math"
	"regexp"
	"sort"
	"strings"
	"testing"

	"scrim/test/fuzz"
)

// fuzzKind is a kind of differences from MariaDB. A difference is of the first kind whose patterns
// are found in its class, in the typed form of its short statement (fuzz.Typed), and in our answer.
type fuzzKind struct {
	name, class, form, ours string
	reason                  string
	// How many statements in 1,000 may have such a difference. These numbers may only shrink.
	public, protected float64
}

// fuzzKinds are all kinds. First those that stay: MariaDB departs from MySQL, or the server does by
// design. Then those that are to be mended, each by its cause as far as a pattern can tell it; the
// last ones take by type what no cause is known of.
var fuzzKinds = []fuzzKind{
	{"refused by name", `^refused`, ``, ``, "the message says what to write instead", 999, 999},
	{"a NULL key of a range", `^no NULL key`, ``, ``, "protected rows answer declared keys alone, and a range has no NULL", 0, 999},
	{"digits of shares", `^value`, `(CUME_DIST|PERCENT_RANK)\(`, ``, "MariaDB shows ten of them, MySQL all that a DOUBLE has", 4, 0},
	{"a text that is no date", `^error 1292`, `(DATE|MOMENT|YEAR|TEXT|BIN|ENUM|SET|'|DAYTEXT)`, `Incorrect (datetime|date)`, "MySQL has error 1525 for a constant, where MariaDB has NULL; for a column it compares", 8.8, 0},

	{"internal error", `^internal error`, ``, ``, "never right", 2, 0},
	{"windows", `^(value|rows|error|answers)`, `OVER`, ``, "keys and arguments that are not MySQL's before windows see them; AVG of a frame of DOUBLE drifts in MariaDB", 6, 0},
	{"GREATEST and LEAST of other types", `^error`, ``, `unsupported type for greatest/least`, "TIME, ENUM and SET are refused by go-mysql-server", 9.7, 4.1},
	{"IN over a subquery: not evaluated", `^error`, `IN \(SELECT|ANY|ALL`, `right operand in IN|incompatible conversion`, "an operand that is converted is no longer a subquery", 11, 0},
	{"functions of ENUM and SET have its type", `^error (1265|1105)`, `ENUM|SET`, `is not of the|invalid type`, "a text made of ENUM or SET is read as a member", 4.1, 0},
	{"JSON", `^(error|value|rows)`, `JSON`, ``, "paths on scalars, DECIMAL, ENUM and BIT inside", 8, 0},
	{"binary texts must be UTF-8", `^error 1366`, ``, `Incorrect string value`, "a text function of binary text", 8.2, 0},
	{"REPEAT of less than nothing", `^error 1105`, `REPEAT`, `negative Repeat count`, "an error in the place of an empty text", 0.5, 0},
	{"HAVING over an alias", `^error 1146`, `HAVING`, ``, "an aggregate in HAVING that is not in the items loses its table", 1.7, 0},
	{"errors of the store", `^error 1235`, ``, `The store does not support this`, "a subquery in ON", 1, 0},
	{"GROUP_CONCAT", `^(value|rows)`, `GROUP_CONCAT`, ``, "ORDER BY a position, empty texts", 2.6, 0},
	{"AVG and SUM of texts", `^(value|rows)`, `(AVG|SUM|STDDEV|VAR_SAMP)\(.*(TEXT|CHAR|ENUM|SET|')`, ``, "a text is 0", 2.7, 0.9},
	{"sums of dates", `^(value|rows)`, `(SUM|AVG|STDDEV|VAR_SAMP|BIT_\w+)\(.*(DATE|MOMENT|TIME)`, ``, "seconds since 1970 in the place of digits", 3.2, 2.1},
	{"casts to TIME", `^(value|rows)`, `AS TIME\)`, ``, "texts that are no times; numbers", 2.7, 0},
	{"casts to DECIMAL", `^(value|rows)`, `AS DECIMAL`, ``, "digits beyond the binder's type", 3.5, 0.9},
	{"LPAD, RPAD and INSERT", `^(value|rows)`, `LPAD|RPAD|INSERT`, ``, "count bytes, and members by number", 2.8, 0.9},
	{"STR_TO_DATE", `^(value|rows)`, `STR_TO_DATE`, ``, "what stands after the format makes it NULL", 1.2, 1.3},
	{"IN and NOT IN over a subquery", `^rows`, `IN \(SELECT`, ``, "mixed types, rows of values, NULL", 4.7, 0},
	{"order of UNION", `^order`, `UNION`, ``, "sorted by a part's own type", 2.7, 0},
	{"UNION", `^(value|rows|error|answers)`, `UNION`, ``, "the common type of the parts", 14.7, 0},
	{"ENUM and SET as numbers", `^(value|rows|order)`, `ENUM|SET`, ``, "a function is given the number of a member", 14.6, 3.7},
	{"numbers out of range are answered", `^answers`, ``, ``, "BIGINT UNSIGNED below 0, POW and DIV beyond their type", 4.1, 2.1},
	{"other errors", `^error`, ``, ``, "most are go-mysql-server's, over values that it does not convert", 2.6, 0},
	{"TIME", `^(value|rows)`, `TIME|HOUR|MAKETIME`, ``, "comparisons with texts and dates, arithmetic, digits after a second, below 0", 10.7, 1.3},
	{"dates", `^(value|rows|order)`, `DATE|MOMENT|DAY|YEAR|MONTH`, ``, "comparisons with texts and numbers, as numbers, as texts", 11.8, 14.5},
	{"binary texts", `^(value|rows|order)`, `BIN|HEX|CHAR`, ``, "padding, comparisons, other bytes than UTF-8", 4.5, 0.5},
	{"COALESCE and others of one DECIMAL", `^(value|rows|error 1264)`, `COALESCE|IFNULL|NULLIF|GREATEST|LEAST|CASE|IF\(`, ``, "typed as one argument", 1.3, 1.7},
	{"decimals and integers beyond the binder's type", `^(value|rows|error 1264)`, `INT|DEC`, ``, "INT with DECIMAL, unary minus, ABS, bit operators", 3.9, 6.9},
	{"texts", `^(value|rows|order)`, `TEXT|'`, ``, "", 0.8, 0.5},
	{"numbers", `^(value|rows|order)`, ``, ``, "", 1, 0.9},
}

// kindOf names the kind of a difference; "" is none.
func kindOf(d deviation) *fuzzKind {
	form := fuzz.Typed(d.Short)
	for i := range fuzzKinds {
		k := &fuzzKinds[i]
		if matches(k.class, d.Class) && matches(k.form, form) && matches(k.ours, d.Ours) {
			return k
		}
	}
	return nil
}

func perThousand(n float64, asked int) string {
	return fmt.Sprintf("%7.2f", n*1000/float64(max(asked, 1)))
}

var compiled = map[string]*regexp.Regexp{}

func matches(pattern, text string) bool {
	if compiled[pattern] == nil {
		compiled[pattern] = regexp.MustCompile(pattern)
	}
	return compiled[pattern].MatchString(text)
}

// judge fails where a difference is of no kind, or a kind has more than it may have. Of a part of
// the statements the allowance is three deviations wider: fewer than one seed in 1,000 fails.
func judge(t *testing.T, all []deviation, asked int, allowed func(*fuzzKind) float64) {
	t.Helper()
	found := map[*fuzzKind]map[uint64]bool{}
	for _, d := range all {
		k := kindOf(d)
		if k == nil {
			t.Errorf("statement %d differs, and is of no kind:\n%+v", d.Number, d)
			continue
		}
		if found[k] == nil {
			found[k] = map[uint64]bool{}
		}
		found[k][d.Number] = true
	}
	var lines []string
	for k, numbers := range found {
		n, may := float64(len(numbers)), allowed(k)*float64(asked)/1000
		lines = append(lines, strings.Join([]string{perThousand(n, asked), k.name, k.reason}, "  "))
		if n > may+3*math.Sqrt(may)+1 {
			t.Errorf("%s: %s in 1,000 statements, at most %.2f may differ so", k.name, perThousand(n, asked), allowed(k))
		}
	}
	sort.Sort(sort.Reverse(sort.StringSlice(lines)))
	t.Logf("in 1,000 statements\n%s", strings.Join(lines, "\n"))
}
