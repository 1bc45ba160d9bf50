package dialect

import (
	"scrim/internal/sqltext"

	"scrim/internal/lists"
)

func init() {
	words["SELECT"] = modifiers
	words["GROUP_CONCAT"] = groupConcat
	for _, w := range []string{"ANY", "SOME", "ALL"} {
		words[w] = quantifier
	}
	for _, w := range []string{"USE", "FORCE", "IGNORE"} {
		words[w] = indexHint
	}
	words["FOR"] = share
	words["UNKNOWN"] = unknown
	words["ROW"] = row
	words["NOT"] = not
	words["WITH"] = with
	words["INTERVAL"] = interval
	words["EXTRACT"] = extract
	for _, u := range []string{"SECOND_MICROSECOND", "MINUTE_MICROSECOND", "MINUTE_SECOND", "HOUR_MICROSECOND", "HOUR_SECOND", "HOUR_MINUTE",
		"DAY_MICROSECOND", "DAY_SECOND", "DAY_MINUTE", "DAY_HOUR", "YEAR_MONTH"} {
		words[u] = unit
	}
	for _, u := range []string{"SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"} {
		words["SQL_TSI_"+u] = func(s *statement, i int) { s.replace(i, i, u) }
	}
	words["SQL_TSI_FRAC_SECOND"] = func(s *statement, i int) { s.replace(i, i, "MICROSECOND") }
}

// hints tell MySQL's optimizer something, and do not change the answer. The store has an optimizer
// of its own.
var hints = lists.Words("HIGH_PRIORITY STRAIGHT_JOIN SQL_SMALL_RESULT SQL_BIG_RESULT SQL_BUFFER_RESULT SQL_NO_CACHE SQL_CACHE")

// modifiers takes the hints off a SELECT, and writes DISTINCTROW as DISTINCT and DISTINCT(x) with a
// blank.
func modifiers(s *statement, i int) {
	for i++; i < len(s.tokens) && s.tokens[i].kind == word && !s.is(i+1, ",", ".", "FROM", "AS") && !s.ends(i+1); i++ {
		switch w := s.tokens[i].upper(s.src); {
		case hints[w], w == "ALL":
			s.drop(i, i)
		case w == "DISTINCTROW", w == "DISTINCT" && s.is(i+1, "("): // vitess counts the blank behind it in
			s.replace(i, i, "DISTINCT ")
		case w == "DISTINCT":
		case w != "SQL_CALC_FOUND_ROWS":
			return
		}
	}
}

// indexHint leaves USE INDEX (…), FORCE KEY FOR JOIN (…) and the like out: the store picks its own
// way.
func indexHint(s *statement, i int) {
	if i == 0 || !s.is(i+1, "INDEX", "KEY") {
		return
	}
	k := i + 2
	switch {
	case s.are(k, "FOR", "JOIN"):
		k += 2
	case s.are(k, "FOR", "ORDER", "BY"), s.are(k, "FOR", "GROUP", "BY"):
		k += 3
	}
	if s.is(k, "(") {
		if last := s.close(k); last < len(s.tokens) {
			s.drop(i, last)
		}
	}
}

// share leaves FOR SHARE [OF t] [NOWAIT|SKIP LOCKED] out: a transaction reads one snapshot, and
// locks no rows.
func share(s *statement, i int) {
	if !s.is(i+1, "SHARE") {
		return
	}
	last := i + 1
	if s.is(last+1, "OF") {
		for last += 2; s.is(last+1, ".", ","); last += 2 {
		}
	}
	switch {
	case s.is(last+1, "NOWAIT"):
		last++
	case s.are(last+1, "SKIP", "LOCKED"):
		last += 2
	}
	if last < len(s.tokens) {
		s.drop(i, last)
	}
}

// unknown writes IS [NOT] UNKNOWN as IS [NOT] NULL.
func unknown(s *statement, i int) {
	if s.is(i-1, "IS") || s.is(i-1, "NOT") && s.is(i-2, "IS") {
		s.replace(i, i, "NULL")
	}
}

// rowSeen is the ROW that was met last: the next one of its list is as it is.
type rowSeen struct {
	at       int
	inValues bool
}

// row leaves the word out of ROW(1, 2) = ROW(3, 4). In VALUES ROW(…) the grammar wants it.
func row(s *statement, i int) {
	if !s.is(i+1, "(") {
		return
	}
	s.row = rowSeen{i, s.inValues(i)}
	if !s.row.inValues {
		s.drop(i, i)
	}
}

// inValues tells whether the ROW at i stands in a list of VALUES, as at the start of a text.
func (s *statement) inValues(i int) bool {
	for k := i - 1; k >= 0 && s.step(); k-- {
		switch {
		case s.is(k, "VALUES"):
			return true
		case k == s.row.at && k > 0:
			return s.row.inValues
		case s.is(k, ")"):
			for depth := 1; depth > 0 && k > 0 && s.step(); {
				k--
				switch {
				case s.is(k, ")"):
					depth++
				case s.is(k, "("):
					depth--
				}
			}
		case !s.is(k, ",", "ROW"):
			return false
		}
	}
	return true
}

// not gives NOT the precedence of ! where the session's mode says so.
func not(s *statement, i int) {
	if !s.mode.HighNotPrecedence || s.is(i+1, "NULL", "EXISTS") || s.is(0, "CREATE", "ALTER") || i > 0 && s.operand(i-1) {
		return
	}
	s.replace(i, i, "!")
}

// operand reports whether an expression may end with a token, so that a NOT after it belongs to NOT
// IN, NOT LIKE or IS NOT.
func (s *statement) operand(i int) bool {
	switch t := &s.tokens[i]; t.kind {
	case mark:
		return s.is(i, ")", "?")
	case word:
		w := t.upper(s.src)
		return w == "IS" || w == "END" || !closing[w] && !operators[w] && w != "SELECT" && w != "CASE" && w != "WHERE"
	}
	return true
}

// with marks the keys of GROUP BY … WITH ROLLUP for the tree's part of the work, and leaves out the
// snapshot of START TRANSACTION: a transaction always reads one.
func with(s *statement, i int) {
	switch {
	case i > 0 && s.is(i+1, "ROLLUP"):
		s.replace(i, i+1, ", "+sqltext.Name(RollupMark)+"()")
	case s.are(0, "START", "TRANSACTION") && s.are(i, "WITH", "CONSISTENT", "SNAPSHOT"):
		switch {
		case s.is(i+3, ","):
			s.drop(i, i+3)
		case s.is(i-1, ","):
			s.drop(i-1, i+2)
		default:
			s.drop(i, i+2)
		}
	}
}

// RollupMark is the name of the call that stands behind the keys of GROUP BY … WITH ROLLUP.
const RollupMark = "with rollup"

// unit quotes a unit of INTERVAL that the grammar takes for another word: INTERVAL '1:30'
// MINUTE_SECOND.
func unit(s *statement, i int) {
	if i > 1 && !s.is(i-1, "(", ",", "SCHEDULE", "EVERY") && s.operand(i-1) && !s.is(i+1, "PRECEDING", "FOLLOWING", "FROM") {
		s.replace(i, i, sqltext.Name(s.text(i)))
	}
}

// interval quotes the name of the function INTERVAL(n, a, b), which the grammar does not tell from
// INTERVAL (n) DAY.
func interval(s *statement, i int) {
	if !s.is(i+1, "(") {
		return
	}
	depth := 0
	for k := i + 1; k < len(s.tokens); k++ {
		switch {
		case s.is(k, "("):
			depth++
		case s.is(k, ")"):
			if depth--; depth == 0 {
				return
			}
		case s.is(k, ",") && depth == 1:
			s.replace(i, i, sqltext.Name("interval"))
			return
		}
	}
}

// extract writes EXTRACT(WEEK FROM d) as WEEK(d), which counts as the session says.
func extract(s *statement, i int) {
	if s.are(i+1, "(", "WEEK", "FROM") {
		s.replace(i, i+3, "WEEK(")
	}
}

// quantifier writes = ANY (SELECT …) as IN and <> ALL (SELECT …) as NOT IN. Other comparisons with
// all rows of a subquery are refused.
func quantifier(s *statement, i int) {
	if !s.is(i+1, "(") || !s.is(i+2, "SELECT", "WITH", "VALUES", "TABLE") || i == 0 {
		return
	}
	all := s.is(i, "ALL")
	switch {
	case s.is(i-1, "=") && !all:
		s.replace(i-1, i, "IN")
	case s.is(i-1, "<>", "!=") && all:
		s.replace(i-1, i, "NOT IN")
	case s.is(i-1, "=", "<", ">", "<=", ">=", "<>", "!="):
		s.refuse("A comparison with ANY or ALL rows of a subquery is not supported.", "Compare with SELECT MIN(x) or SELECT MAX(x) of it.")
	}
}

// groupConcat calls WholeFunction on GROUP_CONCAT, which go-mysql-server ends after so many bytes.
func groupConcat(s *statement, i int) {
	if !s.is(i+1, "(") || s.tokens[i].end != s.tokens[i+1].start {
		return
	}
	last := s.close(i + 1)
	if last == len(s.tokens) || s.is(last+1, "OVER") {
		return
	}
	s.replace(i, i, sqltext.Name(WholeFunction)+"(GROUP_CONCAT")
	s.before(last+1, ")")
}

func init() {
	for _, name := range []string{"MEDIAN", "PERCENTILE_CONT", "PERCENTILE_DISC"} {
		words[name] = ordered
	}
}

// ordered takes WITHIN GROUP (…) and OVER (…) away from a quantile of other servers, F(…): the
// grammar has neither there, and the binder refuses the function by its name.
func ordered(s *statement, i int) {
	if !s.is(i+1, "(") {
		return
	}
	last := s.close(i + 1)
	if s.are(last+1, "WITHIN", "GROUP", "(") {
		end := s.close(last + 3)
		if s.ends(end) {
			return
		}
		s.drop(last+1, end)
		last = end
	}
	if s.are(last+1, "OVER", "(") {
		if end := s.close(last + 2); !s.ends(end) {
			s.drop(last+1, end)
		}
	}
}
